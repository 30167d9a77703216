import type { AccountInput } from './payouts-api.ts'

export type Field = Exclude<keyof AccountInput, 'account' | 'acceptsTerms'>
export type TypedAccount = Record<Field, string>

export const BUSINESS_TYPES: [AccountInput['businessType'], string][] = [
  ['individual', 'I sell as a person'],
  ['proprietorship', 'Proprietorship'],
  ['partnership', 'Partnership'],
  ['llp', 'LLP'],
  ['private_limited', 'Private limited company'],
  ['public_limited', 'Public limited company'],
  ['trust', 'Trust'],
  ['society', 'Society'],
  ['ngo', 'NGO'],
]
export const SELLS: [AccountInput['sells'], string][] = [
  ['texts', 'Books, texts, pictures, music'],
  ['courses', 'Courses'],
  ['software', 'Software'],
  ['games', 'Games'],
]

export const NO_ACCOUNT: TypedAccount = {
  legalName: '',
  businessType: 'individual',
  sells: 'texts',
  contactName: '',
  phone: '',
  street1: '',
  street2: '',
  city: '',
  state: '',
  postalCode: '',
  pan: '',
  businessPan: '',
  gst: '',
  accountNumber: '',
  ifsc: '',
  beneficiaryName: '',
}

/** The pattern of each field, once it is brought into its form, and the text when it does not match. */
const FORMS: Partial<Record<Field, [form: RegExp, fault: string]>> = {
  legalName: [/^.{4,200}$/, 'Enter the whole name: at least four letters.'],
  contactName: [/^[\p{L} .']{4,255}$/u, 'Enter the whole name, in letters and spaces.'],
  phone: [/^\+?\d{8,15}$/, 'Enter the phone number in digits.'],
  street1: [/./, 'Enter the street and the number.'],
  street2: [/./, 'Enter the area, or what is near.'],
  city: [/./, 'Enter the city.'],
  state: [/^.{2,32}$/, 'Enter the state.'],
  postalCode: [/^[1-9]\d{5}$/, 'A PIN code has six digits.'],
  pan: [/^[A-Z]{3}P[A-Z]\d{4}[A-Z]$/, 'The PAN of a person looks like ABCPE1234F.'],
  businessPan: [/^(?:[A-Z]{3}[ABCFGHJLT][A-Z]\d{4}[A-Z])?$/, 'The PAN of a business looks like AAACL1234C. Leave it empty if there is none.'], // oxfmt-ignore
  gst: [/^(?:\d{2}[A-Z]{5}\d{4}[A-Z][0-9A-Z]{3})?$/, 'A GST number looks like 18AABCU9603R1ZM. Leave it empty if there is none.'], // oxfmt-ignore
  accountNumber: [/^[0-9A-Z]{5,35}$/, 'Enter the number of the bank account.'],
  ifsc: [/^[A-Z]{4}0[A-Z0-9]{6}$/, 'An IFSC looks like HDFC0000317.'],
  beneficiaryName: [/^.{3,120}$/, 'Enter the holder as the bank has it on file.'],
}
const CODES: ReadonlySet<Field> = new Set(['phone', 'postalCode', 'pan', 'businessPan', 'gst', 'accountNumber', 'ifsc'])

/** Codes are typed with spaces, hyphens and small letters. */
const formed = (field: Field, value: string): string =>
  CODES.has(field) ? value.replace(/[\s-]/g, '').toUpperCase() : value.trim()

const OF_A_BUSINESS: ReadonlySet<Field> = new Set(['businessPan', 'gst'])

/** The faults, by field. The form of a person does not show the fields of a business, and they are not sent. */
export function accountFaults(values: TypedAccount): Partial<TypedAccount> {
  const isPerson = values.businessType === 'individual'
  const wrong = (Object.entries(FORMS) as [Field, [RegExp, string]][]).filter(
    ([name, [form]]) => !form.test(values[name]) && !(isPerson && OF_A_BUSINESS.has(name)),
  )
  return Object.fromEntries(wrong.map(([name, [, fault]]) => [name, fault]))
}

/** The body to send: no empty tax number of a business, and for a person none at all. */
export function accountInput({ businessPan, gst, ifsc, accountNumber, ...values }: TypedAccount): AccountInput {
  const isBusiness = values.businessType !== 'individual'
  return {
    ...values,
    businessType: values.businessType as AccountInput['businessType'],
    sells: values.sells as AccountInput['sells'],
    ...(isBusiness && businessPan && { businessPan }),
    ...(isBusiness && gst && { gst }),
    // in one, because the number alone can look like the number of a card
    account: ifsc + accountNumber,
    acceptsTerms: true,
  }
}

/** Everything brought into the form in which it is sent. */
export const formedAccount = (typed: TypedAccount): TypedAccount =>
  Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, formed(name as Field, value)])) as TypedAccount
