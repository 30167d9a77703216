import { sql } from 'kysely'
import { Type } from 'typebox'
import { Amount, Currency, Time } from '../kit/schema.ts'
import { newSigner } from '../kit/signing.ts'

// The invoices of an order, as its page, the library and its mails show them. The slice `invoices` writes them.

/** The PDF of an invoice, for everybody who has the address. It works as long as one of the service's secrets does. */
export type InvoiceUrl = (invoiceId: string) => string

export const invoiceSigner = (secrets: readonly string[]) => newSigner(secrets, 'invoice')

export const listedFields = {
  invoiceId: Type.String(),
  number: Type.String(),
  kind: Type.Enum(['invoice', 'credit_note', 'correction'], {
    description: '`correction`: takes the place of the invoice, with what the buyer has added.',
  }),
  amount: Amount,
  currency: Currency,
  issuedAt: Time,
  url: Type.String({ description: 'The PDF. Whoever has this address can read it.' }),
}
export const ListedInvoice = Type.Object(listedFields)
export type ListedInvoice = Type.Static<typeof ListedInvoice>

export interface OrderInvoice {
  id: string
  number: string
  kind: ListedInvoice['kind']
  /** The entry in the books for which it was issued. */
  cause: string
  amountMinor: number
  currency: string
  issuedAt: string
}

/** The invoices of an order `o`, in the order in which they were issued. Null: it has none. */
export const invoicesOfOrder = sql<OrderInvoice[] | null>`
  case when o.paid_at is not null and o.amount_minor > 0 then (
    select json_agg(json_build_object('id', i.id, 'number', i.number, 'kind', i.kind, 'cause', i.cause,
      'amountMinor', i.amount_minor, 'currency', i.currency, 'issuedAt', i.issued_at) order by i.id)
    from invoices i where i.order_id = o.id) end`

/** The field of an answer. Absent where there are no invoices. */
export const invoiceLinks = (
  invoices: readonly OrderInvoice[] | null,
  invoiceUrl: InvoiceUrl,
): { invoices?: ListedInvoice[] } =>
  invoices === null
    ? {}
    : {
        invoices: invoices.map(({ id, number, kind, amountMinor, currency, issuedAt }) => ({
          invoiceId: id,
          number,
          kind,
          amount: amountMinor,
          currency,
          issuedAt: new Date(issuedAt).toISOString(),
          url: invoiceUrl(id),
        })),
      }

/** A buyer can add a company, an address and a tax id for this long after the payment. */
export const DETAILS_DAYS = 30

export const detailsUntil = (paidAt: Date): Date => new Date(paidAt.getTime() + DETAILS_DAYS * 86_400_000)

const SIGNS: Record<OrderInvoice['kind'], number> = { invoice: 1, credit_note: -1, correction: 0 }

/** The sum of an order's invoices less its credit notes, in minor units. A corrected invoice has the place of another. */
export const netOf = (documents: readonly Pick<OrderInvoice, 'kind' | 'amountMinor'>[]): number =>
  documents.reduce((net, { kind, amountMinor }) => net + SIGNS[kind] * amountMinor, 0)
