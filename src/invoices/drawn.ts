import { Refusal } from '../kit/errors.ts'
import type { Invoice } from './document.ts'
import { xmlAttachment } from './xml.ts'
import { invoicePdf } from './pdf.ts'

/** More would wait longer than a browser does. */
const MOST_WAITING = 30
const MOST_OF_ONE_ORDER = 4
const RETRY_AFTER_SECONDS = 5

/**
 * Draws one document at a time, because drawing keeps the processor busy. When too many wait, or several of one order, further ones get
 * `invoices_busy`.
 */
export function drawn(): (invoice: Invoice) => Promise<Buffer> {
  const waiting: string[] = []
  let last: Promise<unknown> = Promise.resolve()
  return async (invoice) => {
    const ofOrder = waiting.filter((orderId) => orderId === invoice.orderId).length
    if (waiting.length >= MOST_WAITING || ofOrder >= MOST_OF_ONE_ORDER)
      throw new Refusal('invoices_busy', 'Many invoices are being drawn. Please try again in a moment.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    waiting.push(invoice.orderId)
    const turn = last.then(() => invoicePdf(invoice, xmlAttachment(invoice)))
    last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      waiting.splice(waiting.indexOf(invoice.orderId), 1)
    }
  }
}
