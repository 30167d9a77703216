import { isDeepStrictEqual } from 'node:util'
import type { OrderDetail } from '../shop/schema.ts'
import { isCurrency } from '../kit/country-currency.ts'
import { Refusal } from '../kit/errors.ts'
import { formatMoney } from '../kit/money.ts'
import type { Price, Product } from '../products/schema.ts'
import type { Arguments, Inner } from './inside.ts'

/** One line of the list of effects of a confirmation. */
export interface Shown {
  label: string
  value: string
  /** The present value, where it changes. */
  before?: string
}

export interface Proposed {
  title: string
  shown: Shown[]
  /** The arguments with everything that the route would otherwise decide when it is confirmed. */
  given: Arguments
  /** The version of the object that changes. A later change by somebody else voids the proposal. */
  ifMatch?: string | undefined
}

/** How a call becomes a proposal. */
export interface Proposal {
  /** Reads the subject of the proposal. The program needs a scope of this route. */
  look: { operationId: string; given(asked: Arguments): Arguments }
  of(asked: Arguments, seen: Inner): Proposed
}

export const proposeRefund: Proposal = {
  look: { operationId: 'getOrder', given: ({ orderId }) => ({ orderId }) },
  of({ orderId, amount, reason }, { body }) {
    const order = body as OrderDetail
    const underWay = order.refunds.reduce((sum, { status, amount }) => (status === 'pending' ? sum + amount : sum), 0)
    const left = order.amount - order.refundedAmount - underWay - (order.chargedBackAmount ?? 0)
    const sum = typeof amount === 'number' ? amount : left
    if (order.paidAt === null || left <= 0)
      throw new Refusal('order_not_refundable', 'Nothing of this order can be refunded.')
    if (sum > left)
      throw new Refusal('refund_too_large', `At most ${formatMoney(left, order.currency)} is left to refund.`)
    return {
      title: `Refund ${formatMoney(sum, order.currency)} to the buyer`,
      shown: [
        { label: 'Order', value: order.orderId },
        { label: 'Product', value: order.product.name },
        { label: 'Buyer', value: order.email },
        { label: 'Paid', value: formatMoney(order.amount, order.currency) },
        { label: 'Refunded so far', value: formatMoney(order.refundedAmount, order.currency) },
        ...(underWay === 0 ? [] : [{ label: 'On its way to the buyer', value: formatMoney(underWay, order.currency) }]),
        { label: 'Goes back now', value: formatMoney(sum, order.currency) },
        ...(reason === undefined ? [] : [{ label: 'Your note', value: text(reason) }]),
      ],
      given: { orderId, amount: sum, ...(reason !== undefined && { reason }) },
    }
  },
}

const PRODUCT_LABELS: Record<string, string> = {
  name: 'Name',
  description: 'Description',
  amount: 'Price',
  currency: 'Currency',
  prices: 'Prices',
  status: 'Status',
  payWhatYouWant: 'The buyer chooses the price',
  suggestedAmount: 'Suggested price',
  statementSuffix: 'On the bank statement',
}

/** The members that are amounts of the product's currency. */
const AMOUNT = /amount$/i

export const proposeProductChange: Proposal = {
  look: { operationId: 'getOwnProduct', given: ({ productId }) => ({ productId }) },
  of({ productId, ...change }, { body, etag }) {
    const product = body as Product
    const now = product as unknown as Arguments
    const currency = typeof change['currency'] === 'string' ? change['currency'] : product.currency
    const isOther = ([name, value]: [string, unknown]) => !isDeepStrictEqual(value, now[name] ?? null)
    if (!Object.entries(change).some(isOther))
      throw new Refusal('validation_failed', 'The product is like this already.')
    const isOtherMoney = change['prices'] === undefined && currency !== product.currency
    const changed = Object.entries(withFollowing(change, product)).filter(
      (one) => isOther(one) || (isOtherMoney && AMOUNT.test(one[0]) && one[1] !== null),
    )
    const shownAs = (name: string, value: unknown, of: string): string =>
      name === 'prices' ? pricesIn(value) : AMOUNT.test(name) && typeof value === 'number' ? inMoney(value, of) : text(value) // oxfmt-ignore
    return {
      title: `Change ${product.name}`,
      shown: [
        { label: 'Product', value: `${product.name} (${product.id})` },
        ...changed.map(([name, value]) => ({
          label: PRODUCT_LABELS[name] ?? name,
          value: shownAs(name, value, currency),
          before: shownAs(name, now[name], product.currency),
        })),
      ],
      given: { productId, ...change },
      ifMatch: etag,
    }
  },
}

/**
 * The change with what follows from it. An amount that the change leaves as it is means other money in another currency. Without pay
 * what you want nothing is suggested, and each further price is its minimum. A change of `prices` says all of that itself.
 */
function withFollowing(change: Arguments, { amount, currency, suggestedAmount, ...product }: Product): Arguments {
  if (change['prices'] !== undefined) return change
  const isFixedNow = product.payWhatYouWant && change['payWhatYouWant'] === false
  const [, ...further] = product.prices
  const following = {
    amount,
    ...(suggestedAmount !== undefined && { suggestedAmount: isFixedNow ? null : suggestedAmount }),
    ...(isFixedNow &&
      further.some(({ minimum }) => minimum !== undefined) && {
        prices: [
          { currency: change['currency'] ?? currency, amount: change['amount'] ?? amount },
          ...further.map((one) => ({ currency: one.currency, amount: one.minimum ?? one.amount })),
        ],
      }),
  }
  // the members of the change come first, in their order
  return { ...change, ...following, ...change }
}

const DISCOUNT_LABELS: Record<string, string> = {
  code: 'Code',
  productId: 'Only for',
  percentOff: 'Percent off',
  amountOff: 'Amount off',
  currency: 'Currency',
  amounts: 'Amount off',
  limit: 'Orders at the most',
  startsAt: 'From',
  expiresAt: 'Until',
}

export const proposeDiscount: Proposal = {
  look: { operationId: 'listDiscounts', given: () => ({ limit: '1' }) },
  of(asked) {
    const shown = Object.entries(asked).map(([name, value]) => ({
      label: DISCOUNT_LABELS[name] ?? name,
      value: name === 'amounts' ? pricesIn(value) : name === 'amountOff' && typeof value === 'number' && typeof asked['currency'] === 'string' ? inMoney(value, asked['currency']) : text(value), // oxfmt-ignore
    }))
    const missing = asked['productId'] === undefined ? [{ label: 'Only for', value: 'all of your products' }] : []
    return { title: `Make the discount code ${text(asked['code'])}`, shown: [...shown, ...missing], given: asked }
  },
}

export const proposeKey: Proposal = {
  look: { operationId: 'listKeys', given: () => ({ limit: '1' }) },
  of(asked) {
    const { name, scopes, productIds, expiresAt } = asked
    return {
      title: `Make the API key ${text(name)}`,
      shown: [
        { label: 'Name', value: text(name) },
        { label: 'May do', value: text(scopes) },
        { label: 'Only for', value: productIds === undefined ? 'all of your products' : text(productIds) },
        {
          label: 'Until',
          value: expiresAt === undefined ? '90 days from now' : expiresAt === null ? 'it is revoked' : text(expiresAt),
        },
      ],
      given: asked,
    }
  },
}

/** An amount as a program wrote it. The route refuses a wrong currency when the seller confirms. */
const inMoney = (minor: number, currency: string): string =>
  isCurrency(currency) ? formatMoney(minor, currency) : `${minor} ${currency}`

/** Amounts in several currencies. */
const pricesIn = (value: unknown): string =>
  (value as Price[])
    .map(({ currency, amount, minimum }) => {
      const shown = inMoney(amount, currency)
      return minimum === undefined ? shown : `${shown}, at least ${inMoney(minimum, currency)}`
    })
    .join(' · ')

/** A value in words. An empty one must be seen too. */
const text = (value: unknown): string => {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.join(', ') : String(value)
}
