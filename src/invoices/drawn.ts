import { Refusal } from '../kit/errors.ts'
import type { Invoice } from './document.ts'
import { xmlAttachment } from './xml.ts'
import { invoicePdf } from './pdf.ts'

/** More would wait longer than a browser does. */
const MOST_WAITING = 30
const MOST_OF_ONE_ORDER = 4
const RETRY_AFTER_SECONDS = 5
/** A document has 25 to 80 KB. */
const MOST_KEPT = 40

const draw = (invoice: Invoice): Promise<Buffer> => invoicePdf(invoice, xmlAttachment(invoice))

/**
 * Draws one document at a time, because drawing keeps the CPU busy. When too many wait, or several of one order, further ones get
 * `invoices_busy`. A document never changes, so the ones asked for last are kept, and requests for the same one wait for one drawing.
 */
export function drawn(drawOne = draw): (invoice: Invoice) => Promise<Buffer> {
  const waiting: string[] = []
  const kept = new Map<string, Promise<Buffer>>()
  let last: Promise<unknown> = Promise.resolve()
  return async (invoice) => {
    const known = kept.get(invoice.id)
    if (known) {
      keep(kept, invoice.id, known)
      return known
    }
    const ofOrder = waiting.filter((orderId) => orderId === invoice.orderId).length
    if (waiting.length >= MOST_WAITING || ofOrder >= MOST_OF_ONE_ORDER)
      throw new Refusal('invoices_busy', 'Many invoices are being drawn. Please try again in a moment.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    waiting.push(invoice.orderId)
    const turn = last.then(() => drawOne(invoice))
    keep(kept, invoice.id, turn)
    last = turn.catch(() => {})
    try {
      return await turn
    } catch (error) {
      if (kept.get(invoice.id) === turn) kept.delete(invoice.id)
      throw error
    } finally {
      waiting.splice(waiting.indexOf(invoice.orderId), 1)
    }
  }
}

/** Keeps the document, and drops the one whose last request is the oldest. */
function keep(kept: Map<string, Promise<Buffer>>, id: string, pdf: Promise<Buffer>): void {
  kept.delete(id)
  kept.set(id, pdf)
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
}
