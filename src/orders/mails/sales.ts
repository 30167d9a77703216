import type { Lines } from '../../kit/mail-layout.ts'
import { formatMoney } from '../../kit/money.ts'
import { dateTime, numberOf } from './mail-data.ts'

/** The sales in one currency. */
export interface Sold {
  currency: string
  orders: number
  amountMinor: number
  /** How many of them cost nothing. */
  free: number
  /** The newest ones. */
  orderIds: string[]
}

export interface SoldOrder {
  id: string
  productName: string
  amountMinor: number
  currency: string
  feeMinor: number
  email: string
  paidAt: Date | null
}

/** The mail about one sale, or about several. `orders` are the newest of them. */
export function saleLines(sold: readonly Sold[], orders: readonly SoldOrder[], appUrl: string): Lines {
  const count = sold.reduce((sum, one) => sum + one.orders, 0)
  const note = `You can get one mail a day instead, or none: choose in your account, ${appUrl}/account/#mails`
  return { ...(count === 1 ? oneSale(orders[0]!, appUrl) : someSales(count, sold, orders, appUrl)), note }
}

function oneSale(order: SoldOrder, appUrl: string): Lines {
  const { id, productName, amountMinor, currency, feeMinor, email, paidAt } = order
  const isFree = amountMinor === 0
  const button = { label: 'View the order', url: `${appUrl}/shop/#/orders/${id}` }
  const facts: Lines['facts'] = [
    ['Product', productName],
    ...(isFree
      ? ([['Price', 'Free']] satisfies Lines['facts'])
      : ([
          ['Paid', formatMoney(amountMinor, currency)],
          ['Fee, 2%', formatMoney(-feeMinor, currency)],
          ['You keep', formatMoney(amountMinor - feeMinor, currency)],
        ] satisfies Lines['facts'])),
    ['Buyer', email],
    ['When', dateTime(paidAt)],
    ['Order', numberOf({ id })],
  ]
  return isFree
    ? {
        subject: `A free order: ${productName}`,
        title: `Someone got ${productName}.`,
        text: 'The buyer can download the files. There is nothing to do.',
        button,
        facts,
      }
    : {
        subject: `You made a sale: ${productName}, ${formatMoney(amountMinor, currency)}`,
        title: `You sold ${productName} for ${formatMoney(amountMinor, currency)}.`,
        text: 'The buyer has paid and can download the files. The receipt goes out by itself. There is nothing to do.',
        button,
        facts,
      }
}

function someSales(count: number, sold: readonly Sold[], orders: readonly SoldOrder[], appUrl: string): Lines {
  const free = sold.reduce((sum, one) => sum + one.free, 0)
  const paid = sold.filter((one) => one.orders > one.free)
  const sums = paid.map(({ amountMinor, currency }) => formatMoney(amountMinor, currency))
  const shown = orders.length < count ? `The newest ${orders.length} of them are listed here. ` : ''
  const named = count === free ? `${count} free orders` : `${count} sales`
  return {
    subject: `You made ${named}${sums.length > 0 ? `: ${sums.join(', ')}` : ''}`,
    title: `You made ${named}.`,
    text: `${shown}The buyers can download their files, and each of them gets a receipt. There is nothing to do.`,
    button: { label: 'View your orders', url: `${appUrl}/shop/#/orders` },
    facts: [
      ...paid.map(({ currency, amountMinor, orders: all, free: ofThem }): [string, string] => [
        `Sold in ${currency}`,
        `${formatMoney(amountMinor, currency)} in ${all - ofThem === 1 ? '1 order' : `${all - ofThem} orders`}`,
      ]),
      ...(free > 0 && count > free ? [['Free orders', String(free)] as [string, string]] : []),
      ...orders.map(({ paidAt, productName, amountMinor, currency }): [string, string] => [
        dateTime(paidAt),
        `${productName}, ${amountMinor === 0 ? 'free' : formatMoney(amountMinor, currency)}`,
      ]),
    ],
  }
}
