import type { Reading } from '../../words/mail-language.ts'
import type { InvoiceUrl } from '../invoice-links.ts'
import type { BuyerMail, MailOrder } from './mail-data.ts'

/** The document that a mail is about: the invoice with a receipt, the newest credit note where money went back. */
export function papersOf(
  kind: BuyerMail,
  { invoices }: Pick<MailOrder, 'invoices'>,
  { words }: Reading,
  invoiceUrl: InvoiceUrl,
): { label: string; url: string }[] {
  const isAbout = (paper: string) =>
    kind === 'receipt'
      ? paper !== 'credit_note'
      : (kind === 'refunded' || kind === 'dispute_lost') && paper === 'credit_note'
  const paper = invoices?.findLast((one) => isAbout(one.kind))
  if (!paper) return []
  const { invoice, creditNote, correction } = words.invoice
  const name = { invoice, credit_note: creditNote, correction }[paper.kind]
  return [{ label: `${name} ${paper.number} (PDF)`, url: invoiceUrl(paper.id) }]
}
