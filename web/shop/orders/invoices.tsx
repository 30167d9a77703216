import { money, moment } from '../../ui/format.ts'
import { OneMoment } from '../../ui/one-moment.tsx'
import { fromApi } from '../../ui/page-data.ts'
import { get, type List } from '../api.ts'
import { useLoad } from '../load.ts'
import type { Invoice } from '../../../src/invoices/schema.ts'
import type { OrderDetail } from './orders-api.ts'
import { useLast } from './use-last.ts'

const KINDS = { invoice: 'Invoice', credit_note: 'Credit note', correction: 'Corrected invoice' }
/** The states of the buyer's tax id in the EU's register. */
const STATES = {
  valid: 'valid by VIES',
  invalid: 'not valid by VIES',
  unavailable: 'VIES has not answered yet',
  unchecked: 'checked by its digits',
}

/** The invoice of an order with all that followed it. Nothing for a seller without invoices. */
export function Invoices({ order }: { order: OrderDetail }) {
  // another refund or state may have brought another document
  const place = `${order.orderId} ${order.timeline.length}`
  const { value, trouble } = useLoad(place, () => get<List<Invoice>>('invoices', { orderId: order.orderId }))
  const last = useLast(value)
  if (!last && !trouble) return <OneMoment />
  if (!last || last.items.length === 0) return null
  return (
    <section class="stack tight">
      <h2>Invoices</h2>
      <ul class="stack tight">
        {last.items.map(({ invoiceId, kind, number, url, amount, currency, issuedAt, buyer }) => (
          <li key={invoiceId}>
            <a class="link" href={fromApi(url)} target="_blank" rel="noopener">
              {KINDS[kind]} {number} (PDF)
            </a>
            <p class="soft small">
              {money(amount, currency)} · {moment(issuedAt)}
              {buyer.name && (
                <>
                  {' '}
                  · <bdi>{buyer.name}</bdi>
                </>
              )}
              {buyer.taxId && ` · ${buyer.taxId}, ${STATES[buyer.taxIdState ?? 'unchecked']}`}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}
