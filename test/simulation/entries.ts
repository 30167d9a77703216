import type { Capture, Dispute, Order, Refund, Transfer } from './books.ts'

/** The ledger's entries match the events of the rows: each event once, and nothing else. */
export function problemsOfTransfers(order: Order): string[] {
  const shares = new Set(['fee_refund', 'fee_again'])
  const missing = new Set(['held_loss', 'held_loss_back'])
  const taxes = new Set(['tax_refund', 'tax_again'])
  // money that a processor passes on has invariants of its own
  const passes = new Set(['passed_on', 'passed_back'])
  const booked = order.transfers
    .filter(({ kind }) => !shares.has(kind) && !missing.has(kind) && !taxes.has(kind) && !passes.has(kind))
    .map(said)
  const seller = ownerOf(order)
  const expected = expectedTransfers(order).map(said)
  const causes = order.transfers.map(({ kind, cause }) => `${kind} ${cause}`)
  return [
    ...booked.filter((one) => !expected.includes(one)).map((one) => `booked without a reason: ${one}`),
    ...expected.filter((one) => !booked.includes(one)).map((one) => `not booked: ${one}`),
    ...(new Set(causes).size === causes.length ? [] : ['something is booked twice']),
    ...problemsOfMissing(order),
    // a share of the fee goes the way of the money it belongs to
    ...order.transfers
      .filter(({ kind }) => shares.has(kind))
      .filter(({ kind, cause, debit, credit, currency }) => {
        const isBack = kind === 'fee_refund' && debit === 'fees' && credit === seller
        const isAgain = kind === 'fee_again' && debit === seller && credit === 'fees'
        const belongs = order.transfers.some((one) => one.cause === cause && !shares.has(one.kind))
        return !(isBack || isAgain) || !belongs || currency !== order.currency
      })
      .map((one) => `no share of the fee: ${said(one)}`),
    // a share of the tax is noted beside the money it belongs to, and moves none
    ...order.transfers
      .filter(({ kind }) => taxes.has(kind))
      .filter(({ kind, cause, debit, credit, currency }) => {
        const sides = [`tax:${order.sellerId}`, `tax-owed:${order.sellerId}`]
        const [from, to] = kind === 'tax_refund' ? sides : sides.toReversed()
        const belongs = order.transfers.some((one) => one.cause === cause && !taxes.has(one.kind) && !shares.has(one.kind)) // oxfmt-ignore
        return debit !== from || credit !== to || !belongs || currency !== order.currency
      })
      .map((one) => `no share of the tax: ${said(one)}`),
  ]
}

/** Held money that has left twice is the seller's loss. Which of several entries has the loss depends on the order of events. */
function problemsOfMissing({ captures, refunds, disputes, transfers, ...order }: Order): string[] {
  const seller = ownerOf(order)
  const sum = (items: readonly number[]) => items.reduce((all, one) => all + one, 0)
  const missing = captures
    .filter(({ purpose }) => purpose !== 'sale')
    .map((capture) => {
      const of = ({ captureId }: Refund | Dispute) => captureId === capture.id
      const back = refunds.filter((one) => of(one) && one.state === 'succeeded').map((one) => one.amountMinor)
      const lost = disputes.filter(of).map(({ lostMinor }) => lostMinor ?? 0)
      return Math.max(0, sum(back) + sum(lost) - capture.amountMinor)
    })
  const booked = transfers.flatMap(({ kind, debit, credit, amountMinor }) => {
    if (kind === 'held_loss' && debit === seller && credit === 'held') return amountMinor
    if (kind === 'held_loss_back' && debit === 'held' && credit === seller) return -amountMinor
    return []
  })
  return sum(missing) === sum(booked) ? [] : [`${sum(missing)} have left twice, and ${sum(booked)} are booked so`]
}

/** Money at the seller's own account is owed to nobody. */
const ownerOf = ({ sellerId, payments }: Pick<Order, 'sellerId' | 'payments'>): string =>
  payments.some(({ processor }) => processor.includes('@')) ? `direct:${sellerId}` : `seller:${sellerId}`

export const said = ({ kind, cause, debit, credit, amountMinor, currency }: Transfer): string =>
  `${kind} ${amountMinor} ${currency} ${debit} → ${credit} for ${cause}`

function expectedTransfers(order: Order): Transfer[] {
  const { currency, sellerId, captures, refunds, disputes, transfers } = order
  const seller = ownerOf(order)
  const sale = captures.find(({ purpose }) => purpose === 'sale')
  const of = (one: Capture | Refund | Dispute, what: string) => ({
    cause: `${one.processor}:${what}:${one.id}`,
    currency,
    amountMinor: one.amountMinor,
    processor: `processor:${one.processor}`,
  })
  const entry = (kind: string, debit: string, credit: string, { processor: _, ...more }: ReturnType<typeof of>) => ({
    kind,
    debit,
    credit,
    ...more,
  })
  const holderOf = ({ captureId }: Refund | Dispute) => (captureId === sale?.id ? seller : 'held')
  return [
    ...captures.flatMap((capture) => {
      const money = { ...of(capture, 'capture'), currency: capture.currency }
      if (capture.purpose !== 'sale') return [entry('held', money.processor, 'held', money)]
      const fee = order.feeMinor > 0 ? [entry('fee', seller, 'fees', { ...money, amountMinor: order.feeMinor })] : []
      const owed = [`tax-owed:${sellerId}`, `tax:${sellerId}`] as const
      const tax = order.taxMinor ? [entry('tax', ...owed, { ...money, amountMinor: order.taxMinor })] : []
      return [entry('sale', money.processor, seller, money), ...fee, ...tax]
    }),
    ...refunds.flatMap((refund) => {
      const money = of(refund, 'refund')
      const kinds = holderOf(refund) === seller ? ['refund', 'refund_failed'] : ['returned', 'return_failed']
      const made = entry(kinds[0]!, holderOf(refund), money.processor, money)
      const failed = entry(kinds[1]!, money.processor, holderOf(refund), money)
      if (refund.state === 'succeeded') return [made]
      // one that failed was made before, and taken back, or never made
      const was = transfers.some(({ kind, cause }) => kind === made.kind && cause === made.cause)
      return refund.state === 'failed' && was ? [made, failed] : []
    }),
    ...disputes.flatMap((dispute) => {
      const money = of(dispute, 'dispute')
      // money that came back after the end has entries of its own, each named by the sum of losses since then
      const returns = transfers.filter(
        ({ kind, cause }) => kind === 'dispute_return' && cause.startsWith(`${money.cause}:`),
      )
      const lost = returns.reduce((all, one) => all + one.amountMinor, dispute.lostMinor ?? 0)
      const rest = dispute.amountMinor - lost
      return [
        ...returns.map(({ cause, amountMinor }) =>
          entry('dispute_return', money.processor, holderOf(dispute), { ...money, cause, amountMinor }),
        ),
        entry('dispute_hold', holderOf(dispute), 'disputed', money),
        entry('dispute_loss', 'disputed', money.processor, { ...money, amountMinor: lost }),
        ...(dispute.state === 'open'
          ? []
          : [entry('dispute_release', 'disputed', holderOf(dispute), { ...money, amountMinor: rest })]),
      ].filter(({ amountMinor }) => amountMinor > 0)
    }),
  ]
}
