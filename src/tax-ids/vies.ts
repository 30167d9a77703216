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

export type AskRegister = (
  asked: { country: string; taxId: string },
  seller?: { country: string; taxId: string },
) => Promise<RegisterAnswer>

const PATIENCE_MS = 8_000
const MOST_BYTES = 64 * 1024
/** VIES shuts out an address that asks much at once, and strangers can make a service ask from many networks. */
const MOST_AT_ONCE = 10

/**
 * Asks VIES by its REST interface (`POST check-vat-number`), whose address is `url`. Member states are often away, and VIES then answers
 * 200 with an error, or `valid: false` beside an error: only a plain yes is `valid`, and only a plain no is `invalid`. Of very
 * many questions at once the rest is `unavailable` without asking.
 */
export function registerAsker(url: string | undefined, fetchIt: typeof fetch = fetch): AskRegister {
  let asking = 0
  return async ({ country, taxId }, seller) => {
    const asked = forVies(country, taxId)
    if (!url || !asked) return { state: 'unchecked' }
    if (asking >= MOST_AT_ONCE) return { state: 'unavailable' }
    const from = seller && forVies(seller.country, seller.taxId)
    const body = {
      ...asked,
      ...(from && { requesterMemberStateCode: from.countryCode, requesterNumber: from.vatNumber }),
    }
    asking++
    try {
      const response = await fetchIt(`${url.replace(/\/$/, '')}/check-vat-number`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      const text = await response.text()
      if (!response.ok || text.length > MOST_BYTES) return { state: 'unavailable' }
      return answerOf(JSON.parse(text), asked)
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
