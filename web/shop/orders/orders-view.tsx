import './orders.css'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Rail, Status } from '../../ui/api.ts'
import { day, moment, money } from '../../ui/format.ts'
import { RAIL_NAMES } from '../../ui/words.ts'
import { getProducts } from '../api.ts'
import { useList, useLoad } from '../load.ts'
import { Empty, Failed, Head, More } from '../parts.tsx'
import { OneMoment } from '../../ui/one-moment.tsx'
import { address } from '../router.ts'
import type { ViewProps } from '../views.ts'
import { CsvLink } from './csv-link.tsx'
import { Days, FilterFold, Select } from './filters-form.tsx'
import { STATES, stateOf } from './order-words.ts'
import { asQuery, getOrders, type Order, type OrderFilters } from './orders-api.ts'
import { useFilters } from './use-filters.ts'
import { useLast } from './use-last.ts'

const NONE = { q: '', status: '', productId: '', rail: '', from: '', to: '' } satisfies Record<
  keyof OrderFilters,
  string
>

/** Every order, with a search and filters. */
export default function OrdersView({ query }: ViewProps): VNode {
  const { values, choose, type } = useFilters<Record<keyof OrderFilters, string>>('orders', query, NONE)
  const wanted = values as unknown as OrderFilters
  const list = useList(JSON.stringify(values), (cursor) => getOrders(wanted, cursor))
  const last = useLast(list.value)
  const orders = list.trouble ? list.value : last
  const isFiltered = Object.values(values).some((value) => value !== '')
  // Without a single order there is nothing to search.
  const isNew = !isFiltered && list.value?.length === 0
  return (
    <>
      <Head title="Orders">{!isNew && <CsvLink path="orders" query={asQuery(values)} name="orders.csv" />}</Head>
      {!isNew && (
        <search class="stack search">
          <SearchField value={values.q} onValue={(q) => type({ q })} />
          <OrderFilterFold values={wanted} choose={choose} />
        </search>
      )}
      {list.trouble ? <Failed trouble={list.trouble} again={list.again} /> : null}
      {!orders && !list.trouble && <OneMoment />}
      {orders && (
        <div class={list.value ? undefined : 'stale'} aria-busy={list.busy ? 'true' : undefined}>
          {orders.length > 0 ? (
            <ul class="rows orders">
              {orders.map((order) => (
                <Row key={order.orderId} order={order} />
              ))}
            </ul>
          ) : (
            <Nothing isFiltered={isFiltered} onClear={() => choose(NONE)} />
          )}
        </div>
      )}
      <More list={list} />
      <output class="unseen">{list.value && !list.busy && found(list.value.length, list.more !== undefined)}</output>
    </>
  )
}

function SearchField({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const [text, setText] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  // The search in the address counts, unless the seller is typing a newer one.
  useEffect(() => {
    if (document.activeElement !== input.current || value === '') setText(value)
  }, [value])
  return (
    <div class="field">
      <label for="q">Search</label>
      <input
        id="q"
        ref={input}
        type="search"
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        maxLength={200}
        placeholder="E-mail, order number or product"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          onValue(event.currentTarget.value.trim())
        }}
      />
    </div>
  )
}

interface FoldProps {
  values: OrderFilters
  choose: (change: Partial<Record<keyof OrderFilters, string>>) => void
}

function OrderFilterFold({ values: { q, status, productId, rail, from, to }, choose }: FoldProps) {
  // Above a hundred products the seller finds them by name, in the search field.
  const products = useLoad('products', () => getProducts({ limit: 100 }))
  const named = (products.value?.items ?? []).map(({ id, name }): [string, string] => [id, name])
  const options = !productId || named.some(([id]) => id === productId) ? named : [...named, pair(productId)]
  return (
    <FilterFold
      count={[status, productId, rail, from, to].filter(Boolean).length}
      onClear={() => choose({ ...NONE, q })}
    >
      <Select
        id="status"
        label="State"
        value={status}
        all="All"
        options={(Object.keys(STATES) as Status[]).map((name) => [name, STATES[name][0]])}
        onValue={(value) => choose({ status: value })}
      />
      <Select
        id="product"
        label="Product"
        value={productId}
        all="All"
        options={options}
        onValue={(value) => choose({ productId: value })}
      />
      {products.trouble ? <Failed trouble={products.trouble} again={products.again} /> : null}
      <Select
        id="rail"
        label="Paid with"
        value={rail}
        all="Anything"
        options={(Object.keys(RAIL_NAMES) as Rail[]).map((name) => [name, RAIL_NAMES[name]])}
        onValue={(value) => choose({ rail: value })}
      />
      <Days from={from} to={to} onDays={choose} />
    </FilterFold>
  )
}

const pair = (text: string): [string, string] => [text, text]

function Row({ order }: { order: Order }) {
  const { orderId, email, amount, currency, product, rail, createdAt, paidAt, receipt } = order
  const backAmount = order.refundedAmount + (order.chargedBackAmount ?? 0)
  const [name, tone] = stateOf(order)
  return (
    <li class="order-row">
      <div class="who">
        <a href={address('order', orderId)}>{email}</a>
        <p class="soft small">{product.name}</p>
      </div>
      <p class="tags">
        <span class={`tag ${tone}`}>{name}</span>
        {receipt === 'bounced' && <span class="tag bad">Receipt bounced</span>}
        {receipt === 'held' && <span class="tag">Receipt not mailed</span>}
      </p>
      <p class="when soft small">
        <time dateTime={createdAt}>{moment(createdAt)}</time>{' '}
        {paidAt && day(paidAt) !== day(createdAt) && (
          <span class="paid">
            · paid <time dateTime={paidAt}>{day(paidAt)}</time>
          </span>
        )}
        {rail && <span> · {RAIL_NAMES[rail]}</span>}
      </p>
      <p class="number">
        {amount === 0 ? 'Free' : money(amount, currency)}
        {backAmount > 0 && <span class="soft small">−{money(backAmount, currency)}</span>}
      </p>
    </li>
  )
}

const Nothing = ({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) =>
  isFiltered ? (
    <Empty title="No order matches.">
      <p class="soft">An address is found by its beginning, a product by any word of its name.</p>
      <button type="button" class="button" onClick={onClear}>
        Show all orders
      </button>
    </Empty>
  ) : (
    <Empty title="No orders yet.">
      <p class="soft">They appear here as soon as somebody begins to buy.</p>
      <a class="button" href={address('products')}>
        Share a product’s link
      </a>
    </Empty>
  )

const found = (count: number, more: boolean): string =>
  count === 0 ? 'Nothing found.' : `${count}${more ? ' or more' : ''} ${count === 1 ? 'order' : 'orders'}.`
