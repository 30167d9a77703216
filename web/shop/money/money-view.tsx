import './money.css'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { moment, money } from '../../ui/format.ts'
import { OneMoment } from '../../ui/one-moment.tsx'
import { useList, useLoad } from '../load.ts'
import { CsvLink } from '../orders/csv-link.tsx'
import { Days, FilterFold, Select } from '../orders/filters-form.tsx'
import { asQuery, getOrder } from '../orders/orders-api.ts'
import { useFilters, type Filters } from '../orders/use-filters.ts'
import { useLast } from '../orders/use-last.ts'
import { Failed, Head, More, Shown } from '../parts.tsx'
import { address } from '../router.ts'
import type { ViewProps } from '../views.ts'
import { Balances } from './balances.tsx'
import { FeeSum } from './fee-explained.tsx'
import { kindName } from './kinds.ts'
import { getBalance, getTransfers, type Balance, type Transfer, type TransferFilters } from './money-api.ts'

type Values = Record<keyof TransferFilters, string>
const NONE: Values = { currency: '', orderId: '', from: '', to: '' }

/** What is yours, and every transfer that made it so. */
export default function MoneyView({ query }: ViewProps): VNode {
  const filters = useFilters<Values>('money', query, NONE)
  const balance = useLoad('balance', getBalance)
  return (
    <>
      <Head title="Money">
        <a class="button" href="/account/">
          Your account
        </a>
      </Head>
      <Shown of={balance}>{({ items }) => <Balances items={items} />}</Shown>
      {balance.value?.items.length === 0 ? null : <Transfers filters={filters} balances={balance.value?.items ?? []} />}
    </>
  )
}

function Transfers({ filters: { values, choose }, balances }: { filters: Filters<Values>; balances: Balance[] }) {
  const list = useList(JSON.stringify(values), (cursor) => getTransfers(values, cursor))
  const last = useLast(list.value)
  const transfers = list.trouble ? list.value : last
  const { currency, orderId, from, to } = values
  const count = [currency, orderId, from, to].filter(Boolean).length
  return (
    <section class="stack transfers" aria-labelledby="transfers">
      <div class="head">
        <h2 id="transfers">Every transfer</h2>
        <CsvLink path="transfers" query={asQuery(values)} name="transfers.csv" />
      </div>
      <FilterFold count={count} onClear={() => choose(NONE)}>
        {(balances.length > 1 || currency) && (
          <Select
            id="currency"
            label="Currency"
            value={currency}
            all="All"
            options={balances.map((one) => [one.currency, one.currency])}
            onValue={(value) => choose({ currency: value })}
          />
        )}
        <Days from={from} to={to} onDays={choose} />
        {orderId && (
          <p class="of-order small">
            Only of the order <code>{orderId}</code>
          </p>
        )}
      </FilterFold>
      {list.trouble ? <Failed trouble={list.trouble} again={list.again} /> : null}
      {!transfers && !list.trouble && <OneMoment />}
      {transfers && transfers.length === 0 && <p class="soft">No transfer fits.</p>}
      {transfers && transfers.length > 0 && (
        <ul class={`rows ${list.value ? '' : 'stale'}`} aria-busy={list.busy ? 'true' : undefined}>
          {transfers.map((transfer) => (
            <Row key={transfer.id} transfer={transfer} />
          ))}
        </ul>
      )}
      <More list={list} />
    </section>
  )
}

function Row({ transfer: { kind, orderId, amount, currency, createdAt } }: { transfer: Transfer }) {
  return (
    <li class="transfer-row">
      <div>
        <p>{kindName(kind)}</p>
        <p class="soft small">
          <time dateTime={createdAt}>{moment(createdAt)}</time> ·{' '}
          <a class="of" href={address('order', orderId)}>
            Order <span class="unseen">{orderId}</span>
            <span aria-hidden="true">…{orderId.slice(-6)}</span>
          </a>
        </p>
      </div>
      <p class={`number ${amount < 0 ? '' : 'plus'}`}>
        {amount < 0 ? '−' : '+'}
        {money(Math.abs(amount), currency)}
      </p>
      {kind === 'fee' && <HowFee orderId={orderId} />}
    </li>
  )
}

/** The order is asked for when somebody wants to know. */
function HowFee({ orderId }: { orderId: string }) {
  const [open, setOpen] = useState(false)
  return (
    <details class="small how" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>How the fee was computed</summary>
      {open && <Computed orderId={orderId} />}
    </details>
  )
}

function Computed({ orderId }: { orderId: string }) {
  const order = useLoad(orderId, () => getOrder(orderId))
  return <Shown of={order}>{({ amount, currency, fee }) => <FeeSum {...{ amount, currency, fee }} />}</Shown>
}
