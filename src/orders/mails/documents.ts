import type { Reading } from '../../words/mail-language.ts'
import type { InvoiceUrl } from '../invoice-links.ts'
import type { MailData, MailOrder } from './mail-data.ts'

/**
 * The document that a mail links. With a receipt: the invoice, or its correction. With money that went back: the credit note of exactly
 * this money, because others can exist by the time of the mail.
 */
export function documentsOf(
  { kind, cause }: Pick<MailData, 'kind' | 'cause'>,
  { invoices }: Pick<MailOrder, 'invoices'>,
  { words }: Reading,
  invoiceUrl: InvoiceUrl,
): { label: string; url: string }[] {
  const last = (wanted: string, of?: string) =>
    invoices?.findLast((one) => one.kind === wanted && (of === undefined || one.cause === of))
  // the first invoice is the sale's: a later one is about a refund that did not arrive
  const document =
    kind === 'receipt'
      ? (last('correction') ?? invoices?.find((one) => one.kind === 'invoice'))
      : kind === 'refunded' || kind === 'dispute_lost'
        ? last('credit_note', cause)
        : undefined
  if (!document) return []
  const { invoice, creditNote, correction } = words.invoice
  const name = { invoice, credit_note: creditNote, correction }[document.kind]
  return [{ label: `${name} ${document.number} (PDF)`, url: invoiceUrl(document.id) }]
}
