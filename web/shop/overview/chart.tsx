import { money } from '../../ui/format.ts'
import type { Day } from './days.ts'

const HEIGHT = 100
const STEP = 10
const GAP = 2

const dayName = (at: Date): string => new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' }).format(at)

/** Bars by day. The table below says the same for readers who cannot see the bars. */
export function Chart({ days, currency }: { days: Day[]; currency: string }) {
  const most = Math.max(...days.map(({ amount }) => amount), 1)
  const sold = days.filter(({ orders }) => orders > 0)
  const best = sold.reduce<Day | undefined>((top, day) => (top && top.amount >= day.amount ? top : day), undefined)
  return (
    <div class="chart">
      <p class="small soft chart-most" aria-hidden="true">
        {best ? money(most, currency) : ''}
      </p>
      <p class="unseen">
        {best
          ? `Sales by day. The best day was ${dayName(best.at)} with ${money(best.amount, currency)}.`
          : 'Sales by day. There were none.'}
      </p>
      <svg
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {days.map(({ at, amount, orders }, index) => {
          const height = orders > 0 ? Math.max(2, (amount / most) * HEIGHT) : 0.75
          return (
            <rect
              key={at.getTime()}
              class={orders > 0 ? 'bar-sold' : 'bar-none'}
              x={index * STEP + GAP / 2}
              width={STEP - GAP}
              y={HEIGHT - height}
              height={height}
            >
              <title>{`${dayName(at)}: ${money(amount, currency)}, ${ordersWords(orders)}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="small soft chart-days" aria-hidden="true">
        <span>{dayName(days[0]!.at)}</span>
        <span>{dayName(days[Math.floor(days.length / 2)]!.at)}</span>
        <span>Today</span>
      </p>
      <DaysTable days={sold} currency={currency} />
    </div>
  )
}

const DaysTable = ({ days, currency }: { days: Day[]; currency: string }) => (
  <details class="small">
    <summary>Show as a table</summary>
    <div class="wide">
      <table aria-label="Sales by day">
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="number">
              Orders
            </th>
            <th scope="col" class="number">
              Sold
            </th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map(({ at, amount, orders }) => (
            <tr key={at.getTime()}>
              <th scope="row">{dayName(at)}</th>
              <td class="number">{orders}</td>
              <td class="number">{money(amount, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    <p class="soft">Days without a sale are left out.</p>
  </details>
)

export const ordersWords = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)
