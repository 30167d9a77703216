import { share } from '../kit/money.ts'

/** Entries that move a seller's money without an order. */
export type PayoutKind = 'payout' | 'payout_failed' | 'payout_reversed' | 'adjustment'

/** One entry of the ledger: `amountMinor` minor units of `currency` leave `debit` and reach `credit`. */
export interface Transfer {
  kind:
    | 'sale'
    | 'fee'
    | 'refund'
    | 'fee_refund'
    | 'held'
    | 'returned'
    | 'dispute_hold'
    | 'dispute_release'
    | 'dispute_loss'
    | 'refund_failed'
    | 'fee_again'
    | 'return_failed'
    | 'dispute_return'
    | 'held_loss'
    | 'held_loss_back'
    | 'tax'
    | 'tax_refund'
    | 'tax_again'
    | 'passed_on'
    | 'passed_back'
    | PayoutKind
  /** The event that caused the transfer. (kind, cause) is unique, so a repeat books nothing. */
  cause: string
  /** Null exactly for the kinds of a payout: their cause is the payout or the adjustment. */
  orderId: string | null
  debit: string
  credit: string
  amountMinor: number
  currency: string
}

export const FEES = 'fees'
/** The suspense account: money that is on its way back to the buyer, or waits for the operator's decision. */
export const SUSPENSE = 'held'
export const DISPUTED = 'disputed'
/** The money that this service owes a seller. */
export const sellerAccount = (sellerId: string) => `seller:${sellerId}`
/** The money at the seller's connected account, paid or passed on there. This service owes nothing of it. */
export const directAccount = (sellerId: string) => `direct:${sellerId}`
/** The tax within a seller's sales, which the seller owes to the tax office. This service owes nothing of it, and holds nothing of it. */
export const taxAccount = (sellerId: string) => `tax:${sellerId}`
/** Its counterpart, so that the books stay even without an account of money. */
export const taxOwedAccount = (sellerId: string) => `tax-owed:${sellerId}`
export const processorAccount = (processor: string) => `processor:${processor}`

export interface Money {
  cause: string
  orderId: string
  sellerId: string
  processor: string
  amountMinor: number
  currency: string
}

/** The account of a seller's money. A processor with an account in its name, such as `stripe@acct_1`, pays the seller itself. */
const ownerAccount = ({ sellerId, processor }: Pick<Money, 'sellerId' | 'processor'>) =>
  processor.includes('@') ? directAccount(sellerId) : sellerAccount(sellerId)

/** Books a sale: the price goes from the processor's account to the seller, and the fee from the seller to us. The tax is noted. */
export function saleTransfers(sale: Money & { feeMinor: number; taxMinor: number }): Transfer[] {
  const { cause, orderId, currency } = sale
  const seller = ownerAccount(sale)
  return positive([
    {
      kind: 'sale',
      cause,
      orderId,
      currency,
      debit: processorAccount(sale.processor),
      credit: seller,
      amountMinor: sale.amountMinor,
    },
    { kind: 'fee', cause, orderId, currency, debit: seller, credit: FEES, amountMinor: sale.feeMinor },
    taxTransfer('tax', sale, sale.taxMinor),
  ])
}

/** A sale, and how much of it went back before by refunds and lost disputes, in minor units. */
interface Returned {
  saleMinor: number
  feeMinor: number
  taxMinor: number
  returnedBeforeMinor: number
}

/** Books a refund: the amount goes back, and with it its share of the fee and of the tax. */
export function refundTransfers(refund: Money & Returned): Transfer[] {
  const { cause, orderId, currency, amountMinor } = refund
  const seller = ownerAccount(refund)
  const feeBack = feeReturned(amountMinor, refund)
  return positive([
    {
      kind: 'refund',
      cause,
      orderId,
      currency,
      debit: seller,
      credit: processorAccount(refund.processor),
      amountMinor,
    },
    { kind: 'fee_refund', cause, orderId, currency, debit: FEES, credit: seller, amountMinor: feeBack },
    taxTransfer('tax_refund', refund, taxReturned(amountMinor, refund)),
  ])
}

/** Books the failure of a booked refund: the amount comes back, and with it its share of the fee and of the tax. */
export function refundFailedTransfers(refund: Money & Returned): Transfer[] {
  const { cause, orderId, currency, amountMinor } = refund
  const seller = ownerAccount(refund)
  const without = { ...refund, returnedBeforeMinor: refund.returnedBeforeMinor - amountMinor }
  const feeAgain = feeReturned(amountMinor, without)
  return positive([
    {
      kind: 'refund_failed',
      cause,
      orderId,
      currency,
      debit: processorAccount(refund.processor),
      credit: seller,
      amountMinor,
    },
    { kind: 'fee_again', cause, orderId, currency, debit: seller, credit: FEES, amountMinor: feeAgain },
    taxTransfer('tax_again', refund, taxReturned(amountMinor, without)),
  ])
}

const feeReturned = (amountMinor: number, of: Returned): number => shareReturned(of.feeMinor, amountMinor, of)
const taxReturned = (amountMinor: number, of: Returned): number => shareReturned(of.taxMinor, amountMinor, of)

/**
 * The share of the fee, or of the tax, that goes back with an amount. Shares are differences of one running total. So when a whole sale
 * goes back, in any number of parts and any order, exactly the fee and the tax go back with it.
 */
function shareReturned(allMinor: number, amountMinor: number, { saleMinor, returnedBeforeMinor }: Returned): number {
  const upTo = (returnedMinor: number) => share(allMinor, Math.min(returnedMinor, saleMinor), saleMinor)
  return upTo(returnedBeforeMinor + amountMinor) - upTo(returnedBeforeMinor)
}

type TaxedOrder = Omit<Money, 'processor' | 'amountMinor'>

/** Notes tax that the seller owes, or does not owe any more. It moves no money. */
function taxTransfer(
  kind: 'tax' | 'tax_refund' | 'tax_again',
  { cause, orderId, sellerId, currency }: TaxedOrder,
  amountMinor: number,
): Transfer {
  const [tax, counterpart] = [taxAccount(sellerId), taxOwedAccount(sellerId)]
  const [debit, credit] = kind === 'tax_refund' ? [tax, counterpart] : [counterpart, tax]
  return { kind, cause, orderId, currency, debit, credit, amountMinor }
}

/**
 * Notes tax that an earlier release left out. `backMinor`: the missing part of the tax that went back; below zero, too much went back.
 * `entries`: how many entries the order has so far, so that the same amount can be missing again later. The caller has locked the order.
 */
export function missingTaxTransfers(
  order: TaxedOrder & { taxMinor: number; backMinor: number; entries: number },
): Transfer[] {
  const { taxMinor, backMinor, entries } = order
  const filled = { ...order, cause: `${order.cause}:filled:${entries}` }
  return positive([
    taxTransfer('tax', order, taxMinor),
    taxTransfer('tax_refund', filled, backMinor),
    taxTransfer('tax_again', filled, -backMinor),
  ])
}

/** Money that pays for nothing (a second capture, a wrong amount) stays in the suspense account until it goes back. */
export const heldTransfers = ({ processor, sellerId: _, ...money }: Money): Transfer[] => [
  { kind: 'held', ...money, debit: processorAccount(processor), credit: SUSPENSE },
]
export const returnedTransfers = ({ processor, sellerId: _, ...money }: Money): Transfer[] => [
  { kind: 'returned', ...money, debit: SUSPENSE, credit: processorAccount(processor) },
]

export const returnFailedTransfers = ({ processor, sellerId: _, ...money }: Money): Transfer[] => [
  { kind: 'return_failed', ...money, debit: processorAccount(processor), credit: SUSPENSE },
]

/** Disputed money of a sale is the seller's. Other disputed money is in the suspense account. */
type Disputed = Money & { ofSale: boolean }
const holder = (disputed: Disputed) => (disputed.ofSale ? ownerAccount(disputed) : SUSPENSE)
const entry = ({ cause, orderId, amountMinor, currency }: Disputed) => ({ cause, orderId, amountMinor, currency })

/** An open dispute takes the amount out of reach. A won dispute gives it back. */
export const disputeHeld = (dispute: Disputed): Transfer[] => [
  { kind: 'dispute_hold', ...entry(dispute), debit: holder(dispute), credit: DISPUTED },
]
export const disputeWon = (dispute: Disputed): Transfer[] => [
  { kind: 'dispute_release', ...entry(dispute), debit: DISPUTED, credit: holder(dispute) },
]
/** A lost dispute takes `lostMinor`, with its share of the fee and of the tax, and gives back the rest. */
export function disputeLost({ lostMinor, ...dispute }: Disputed & Returned & { lostMinor: number }): Transfer[] {
  const { processor, amountMinor } = dispute
  const lost = { ...entry(dispute), amountMinor: lostMinor }
  const feeBack = dispute.ofSale ? feeReturned(lostMinor, dispute) : 0
  return positive([
    { kind: 'dispute_loss', ...lost, debit: DISPUTED, credit: processorAccount(processor) },
    { kind: 'fee_refund', ...lost, amountMinor: feeBack, debit: FEES, credit: holder(dispute) },
    taxTransfer('tax_refund', dispute, dispute.ofSale ? taxReturned(lostMinor, dispute) : 0),
    ...disputeWon({ ...dispute, amountMinor: amountMinor - lostMinor }),
  ])
}

/** `amountMinor` of a lost dispute came back later, so its share of the fee is taken again, and its share of the tax owed again. */
export function disputeReturned(dispute: Disputed & Returned): Transfer[] {
  const { processor, amountMinor, returnedBeforeMinor } = dispute
  const without = { ...dispute, returnedBeforeMinor: returnedBeforeMinor - amountMinor }
  const feeAgain = dispute.ofSale ? feeReturned(amountMinor, without) : 0
  return positive([
    { kind: 'dispute_return', ...entry(dispute), debit: processorAccount(processor), credit: holder(dispute) },
    { kind: 'fee_again', ...entry(dispute), amountMinor: feeAgain, debit: holder(dispute), credit: FEES },
    taxTransfer('tax_again', dispute, dispute.ofSale ? taxReturned(amountMinor, without) : 0),
  ])
}

/**
 * Suspended money can leave twice, by a refund and by a lost dispute. The second time it is missing from the seller's account at the
 * processor, so the seller bears it. A negative amount means that it came back.
 */
export const heldLoss = ({ sellerId, processor, ...loss }: Money): Transfer[] => {
  const seller = ownerAccount({ sellerId, processor })
  return positive([
    { kind: 'held_loss', ...loss, debit: seller, credit: SUSPENSE },
    { kind: 'held_loss_back', ...loss, amountMinor: -loss.amountMinor, debit: SUSPENSE, credit: seller },
  ])
}

/** Drops transfers of zero: the share of a small amount can be zero. */
const positive = (transfers: Transfer[]): Transfer[] => transfers.filter((transfer) => transfer.amountMinor > 0)
