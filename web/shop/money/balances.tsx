import { money } from '../../ui/format.ts'
import { Bars } from '../bar-chart.tsx'
import { Empty } from '../parts.tsx'
import { address } from '../router.ts'
import type { Balance } from './money-api.ts'
import { calendarDay, nextWords } from './payout-words.ts'
import type { BalanceDays, NextPayouts } from './payouts-api.ts'
import { signed } from './signed.ts'

interface BalancesProps {
  items: Balance[]
  next: NextPayouts | undefined
  history: BalanceDays[] | undefined
}

/** The seller's balances by currency. They are never added up. */
export const Balances = ({ items, next, history }: BalancesProps) =>
  items.length === 0 ? (
    <Empty title="No money has moved yet.">
      <p class="soft">
        With the first sale, this page shows your balance, your payouts and every transfer to the cent.
      </p>
      <a class="button" href={address('products')}>
        Share a product’s link
      </a>
    </Empty>
  ) : (
    <ul class="balances">
      {items.map((one) => (
        <One
          key={one.currency}
          balance={one}
          next={next}
          history={history?.find(({ currency }) => currency === one.currency)}
        />
      ))}
    </ul>
  )

/** Sales at the seller's own account at Stripe do not reach this balance. At Razorpay the service itself tries to take a debt back. */
function owedSentence(next: NextPayouts | undefined): string {
  if (next?.by === 'manual') return 'You owe this. Your next sales make up for it.'
  return next?.by === 'stripe-connect'
    ? 'You owe this. Please settle it with the operator of this service.'
    : 'You owe this.'
}

interface OneProps {
  balance: Balance
  next: NextPayouts | undefined
  history: BalanceDays | undefined
}

function One({ balance: one, next, history }: OneProps) {
  const { currency, balance, available, pending, refunding, onTheWay } = one
  return (
    <li class="panel balance-panel">
      <div class="stack">
        <div>
          <h2 class="small soft">Balance in {currency}</h2>
          <p class={`sum ${balance < 0 ? 'owed' : ''}`}>{signed(balance, currency)}</p>
          {balance < 0 && <p class="small">{owedSentence(next)}</p>}
        </div>
        <dl class="lines">
          <Line name="Available" value={signed(available, currency)} />
          <Line name="Pending" value={signed(pending, currency)} />
          {refunding > 0 && <Line name="In refunds under way" value={money(refunding, currency)} />}
          {onTheWay > 0 && <Line name="On its way to your bank" value={money(onTheWay, currency)} />}
        </dl>
        <Pending balance={one} />
        <MadeOf balance={one} />
      </div>
      <div class="stack">
        <NextOne currency={currency} next={next} />
        {history && <BalanceChart history={history} />}
      </div>
    </li>
  )
}

/** When which part of the pending money becomes available. */
function Pending({ balance: { currency, pendingBy } }: { balance: Balance }) {
  if (pendingBy.length === 0) return null
  return (
    <details class="small">
      <summary>When pending money becomes available</summary>
      <dl class="lines dates">
        {pendingBy.map(({ on, amount }) => (
          <Line key={on} name={calendarDay(on)} value={signed(amount, currency)} />
        ))}
      </dl>
    </details>
  )
}

function MadeOf({ balance: { currency, sales, fees, refunds, disputes, payouts, adjustments } }: { balance: Balance }) {
  const minus = (minor: number) => signed(-minor, currency)
  return (
    <details class="small">
      <summary>What the balance is made of</summary>
      <dl class="lines dates">
        <Line name="Sales" value={money(sales, currency)} />
        <Line name="Refunds" value={minus(refunds)} />
        <Line name="Disputes" value={minus(disputes)} />
        <Line name="Fees, less returned" value={minus(fees)} />
        <Line name="Paid out" value={minus(payouts)} />
        {adjustments !== 0 && <Line name="Adjustments" value={signed(adjustments, currency)} />}
      </dl>
    </details>
  )
}

function NextOne({ currency, next }: { currency: string; next: NextPayouts | undefined }) {
  const own = next?.items.find((item) => item.currency === currency)
  if (!next || !own || next.by !== 'manual') return null
  const { title, text } = nextWords(own, next)
  return (
    <section class="next" aria-label={`Next payout in ${currency}`}>
      <h3 class="small soft">Next payout</h3>
      <p class="name">{title}</p>
      <p class="small soft">{text}</p>
      {own.blocked === 'no_details' && (
        <button type="button" class="link" onClick={showDetails}>
          Add your payout details
        </button>
      )}
    </section>
  )
}

function showDetails(): void {
  const heading = document.getElementById('payout-details-title')
  heading?.scrollIntoView()
  heading?.focus({ preventScroll: true })
}

const BalanceChart = ({ history: { currency, days } }: { history: BalanceDays }) => (
  <Bars
    title={`Balance in ${currency}`}
    interval="day"
    bars={days.map(({ on, balance }) => ({ at: `${on}T00:00:00Z`, value: balance, said: signed(balance, currency) }))}
  />
)

export const Line = ({ name, value, total }: { name: string; value: string; total?: boolean }) => (
  <div class={total ? 'total' : undefined}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
