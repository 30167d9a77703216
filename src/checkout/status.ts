import type { OrderView } from '../orders/find.ts'
import { type DownloadUrl, freshLinks } from '../orders/links.ts'
import { orderTaxView } from '../orders/new-order.ts'
import { detailsUntil, invoiceLinks, type InvoiceUrl, netOf } from '../orders/invoice-links.ts'
import type { Pass } from '../orders/order-passes.ts'
import { onStatement } from '../orders/paid-by.ts'
import { isDelivered, waitsForPayment } from '../orders/states.ts'
import { recalledFilesOf } from '../products/schema.ts'
import { brandView } from '../sellers/brand.ts'
import type { OrderStatus } from './schema.ts'

/** Makes the addresses in a response. */
export interface Links {
  statusUrl(orderId: string): string
  /** The hosted page of one order. Only browsers see the part behind the "#". */
  payUrl(productId: string, orderId: string, token: string): string
  downloadUrl: DownloadUrl
  invoiceUrl: InvoiceUrl
  baseUrl: string
}

/** A page polls often while the buyer waits in front of it, and less often later, when only a slow bank can be at work. */
const POLL_SOON_MS = 2_000
const POLL_LATER_MS = 5_000
const POLL_SELDOM_MS = 30_000
const SOON_MS = 60_000
const LATER_MS = 10 * 60_000

interface Asker {
  links: Links
  synced: boolean | undefined
  /** Only the buyer gets one. */
  statusToken: string | undefined
  pass: Pass | undefined
}

/** Returns an order's status: for anybody its state, for the holder of a pass also the fields that it opens, for the buyer all. */
export function statusOf(order: OrderView, { links, synced, statusToken, pass }: Asker): OrderStatus {
  const forAnybody: OrderStatus = {
    orderId: order.id,
    status: order.state,
    paid: isDelivered(order.state) && !order.fullRefundPending,
    ...(order.state === 'pending' && { canPay: true }),
    ...(order.state === 'processing' && { canPay: !order.bankAtWork }),
    ...(order.paymentReturned && { paymentReturned: true }),
    amount: order.amountMinor,
    currency: order.currency,
    downloads: [],
    nextPollMs: nextPollMs(order),
    ...(synced !== undefined && { synced }),
  }
  const onward = {
    ...(order.successUrl !== null && { successUrl: order.successUrl }),
    ...(order.cancelUrl !== null && { cancelUrl: order.cancelUrl }),
  }
  const price = {
    statementDescriptor: order.statementDescriptor,
    ...onStatement(order.paidBy),
    ...(order.discountMinor > 0 && { discountAmount: order.discountMinor }),
    ...(order.tax && { tax: orderTaxView(order.tax) }),
  }
  if (statusToken === undefined) return { ...forAnybody, ...(pass && onward), ...(pass === 'pay' && price) }
  return {
    ...forAnybody,
    downloads: freshLinks(order, links.downloadUrl),
    ...recalledFilesOf(order.recalled),
    ...price,
    ...onward,
    statusToken,
    seller: { name: order.sellerName, supportEmail: order.supportEmail, ...brandView(links.baseUrl, order.brand) },
    product: { id: order.productId, name: order.productName },
    rail: order.rail,
    createdAt: order.createdAt.toISOString(),
    paidAt: order.paidAt?.toISOString() ?? null,
    refundedAmount: order.refundedMinor,
    ...(order.chargedBackMinor > 0 && { chargedBackAmount: order.chargedBackMinor }),
    ...(order.receiptBounced && { receiptBounced: true }),
    ...(order.receiptHeld && { receiptHeld: true }),
    ...invoiceLinks(order.invoices, links.invoiceUrl),
    ...untilOf(order),
    timeline: [
      { at: order.createdAt.toISOString(), what: 'created' },
      ...order.events.map(({ at, what }) => ({ at: new Date(at).toISOString(), what })),
    ],
  }
}

/** As `addInvoiceDetails` decides it. */
function untilOf({ invoices, paidAt, amountMinor }: OrderView): Pick<OrderStatus, 'invoiceDetailsUntil'> {
  if (!invoices || !paidAt || detailsUntil(paidAt).getTime() < Date.now() || netOf(invoices) < amountMinor) return {}
  return { invoiceDetailsUntil: detailsUntil(paidAt).toISOString() }
}

/** The pause before the next poll grows with the order's age. Null: nothing will change by itself. */
function nextPollMs({ state, createdAt, fullRefundPending }: OrderView): number | null {
  if (fullRefundPending) return POLL_SELDOM_MS
  if (!waitsForPayment(state)) return null
  const age = Date.now() - createdAt.getTime()
  if (age < SOON_MS) return POLL_SOON_MS
  return age < LATER_MS ? POLL_LATER_MS : POLL_SELDOM_MS
}
