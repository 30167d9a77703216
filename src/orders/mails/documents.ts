import type { Reading } from '../../words/mail-language.ts'
import type { InvoiceUrl } from '../invoice-links.ts'
import type { BuyerMail, MailOrder } from './mail-data.ts'

/** The document that a mail is about: the invoice with a receipt, the newest credit note where money went back. */
export function documentsOf(
  kind: BuyerMail,
  { invoices }: Pick<MailOrder, 'invoices'>,
  { words }: Reading,
  invoiceUrl: InvoiceUrl,
): { label: string; url: string }[] {
  const isAbout = (itsKind: string) =>
    kind === 'receipt'
      ? itsKind !== 'credit_note'
      : (kind === 'refunded' || kind === 'dispute_lost') && itsKind === 'credit_note'
  const document = invoices?.findLast((one) => isAbout(one.kind))
  if (!document) return []
  const { invoice, creditNote, correction } = words.invoice
  const name = { invoice, credit_note: creditNote, correction }[document.kind]
  return [{ label: `${name} ${document.number} (PDF)`, url: invoiceUrl(document.id) }]
}
