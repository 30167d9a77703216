import { money } from '../../ui/format.ts'
import { RAIL_NAMES } from '../../ui/words.ts'
import type { Stats } from '../api.ts'
import { address } from '../router.ts'
import { ordersWords } from './chart.tsx'

type Currency = Stats['items'][number]

interface Share {
  key: string
  name: string
  href?: string
  amount: number
  orders: number
}

export const Rails = ({ of: { rails, currency } }: { of: Currency }) => (
  <Shares
    title="By payment method"
    currency={currency}
    shares={rails.map(({ rail, amount, orders }) => ({
      key: rail ?? 'free',
      name: rail ? RAIL_NAMES[rail] : 'Nothing to pay',
      amount,
      orders,
    }))}
  />
)

export const Best = ({ of: { products, currency } }: { of: Currency }) => (
  <Shares
    title="By product"
    currency={currency}
    shares={products.map(({ id, name, amount, orders }) => ({
      key: id,
      name,
      href: address('product', id),
      amount,
      orders,
    }))}
  />
)

/** The parts of a sum: a list with bars that is also its own table. */
function Shares({ title, currency, shares }: { title: string; currency: string; shares: Share[] }) {
  const most = Math.max(...shares.map(({ amount }) => amount), 1)
  if (shares.length === 0) return null
  return (
    <section class="stack">
      <h3>{title}</h3>
      <ul class="shares">
        {shares
          .toSorted((a, b) => b.amount - a.amount)
          .map(({ key, name, href, amount, orders }) => (
            <li key={key}>
              <p class="share-name">{href ? <a href={href}>{name}</a> : name}</p>
              <p class="number">
                {money(amount, currency)} <span class="small soft">{ordersWords(orders)}</span>
              </p>
              <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
                <rect class="bar-none" width="100" height="4" />
                <rect class="bar-sold" width={(amount / most) * 100} height="4" />
              </svg>
            </li>
          ))}
      </ul>
    </section>
  )
}
