import './money.css'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { day, moment, money } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/notice.tsx'
import { apiBase } from '../../ui/page-data.ts'
import { useLoad } from '../load.ts'
import { Failed, Head, Shown } from '../parts.tsx'
import { CsvLink } from '../orders/csv-link.tsx'
import { address } from '../router.ts'
import type { ViewProps } from '../views.ts'
import { Line } from './balances.tsx'
import { payoutSentence, payoutTag } from './payout-words.ts'
import { getPayout, type PayoutDetail } from './payouts-api.ts'
import { signed } from './signed.ts'

/** One payout: its state, its items, and its statement. */
export default function PayoutView({ id }: ViewProps): VNode {
  const payout = useLoad(id, () => getPayout(id))
  return (
    <>
      {payout.value === undefined && <Head title="Payout" above={<a href={address('money')}>Money</a>} />}
      <Shown of={payout}>{(value) => <Details payout={value} />}</Shown>
    </>
  )
}

function Details({ payout }: { payout: PayoutDetail }) {
  const { payoutId, status, amount, currency, reference, bankReference } = payout
  const isOwn = payout.by !== 'manual'
  const [label, tone] = payoutTag(payout)
  const needsSeller = !payout.cancelled && (status === 'failed' || status === 'reversed')
  return (
    <>
      <Head title={`Payout of ${money(amount, currency)}`} above={<a href={address('money')}>Money</a>}>
        <span class={`tag ${tone}`}>{label}</span>
      </Head>
      {needsSeller ? (
        <Notice tone="alarm" title={label === 'Failed' ? 'This payout failed' : 'This payout came back'}>
          <p>{payoutSentence(payout)}</p>
          <a href={address('money')}>Check your payout details</a>
        </Notice>
      ) : (
        <p class="lead">{payoutSentence(payout)}</p>
      )}
      <div class="payout-parts">
        <section class="panel stack" aria-labelledby="sum">
          <h2 id="sum">What it is made of</h2>
          <MadeOf payout={payout} />
        </section>
        <section class="panel stack" aria-labelledby="where">
          <h2 id="where">Where it goes</h2>
          <dl class="lines">
            <Line name="To" value={payout.destination} />
            <Line name={isOwn ? 'Made' : 'Approved'} value={moment(payout.createdAt)} />
            {!isOwn && payout.sentAt && <Line name="Sent" value={moment(payout.sentAt)} />}
            {payout.paidAt && <Line name={isOwn ? 'Paid' : 'Confirmed'} value={moment(payout.paidAt)} />}
            {payout.endedAt && <Line name={label} value={moment(payout.endedAt)} />}
          </dl>
          <p class="small soft">
            {isOwn ? 'Number at the processor' : 'Reference on your bank statement'}: <code>{reference}</code>
          </p>
          {bankReference && (
            <p class="small soft">
              {payout.by === 'razorpay-route' ? 'UTR' : 'Trace id'} at your bank: <code>{bankReference}</code>
            </p>
          )}
          <div class="row">
            <a
              class="button"
              href={`${apiBase}/api/payouts/${encodeURIComponent(payoutId)}/statement.pdf`}
              download={`payout-${reference}.pdf`}
            >
              <Icon name="download" />
              Statement as PDF
            </a>
            <CsvLink path={`payouts/${encodeURIComponent(payoutId)}`} query={{}} name={`payout-${reference}.csv`} />
          </div>
        </section>
      </div>
      <Orders key={payoutId} first={payout} />
    </>
  )
}

/** The sum, line by line, as on the statement. */
function MadeOf({ payout }: { payout: PayoutDetail }) {
  const isBack = payout.status === 'failed' || payout.status === 'reversed'
  const { currency, carried, sales, fees, refunds, disputes, others, left, amount } = payout
  return (
    <dl class="lines">
      {carried !== 0 && <Line name="Carried over from earlier payouts" value={signed(carried, currency)} />}
      <Line name="Sales" value={money(sales, currency)} />
      <Line name="Fees" value={signed(fees, currency)} />
      {refunds !== 0 && <Line name="Refunds" value={signed(refunds, currency)} />}
      {disputes !== 0 && <Line name="Disputes" value={signed(disputes, currency)} />}
      {others.map(({ at, what, amount: minor }) => (
        <Line key={`${at} ${what}`} name={what} value={signed(minor, currency)} />
      ))}
      {left !== 0 && <Line name="Left for the next payout" value={signed(-left, currency)} />}
      <Line
        name={payout.cancelled ? 'Cancelled' : isBack ? 'Came back' : 'Paid out'}
        value={money(amount, currency)}
        total
      />
    </dl>
  )
}

function Orders({ first }: { first: PayoutDetail }) {
  const [{ orders, cursor }, setShown] = useState({ orders: first.orders, cursor: first.nextCursor })
  const [state, setState] = useState<{ busy: boolean; trouble?: unknown }>({ busy: false })
  const more = async () => {
    if (state.busy || !cursor) return
    setState({ busy: true })
    try {
      const page = await getPayout(first.payoutId, cursor)
      setShown({ orders: [...orders, ...page.orders], cursor: page.nextCursor })
      setState({ busy: false })
    } catch (trouble) {
      setState({ busy: false, trouble })
    }
  }
  if (first.orderCount === 0) return null
  return (
    <section class="stack" aria-labelledby="orders">
      <h2 id="orders">{first.orderCount === 1 ? '1 order' : `${first.orderCount} orders`}</h2>
      <ul class="rows" aria-label="Orders of this payout">
        {orders.map((order) => (
          <OrderRow key={order.orderId} order={order} currency={first.currency} />
        ))}
      </ul>
      {state.trouble ? <Failed trouble={state.trouble} /> : null}
      {cursor && (
        <div class="more">
          <button
            type="button"
            class="button"
            aria-disabled={state.busy ? 'true' : undefined}
            onClick={() => void more()}
          >
            {state.busy && <span class="spinner" aria-hidden="true" />}
            Show more
          </button>
        </div>
      )}
    </section>
  )
}

interface OrderRowProps {
  order: PayoutDetail['orders'][number]
  currency: string
}

function OrderRow({ order: { orderId, soldAt, product, sale, fee, refunds, disputes, net }, currency }: OrderRowProps) {
  const parts: [string, number][] = [
    ['Sale', sale],
    ['Fee', fee],
    ['Refunds', refunds],
    ['Disputes', disputes],
  ]
  return (
    <li class="payout-order">
      <div>
        <a class="name" href={address('order', orderId)}>
          {product}
        </a>
        <p class="small soft">
          Sold on {day(soldAt)} · <span class="unseen">{orderId}</span>
          <span aria-hidden="true">…{orderId.slice(-6)}</span>
        </p>
      </div>
      <p class="small soft parts">
        {parts
          .filter(([, minor]) => minor !== 0)
          .map(([name, minor]) => `${name} ${signed(minor, currency)}`)
          .join(' · ')}
      </p>
      <p class="number net">{signed(net, currency)}</p>
    </li>
  )
}
