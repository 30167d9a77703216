import { fullPriceOf } from '../../../src/kit/money.ts'
import { shortNumber } from '../../../src/kit/order-number.ts'
import { moment, money, percent } from '../../ui/format.ts'
import { RAIL_NAMES } from '../../ui/words.ts'
import { FeeExplained } from '../money/fee-explained.tsx'
import { sumsByKind } from '../money/kinds.ts'
import { address } from '../router.ts'
import type { OrderDetail } from './orders-api.ts'

/** The order on paper: the price paid, the deductions, and the rest. */
export function OrderSlip({ order }: { order: OrderDetail }) {
  const { orderId, email, rail, createdAt, paidAt, statementDescriptor, orderUrl, transfers, currency } = order
  return (
    <aside class="slip-shadow" aria-label="Amounts">
      <div class="slip stack">
        <dl class="lines">
          <Sums order={order} />
        </dl>
        {transfers.length > 0 && (
          <>
            <FeeExplained amount={order.amount} currency={currency} fee={order.fee ?? 0} />
            <p class="small">
              <a href={address('money', '', { orderId })}>Every transfer of this order</a>
            </p>
          </>
        )}
        <dl class="lines facts">
          {paidAt ? <Line name="Paid" value={moment(paidAt)} /> : <Line name="Ordered" value={moment(createdAt)} />}
          {rail && <Line name="Paid with" value={RAIL_NAMES[rail]} />}
          <Line name="Buyer" value={email} wide />
          {order.onStatement !== false && <Line name="On the statement" value={statementDescriptor} wide mono />}
          <Line name="Order number" value={`${shortNumber(orderId)} ${orderId}`} wide mono />
          {order.clientReferenceId !== undefined && (
            <Line name="Your reference" value={order.clientReferenceId} wide mono />
          )}
          {Object.entries(order.metadata ?? {}).map(([name, value]) => (
            <Line key={name} name={name} value={value} wide mono />
          ))}
        </dl>
        <p class="small">
          <a href={orderUrl} target="_blank" rel="noopener">
            What the buyer sees
          </a>
        </p>
      </div>
    </aside>
  )
}

function Sums({ order }: { order: OrderDetail }) {
  const { amount, currency, discountAmount, discountCode, transfers, netAmount, paidAt } = order
  const fullPrice = fullPriceOf(amount, discountAmount, order.tax?.amount)
  const signed = (minor: number) => (minor < 0 ? `−${money(-minor, currency)}` : money(minor, currency))
  return (
    <>
      {fullPrice !== undefined && <Line name="Price" value={money(fullPrice, currency)} />}
      {discountAmount !== undefined && discountAmount > 0 && (
        <Line name={discountCode ? `Code ${discountCode}` : 'Discount'} value={`−${money(discountAmount, currency)}`} />
      )}
      <Line
        name={paidAt && amount > 0 ? 'Paid by the buyer' : 'Price'}
        value={amount === 0 ? 'Free' : money(amount, currency)}
      />
      <Tax order={order} />
      {sumsByKind(transfers)
        .filter(({ group }) => group !== 'sale')
        .map(({ name, minor }) => (
          <Line key={name} name={name} value={signed(minor)} />
        ))}
      {transfers.length > 0 && (
        <div class="total">
          <dt>You keep</dt>
          <dd>{signed(netAmount)}</dd>
        </div>
      )}
    </>
  )
}

/** The tax within the price, and the VAT number of a business. */
function Tax({ order: { tax, currency } }: { order: OrderDetail }) {
  if (!tax) return null
  const { amount, rate, country, treatment, buyerTaxId } = tax
  return (
    <>
      {amount > 0 && <Line name={`Including tax (${country} ${percent(rate)})`} value={money(amount, currency)} />}
      {buyerTaxId && <Line name="The buyer’s tax id" value={buyerTaxId.id} mono />}
      {treatment === 'reverse_charge' && <Line name="Reverse charge" value="The buyer owes the tax." wide />}
    </>
  )
}

const Line = ({ name, value, wide, mono }: { name: string; value: string; wide?: boolean; mono?: boolean }) => (
  <div class={wide ? 'wide' : undefined}>
    <dt>{name}</dt>
    <dd class={mono ? 'mono' : undefined}>{value}</dd>
  </div>
)
