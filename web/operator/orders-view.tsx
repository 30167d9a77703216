import { money, moment } from '../ui/format.ts'
import { useList } from '../shop/load.ts'
import { Head, More, Shown } from '../shop/parts.tsx'
import { STATES } from '../shop/orders/order-words.ts'
import { getOrders } from './api.ts'
import type { ViewProps } from './view-props.ts'
import { SearchForm } from './search-form.tsx'

const OPTIONS = Object.entries(STATES).map(([value, [label]]) => [value, label] as const)

/** The orders of all sellers. */
export function OrdersView({ query }: ViewProps) {
  const [q, status, sellerId] = [query.get('q') ?? '', query.get('status') ?? '', query.get('sellerId') ?? '']
  const list = useList(`${q} ${status} ${sellerId}`, (cursor) => getOrders({ q, status, sellerId }, cursor))
  return (
    <>
      <Head title={sellerId ? 'Orders of one seller' : 'Orders'} />
      <SearchForm
        view="orders"
        label="Search all orders"
        hint="An order number, a buyer’s whole address, or the processor’s id of a payment."
        q={q}
        sellerId={sellerId}
        filter={{ name: 'status', label: 'State', value: status, options: OPTIONS }}
      />
      <Shown of={list}>
        {(orders) =>
          orders.length === 0 ? (
            <p class="soft">No order was found.</p>
          ) : (
            <ul class="rows found">
              {orders.map(({ orderId, amount, currency, email, product, seller, createdAt, status: state }) => (
                <li key={orderId}>
                  <a class="name" href={`#/orders/${orderId}`}>
                    {product}
                  </a>
                  <span class="number">{money(amount, currency)}</span>
                  <p class="small soft">
                    {STATES[state][0]} · {email} · {seller.name} · {moment(createdAt)}
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More list={list} />
    </>
  )
}
