import { holdsCardNumber } from '../kit/card-numbers.ts'
import { isCountry } from '../kit/country.ts'
import { type FieldProblem, Refusal } from '../kit/errors.ts'
import type { TextSeal } from '../kit/sealed-text.ts'

/** Where money goes, as the bank needs it. It is stored only sealed. */
export type Destination =
  | { kind: 'iban'; name: string; country: string; iban: string; bic?: string }
  | { kind: 'upi'; name: string; country: 'IN'; upiId: string }
  | { kind: 'india_account'; name: string; country: 'IN'; ifsc: string; accountNumber: string }
  | { kind: 'other'; name: string; country: string; lines: string[] }

export const DESTINATION_KINDS = ['iban', 'upi', 'india_account', 'other'] as const

/** Payout details as a seller types them. The kind decides which fields there must be. */
export interface TypedDestination {
  kind: Destination['kind']
  name: string
  country?: string | undefined
  iban?: string | undefined
  bic?: string | undefined
  upiId?: string | undefined
  account?: string | undefined
  lines?: string[] | undefined
}

/** The fields of each kind: those that must be there, and those that can be. */
const FIELDS = {
  iban: { needed: ['iban'], optional: ['bic'] },
  upi: { needed: ['upiId'], optional: [] },
  india_account: { needed: ['account'], optional: [] },
  other: { needed: ['country', 'lines'], optional: [] },
} as const satisfies Record<Destination['kind'], { needed: (keyof TypedDestination)[]; optional: (keyof TypedDestination)[] }> // oxfmt-ignore

/** NPCI, UPI Linking Specifications: the name, `@`, and the handle of a bank or an app. */
const UPI_ID = /^[a-z0-9._-]{2,256}@[a-z]{2,64}$/
/** RBI: four letters of the bank, a zero, six characters of the branch. */
const IFSC = /^[A-Z]{4}0[A-Z0-9]{6}$/

/** A form of account numbers, and what the seller reads of it. */
export interface NumberForm {
  form: RegExp
  says: string
  /** The other way for a seller whose account number looks like a card's. */
  otherwise: string
}
/** RBI: account numbers have 9 to 18 digits. */
const INDIAN_NUMBER: NumberForm = {
  form: /^\d{9,18}$/,
  says: '9 to 18 digits',
  otherwise: 'Give the number of your account, or your UPI id.',
}

const IFSC_LENGTH = 11

/**
 * The destination in the form in which it is sealed. Refuses `validation_failed` with every wrong field, `iban_invalid`, `bic_invalid`,
 * `upi_invalid`, `ifsc_invalid`, `account_number_invalid`, `kind_not_for_currency`.
 */
export async function checkedDestination(currency: string, typed: TypedDestination): Promise<Destination> {
  refuseWrongFields(typed)
  const { kind } = typed
  const name = oneLine(typed.name)
  if ((kind === 'upi' || kind === 'india_account') !== (currency === 'INR') && kind !== 'other')
    throw new Refusal(
      'kind_not_for_currency',
      currency === 'INR'
        ? 'Rupees go to a UPI id or to an Indian account.'
        : 'Only rupees go to a UPI id or to an Indian account.',
    )
  if (kind === 'iban') return { kind, name, ...(await checkedIban(currency, typed.iban!, typed.bic)) }
  if (kind === 'upi') return { kind, name, country: 'IN', upiId: checkedUpiId(typed.upiId!) }
  if (kind === 'india_account') return { kind, name, country: 'IN', ...checkedIndianAccount(typed.account!) }
  return { kind, name, country: typed.country!.toUpperCase(), lines: typed.lines!.map(oneLine) }
}

/** Enough for the owner to recognise the destination, and not enough to pay or to write to it. */
export function shownOf(destination: Destination): string {
  switch (destination.kind) {
    case 'iban':
      return `${destination.country} … ${destination.iban.slice(-4)}`
    case 'upi':
      return destination.upiId.replace(/^(.)[^@]*/, '$1…')
    case 'india_account':
      return `${destination.ifsc.slice(0, 4)} … ${destination.accountNumber.slice(-4)}`
    case 'other': {
      // the last number is most often the account, after the codes of the bank
      const words = destination.lines.flatMap((line) => line.match(/[\dA-Za-z]+/g) ?? [])
      const number = words.findLast((word) => word.length >= 6 && /\d/.test(word))
      if (number === undefined) return `Bank in ${destination.country}`
      return `${destination.country} … ${number.slice(number.length < 8 ? -2 : -4)}`
    }
  }
}

export const sealDestination = (seal: TextSeal, destination: Destination): Buffer =>
  seal.seal(JSON.stringify(destination))

/** Returns undefined when none of the service's secrets opens it. */
export function openDestination(seal: TextSeal, sealed: Buffer): Destination | undefined {
  const opened = seal.open(sealed)
  return opened && (JSON.parse(opened.text) as Destination)
}

function refuseWrongFields(typed: TypedDestination): void {
  const { needed, optional } = FIELDS[typed.kind] as { needed: readonly string[]; optional: readonly string[] }
  const problems: FieldProblem[] = []
  for (const path of ['country', 'iban', 'bic', 'upiId', 'account', 'lines'] as const) {
    const isThere = typed[path] !== undefined
    if (needed.includes(path) && !isThere) problems.push({ path, message: `is needed with the kind ${typed.kind}` })
    if (isThere && !needed.includes(path) && !optional.includes(path))
      problems.push({ path, message: `does not belong to the kind ${typed.kind}` })
  }
  if (typed.country !== undefined && !isCountry(typed.country.toUpperCase()))
    problems.push({ path: 'country', message: 'must be a country of ISO 3166 in two letters, such as US' })
  if (problems.length > 0)
    throw new Refusal('validation_failed', 'The payout details do not fit together.', { fields: problems })
}

async function checkedIban(currency: string, typedIban: string, typedBic: string | undefined) {
  const { electronicFormatIBAN, isSEPACountry, isValidBIC, isValidIBAN } = await import('ibantools')
  const iban = electronicFormatIBAN(typedIban) ?? ''
  if (!isValidIBAN(iban))
    throw new Refusal('iban_invalid', 'This IBAN has a typing error: its check digits do not match. Copy it again from your bank.') // oxfmt-ignore
  const country = iban.slice(0, 2)
  if (currency === 'EUR' && !isSEPACountry(country))
    throw new Refusal('iban_invalid', 'This IBAN is of a country outside SEPA. Choose the kind `other` and give the lines that your bank names for transfers in euros.') // oxfmt-ignore
  const bic = typedBic?.replaceAll(/\s/g, '').toUpperCase()
  if (bic !== undefined && !isValidBIC(bic))
    throw new Refusal('bic_invalid', 'A BIC has 8 or 11 letters and digits, such as COBADEFF.')
  return { country, iban, ...(bic !== undefined && { bic }) }
}

function checkedUpiId(typed: string): string {
  const upiId = typed.trim().toLowerCase()
  if (!UPI_ID.test(upiId)) throw new Refusal('upi_invalid', 'A UPI id looks like ann.shop@okbank.')
  return upiId
}

export interface IndianAccount {
  ifsc: string
  accountNumber: string
}

/**
 * Splits the IFSC and the number that were given in one. Refuses `ifsc_invalid`, `account_number_invalid`, and `card_number_refused` with
 * the path `account`.
 */
export function checkedIndianAccount(
  typed: string,
  { form, says, otherwise }: NumberForm = INDIAN_NUMBER,
): IndianAccount {
  const account = typed.replaceAll(/[\s-]/g, '').toUpperCase()
  const [ifsc, accountNumber] = [account.slice(0, IFSC_LENGTH), account.slice(IFSC_LENGTH)]
  if (!IFSC.test(ifsc))
    throw new Refusal('ifsc_invalid', 'Begin with the IFSC of the branch: four letters, a zero and six letters or digits, such as HDFC0001234.') // oxfmt-ignore
  if (!form.test(accountNumber))
    throw new Refusal('account_number_invalid', `After the IFSC comes the account number: ${says}.`)
  // Cards in India have 16 digits, and so have few accounts. Of another length, every tenth account number would be refused.
  if (accountNumber.length === 16 && holdsCardNumber(accountNumber))
    throw new Refusal('card_number_refused', `This looks like the number of a card. ${otherwise}`, { fields: [{ path: 'account', message: 'looks like the number of a card' }] }) // oxfmt-ignore
  return { ifsc, accountNumber }
}

const oneLine = (text: string): string => text.toWellFormed().replaceAll(/\s+/g, ' ').trim()
