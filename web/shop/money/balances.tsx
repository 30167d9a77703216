import { money } from '../../ui/format.ts'
import { Empty } from '../parts.tsx'
import { address } from '../router.ts'
import type { Balance } from './money-api.ts'

/** The seller's balances by currency. They are never added up. */
export const Balances = ({ items }: { items: Balance[] }) =>
  items.length === 0 ? (
    <Empty title="No money has moved yet.">
      <p class="soft">With the first sale, this page shows your balance and every transfer to the cent.</p>
      <a class="button" href={address('products')}>
        Share a product’s link
      </a>
    </Empty>
  ) : (
    <ul class="balances">
      {items.map((one) => (
        <One key={one.currency} balance={one} />
      ))}
    </ul>
  )

function One({ balance: { currency, balance, sales, fees, refunds, disputes } }: { balance: Balance }) {
  const minus = (minor: number) => (minor > 0 ? `−${money(minor, currency)}` : money(Math.abs(minor), currency))
  return (
    <li class="panel stack">
      <div>
        <h2 class="small soft">Balance in {currency}</h2>
        <p class="sum">{balance < 0 ? `−${money(-balance, currency)}` : money(balance, currency)}</p>
      </div>
      <dl class="lines">
        <Line name="Sales" value={money(sales, currency)} />
        <Line name="Refunds" value={minus(refunds)} />
        <Line name="Disputes" value={minus(disputes)} />
        <Line name="Fees, less returned" value={minus(fees)} />
      </dl>
    </li>
  )
}

const Line = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
