import type { DetailsInput, PayoutDetails } from '../payouts-api.ts'

/** The fields of the form, as they are typed. */
export interface TypedDetails {
  currency: string
  kind: PayoutDetails['kind']
  name: string
  iban: string
  bic: string
  upiId: string
  ifsc: string
  accountNumber: string
  country: string
  lines: string
}

export type DetailsField = Exclude<keyof TypedDetails, 'currency' | 'kind'>
export type DetailsFaults = Partial<Record<DetailsField, string>>

export const KIND_NAMES: Record<PayoutDetails['kind'], string> = {
  iban: 'Account with an IBAN',
  upi: 'UPI id',
  india_account: 'Indian bank account',
  other: 'Another account',
}

/** Where money in a currency can go. The usual way comes first. */
export const kindsFor = (currency: string): PayoutDetails['kind'][] =>
  currency === 'INR' ? ['upi', 'india_account', 'other'] : ['iban', 'other']

export const noDetails = (currency: string): TypedDetails => ({
  currency,
  kind: kindsFor(currency)[0]!,
  name: '',
  iban: '',
  bic: '',
  upiId: '',
  ifsc: '',
  accountNumber: '',
  country: '',
  lines: '',
})

const plain = (text: string): string => text.replaceAll(/[\s-]/g, '')
const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter(Boolean) // oxfmt-ignore

/** Finds the missing fields. The service decides whether a number is right. */
export function detailsFaults(typed: TypedDetails): DetailsFaults {
  const needed: Record<PayoutDetails['kind'], [DetailsField, string][]> = {
    iban: [['iban', 'Please enter the IBAN.']],
    upi: [['upiId', 'Please enter the UPI id.']],
    india_account: [
      ['ifsc', 'Please enter the IFSC of the branch.'],
      ['accountNumber', 'Please enter the account number.'],
    ],
    other: [
      ['country', 'Please choose the country of the account.'],
      ['lines', 'Please enter what a bank needs to pay you.'],
    ],
  }
  const faults: DetailsFaults = {}
  for (const [field, fault] of [['name', 'Please enter the account holder.'] as const, ...needed[typed.kind]])
    if (!typed[field].trim()) faults[field] = fault
  return faults
}

export function detailsInput(typed: TypedDetails): DetailsInput {
  const { kind, iban, bic, upiId, ifsc, accountNumber, country, lines } = typed
  const name = typed.name.trim()
  switch (kind) {
    case 'iban':
      // Without spaces, because an IBAN in groups of four digits can look like the number of a card.
      return { kind, name, iban: plain(iban), ...(bic.trim() && { bic: plain(bic) }) }
    case 'upi':
      return { kind, name, upiId: upiId.trim() }
    case 'india_account':
      return { kind, name, account: plain(ifsc) + plain(accountNumber) }
    case 'other':
      return { kind, name, country, lines: linesOf(lines) }
  }
}

/** The field that a refusal of the service is about. */
export const FIELD_OF: Record<string, DetailsField> = {
  iban_invalid: 'iban',
  bic_invalid: 'bic',
  upi_invalid: 'upiId',
  ifsc_invalid: 'ifsc',
  account_number_invalid: 'accountNumber',
}
