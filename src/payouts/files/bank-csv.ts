import { type Columns, Decimal, csvText } from '../../kit/csv.ts'
import type { Destination } from '../destination.ts'
import type { Payment } from './payment.ts'

const of =
  <Field extends string>(field: Field) =>
  ({ destination }: Payment): string =>
    String((destination as Destination & Partial<Record<Field, string>>)[field] ?? '')

const COLUMNS: Columns<Payment> = {
  reference: ({ reference }) => reference,
  amount: ({ amountMinor, currency }) => new Decimal(amountMinor, currency),
  currency: ({ currency }) => currency,
  name: of('name'),
  country: of('country'),
  kind: of('kind'),
  iban: of('iban'),
  bic: of('bic'),
  upiId: of('upiId'),
  ifsc: of('ifsc'),
  accountNumber: of('accountNumber'),
  details: ({ destination }) => (destination.kind === 'other' ? destination.lines.join(' | ') : ''),
}

/** Payments as CSV (RFC 4180), whole, because the bank needs every digit. The same input gives the same bytes. */
export const bankCsv = (payments: readonly Payment[]): Promise<string> => csvText(COLUMNS, payments)
