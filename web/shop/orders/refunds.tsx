import { moment, money } from '../../ui/format.ts'
import { REFUND_STATES } from './order-words.ts'
import type { Refund } from './orders-api.ts'

export const Refunds = ({ refunds }: { refunds: Refund[] }) =>
  refunds.length === 0 ? null : (
    <section class="stack" aria-labelledby="refunds">
      <h2 id="refunds">Refunds</h2>
      <ul class="rows">
        {refunds.map((refund) => (
          <Row key={refund.id} refund={refund} />
        ))}
      </ul>
    </section>
  )

function Row({ refund: { amount, currency, status, origin, reason, createdAt } }: { refund: Refund }) {
  const [name, tone] = REFUND_STATES[status]
  return (
    <li class="refund-row">
      <span class="number">{money(amount, currency)}</span>
      <span class={`tag ${tone}`}>{name}</span>
      <span class="soft small">
        <time dateTime={createdAt}>{moment(createdAt)}</time>
        {origin === 'dashboard' && ' · made where your payments are taken'}
      </span>
      {reason && <p class="small reason">{reason}</p>}
      {status === 'failed' && <p class="small reason">It did not go through: the money stayed with you.</p>}
    </li>
  )
}
