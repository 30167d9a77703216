import { useState } from 'preact/hooks'
import { money } from '../../ui/format.ts'
import { getStats, type Product, type Stats } from '../api.ts'
import { useLoad } from '../load.ts'
import { Shown } from '../parts.tsx'
import { Chart, ordersWords } from './chart.tsx'
import { fillDays, lastDays, sumOf, type Day } from './days.ts'
import { PushLink } from './push-link.tsx'
import { Best, Rails } from './shares.tsx'

/** The sales of today, of this month, and day by day. */
export function Sold({ shared }: { shared: Product[] }) {
  const days = lastDays()
  const from = days[0]!.toISOString()
  const stats = useLoad(from, () =>
    getStats({
      from,
      to: new Date().toISOString(),
      interval: 'day',
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    }),
  )
  return <Shown of={stats}>{({ items }) => <Sums items={items} shared={shared} />}</Shown>
}

function Sums({ items, shared }: { items: Stats['items']; shared: Product[] }) {
  const [chosen, setChosen] = useState<string>()
  const sorted = items.toSorted((a, b) => b.orders - a.orders)
  const shown = sorted.find(({ currency }) => currency === chosen) ?? sorted[0]
  if (!shown) return <PushLink products={shared} />
  const days = fillDays(shown.buckets)
  return (
    <section class="stack" aria-labelledby="sold">
      <div class="sold-head">
        <h2 id="sold">Sold</h2>
        {sorted.length > 1 && (
          <div class="field">
            <label class="unseen" for="currency">
              Currency
            </label>
            <select id="currency" value={shown.currency} onChange={(event) => setChosen(event.currentTarget.value)}>
              {sorted.map(({ currency }) => (
                <option key={currency}>{currency}</option>
              ))}
            </select>
          </div>
        )}
      </div>
      <dl class="sums">
        <Sum name="Today" currency={shown.currency} days={days.slice(-1)} />
        <Sum name="This month" currency={shown.currency} days={days.filter(isThisMonth)} />
        <Sum name={`Last ${days.length} days`} currency={shown.currency} days={days} />
      </dl>
      <div class="panel">
        <Chart days={days} currency={shown.currency} />
      </div>
      <div class="made-of">
        <Rails of={shown} />
        <Best of={shown} />
      </div>
    </section>
  )
}

function Sum({ name, currency, days }: { name: string; currency: string; days: Day[] }) {
  const { amount, orders } = sumOf(days)
  return (
    <div>
      <dt class="small soft">{name}</dt>
      <dd>
        <b>{money(amount, currency)}</b> <span class="small soft">{ordersWords(orders)}</span>
      </dd>
    </div>
  )
}

function isThisMonth({ at }: Day): boolean {
  const now = new Date()
  return at.getMonth() === now.getMonth() && at.getFullYear() === now.getFullYear()
}
