import type { Log } from '../kit/log.ts'
import { checkTaxId, viesCountry } from './check.ts'

/**
 * A number's state in the EU's register (VIES). `unavailable`: it did not answer, or not about this number; that is no statement about the
 * number. `unchecked`: VIES was not asked, because it is switched off or does not know the country.
 */
export type RegisterState = 'valid' | 'invalid' | 'unavailable' | 'unchecked'

export interface RegisterAnswer {
  state: RegisterState
  /** The consultation number: proof for the authorities that this seller asked. Only with the seller's own number. */
  consultation?: string
}

/** The seller in whose name VIES is asked, with the own VAT number. */
export interface Requester {
  sellerId: string
  country: string
  taxId: string
}

export type AskRegister = (asked: { country: string; taxId: string }, seller?: Requester) => Promise<RegisterAnswer>

const PATIENCE_MS = 8_000
const MOST_BYTES = 64 * 1024
/** VIES shuts out an address that asks much at once, and strangers can make a service ask from many networks. */
const MOST_AT_ONCE = 10

/**
 * Asks VIES by its REST interface (`POST check-vat-number`), whose address is `url`. Member states are often away, and VIES then answers
 * 200 with an error, or `valid: false` beside an error: only a plain yes is `valid`, and only a plain no is `invalid`. Of very
 * many questions at once the rest is `unavailable` without asking. A seller's own number that VIES does not know must not keep VIES from
 * answering about the buyer's: it is asked again without the seller's, and gives no consultation number then.
 */
export function registerAsker(
  url: string | undefined,
  { fetchIt = fetch, log }: { fetchIt?: typeof fetch; log?: Pick<Log, 'warn'> } = {},
): AskRegister {
  let asking = 0
  return async ({ country, taxId }, seller) => {
    const asked = forVies(country, taxId)
    if (!url || !asked) return { state: 'unchecked' }
    if (asking >= MOST_AT_ONCE) return { state: 'unavailable' }
    const from = seller && forVies(seller.country, seller.taxId)
    const requester = from && { requesterMemberStateCode: from.countryCode, requesterNumber: from.vatNumber }
    // for both questions together, because a buyer waits
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const askVies = async (more: typeof requester): Promise<unknown> => {
      const response = await fetchIt(`${url.replace(/\/$/, '')}/check-vat-number`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ ...asked, ...more }),
        redirect: 'error',
        signal,
      })
      const text = await response.text()
      return response.ok && text.length <= MOST_BYTES ? JSON.parse(text) : undefined
    }
    asking++
    try {
      const answer = await askVies(requester)
      if (!requester || !refusesRequester(answer)) return answerOf(answer, asked)
      log?.warn(
        { sellerId: seller.sellerId },
        'VIES does not know the VAT number of the seller, and is asked without it',
      )
      return answerOf(await askVies(undefined), asked)
    } catch {
      return { state: 'unavailable' }
    } finally {
      asking--
    }
  }
}

/** An id as VIES wants it: the two letters apart from the number. */
function forVies(country: string, taxId: string): { countryCode: string; vatNumber: string } | undefined {
  const countryCode = viesCountry(country)
  const checked = countryCode ? checkTaxId(country, taxId) : undefined
  if (!countryCode || !checked?.ok) return undefined
  return { countryCode, vatNumber: checked.normalized.slice(countryCode.length) }
}

function refusesRequester(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { userError, errorWrappers } = body as Record<string, unknown>
  const errors: unknown[] = Array.isArray(errorWrappers) ? errorWrappers.map((one) => one?.error) : []
  return [userError, ...errors].includes('INVALID_REQUESTER_INFO')
}

function answerOf(body: unknown, asked: { countryCode: string; vatNumber: string }): RegisterAnswer {
  if (typeof body !== 'object' || body === null) return { state: 'unavailable' }
  const { valid, userError, errorWrappers, actionSucceed, countryCode, vatNumber, requestIdentifier } = body as Record<
    string,
    unknown
  >
  const hasError = errorWrappers !== undefined || actionSucceed === false
  const isOther = countryCode !== asked.countryCode || vatNumber !== asked.vatNumber
  if (hasError || isOther) return { state: 'unavailable' }
  const consultation =
    typeof requestIdentifier === 'string' && /^[\w-]{1,64}$/.test(requestIdentifier)
      ? { consultation: requestIdentifier }
      : {}
  if (valid === true && (userError === undefined || userError === 'VALID')) return { state: 'valid', ...consultation }
  if (valid === false && (userError === undefined || userError === 'INVALID'))
    return { state: 'invalid', ...consultation }
  return { state: 'unavailable' }
}
