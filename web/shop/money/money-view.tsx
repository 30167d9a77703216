import '../overview/overview.css'
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
import { AccountPart } from './account-part.tsx'
import { Balances } from './balances.tsx'
import { FeeSum } from './fee-explained.tsx'
import { DetailsPart } from './details/details-part.tsx'
import { kindName } from './kinds.ts'
import { getBalance, getTransfers, type Balance, type Transfer, type TransferFilters } from './money-api.ts'
import { getDetails, getHistory, getNext } from './payouts-api.ts'
import { PayoutsPart } from './payouts-part.tsx'
import { signed } from './signed.ts'
import { TaxPart } from './tax-part.tsx'

type Values = Record<keyof TransferFilters, string>
const NONE: Values = { currency: '', orderId: '', from: '', to: '' }

/** The seller's balances and payouts, where they go, and every transfer behind them. */
export default function MoneyView({ query }: ViewProps): VNode {
  const filters = useFilters<Values>('money', query, NONE)
  const balance = useLoad('balance', getBalance)
  const next = useLoad('next', getNext)
  const history = useLoad('history', getHistory)
  const details = useLoad('details', getDetails)
  const items = balance.value?.items
  const by = next.value?.by
  // The money of a seller’s own account is not in the balance, so an empty balance says nothing there.
  const isOwn = by !== undefined && by !== 'manual'
  const hasAny = isOwn || (items !== undefined && items.length > 0)
  // The parts below wait for these, or for the news that they do not come.
  const isKnown = [next, history].every(({ value, trouble }) => value !== undefined || trouble !== undefined)
  return (
    <>
      <Head title="Money" />
      {next.trouble ? <Failed trouble={next.trouble} again={next.again} /> : null}
      {history.trouble ? <Failed trouble={history.trouble} again={history.again} /> : null}
      {isOwn && <AccountPart isTold={by === 'razorpay-route'} />}
      <Shown of={isKnown ? balance : { ...balance, value: undefined }}>
        {({ items: balances }) =>
          by !== 'manual' && balances.length === 0 ? null : (
            <Balances items={balances} next={next.value} history={history.value?.items} />
          )
        }
      </Shown>
      {by && hasAny && <PayoutsPart />}
      {/* the operator pays by bank what could not be passed on, and what is left from before */}
      {by && (by === 'manual' || items?.some(({ balance: owed }) => owed > 0)) && items && (
        <DetailsPart details={details} currencies={items.map(({ currency }) => currency)} onChange={next.again} />
      )}
      <TaxPart />
      {by && hasAny && <Transfers filters={filters} balances={items ?? []} />}
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
      {transfers && transfers.length === 0 && <p class="soft">No transfer matches.</p>}
      {transfers && transfers.length > 0 && (
        <div class={list.value ? undefined : 'stale'} aria-busy={list.busy ? 'true' : undefined}>
          <p class="moment moment-names small" aria-hidden="true">
            <span>When</span>
            <span class="entry">
              <span>What</span>
              <span>Amount</span>
            </span>
            {!orderId && <span class="number">Balance</span>}
          </p>
          <ul class="rows" aria-label="Transfers, the newest first">
            {momentsOf(transfers).map((moment) => (
              <Moment key={moment[0]!.id} transfers={moment} />
            ))}
          </ul>
        </div>
      )}
      <More list={list} />
    </section>
  )
}

/**
 * The transfers that were booked at once: a sale and its fee. They are in the order of booking and share one balance.
 */
function momentsOf(transfers: Transfer[]): Transfer[][] {
  const moments: Transfer[][] = []
  for (const transfer of transfers) {
    const last = moments.at(-1)
    const before = last?.[0]
    const isOfIt =
      before?.orderId === transfer.orderId &&
      before.payoutId === transfer.payoutId &&
      before.createdAt === transfer.createdAt &&
      before.currency === transfer.currency
    if (isOfIt) last!.push(transfer)
    else moments.push([transfer])
  }
  return moments
}

function Moment({ transfers }: { transfers: Transfer[] }) {
  const [{ orderId, payoutId, currency, createdAt, balance }] = transfers as [Transfer]
  return (
    <li class="moment">
      <p class="soft small">
        <time dateTime={createdAt}>{moment(createdAt)}</time>{' '}
        {orderId && (
          <a class="of" href={address('order', orderId)}>
            Order <span class="unseen">{orderId}</span>
            <span aria-hidden="true">…{orderId.slice(-6)}</span>
          </a>
        )}
        {payoutId?.startsWith('po_') && (
          <a class="of" href={address('payout', payoutId)}>
            Payout <span class="unseen">{payoutId}</span>
            <span aria-hidden="true">…{payoutId.slice(-6)}</span>
          </a>
        )}
      </p>
      <div class="entries">
        {transfers.map(({ id, kind, amount }) => (
          <div key={id} class="entry">
            <span>{kindName(kind)}</span>
            <span class={`number ${amount < 0 ? '' : 'plus'}`}>
              {amount < 0 ? '−' : '+'}
              {money(Math.abs(amount), currency)}
            </span>
            {kind === 'fee' && orderId && <HowFee orderId={orderId} />}
          </div>
        ))}
      </div>
      {balance !== undefined && (
        <p class="number balance">
          <span class="balance-name soft small">Balance </span>
          {signed(balance, currency)}
        </p>
      )}
    </li>
  )
}

/** The page asks for the order only when the seller opens it. */
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
  return <Shown of={order}>{({ amount, currency, fee }) => <FeeSum {...{ amount, currency, fee: fee ?? 0 }} />}</Shown>
}
