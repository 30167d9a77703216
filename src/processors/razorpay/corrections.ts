import type { RouteProduct } from './entities.ts'
import { wordsFor } from './requirements.ts'

// The activation of its product decides which details of a linked account Razorpay lets us change
// (https://razorpay.com/docs/api/partners/account-onboarding/update, https://razorpay.com/docs/api/partners/errors).

/** Razorpay locks the whole account in these. */
const LOCKS: Readonly<Record<string, string>> = {
  under_review: 'Razorpay is checking what you told it, and takes no change until it has answered',
  activated: 'Razorpay takes no change of an active account from here. Please ask the operator of this service',
}
/** The reasons of details that were never given. With one of these Razorpay takes all details, in a correction only the named ones. */
const NEVER_GIVEN: ReadonlySet<string> = new Set(['field_missing', 'document_missing'])

/** The paths of the details that may be sent, for each object. `bank` is all or nothing: its three fields belong together. */
export interface Asked {
  account: readonly string[]
  person: readonly string[]
  bank: boolean
}

/** The details that Razorpay wants corrected. Undefined: it takes all of them. */
export function askedFor({ activation_status: activation, requirements }: RouteProduct): Asked | undefined {
  const wanted = requirements ?? []
  const isCorrection = wanted.some(({ reason_code: reason }) => !NEVER_GIVEN.has(String(reason)))
  if (activation !== 'needs_clarification' || !isCorrection) return undefined
  const isOfPerson = (one: (typeof wanted)[number]) =>
    one.field_reference.startsWith('kyc.') || String(one.resolution_url).includes('/stakeholders')
  const paths = (those: typeof wanted) => those.map((one) => one.field_reference)
  const isBank = (path: string) => path.startsWith('settlements.')
  return {
    account: paths(wanted.filter((one) => !isOfPerson(one))).filter((path) => !isBank(path)),
    person: paths(wanted.filter(isOfPerson)),
    bank: paths(wanted).some(isBank),
  }
}

/** Why Razorpay takes none of these details now, in a sentence for the seller. Undefined: it takes some. */
export function lockedWhy(product: RouteProduct, account: object, person: object): string | undefined {
  const { activation_status: activation, requirements } = product
  if (LOCKS[activation]) return LOCKS[activation]
  const asked = askedFor(product)
  if (!asked || asked.bank || !isEmpty(only(account, asked.account)) || !isEmpty(only(person, asked.person)))
    return undefined
  const words = wordsFor(
    (requirements ?? []).map((one) => one.field_reference),
    activation,
  )
  return `Razorpay asks for something that cannot be sent from here. Please ask the operator of this service. ${words.join('. ')}`
}

export const isEmpty = (body: object): boolean => Object.keys(body).length === 0

/** The parts of a body at these paths, such as `legal_info.pan`. */
export function only(body: object, paths: readonly string[], above = ''): object {
  const kept = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const path = above + name
    if (paths.some((one) => one === path)) return [[name, value]]
    const part = typeof value === 'object' && value !== null ? only(value, paths, `${path}.`) : {}
    return isEmpty(part) ? [] : [[name, part]]
  })
  return Object.fromEntries(kept)
}
