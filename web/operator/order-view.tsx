import { useState } from 'preact/hooks'
import { money, moment } from '../ui/format.ts'
import { TextField } from '../ui/text-field.tsx'
import { useLoad } from '../shop/load.ts'
import { STATES } from '../shop/orders/order-words.ts'
import { Timeline } from '../shop/orders/timeline.tsx'
import { OPERATOR_REFUND } from '../shop/drafts.ts'
import { useKeptRequest } from '../shop/kept-request.ts'
import { Head, Shown } from '../shop/parts.tsx'
import { amountIn } from '../shop/products/typed-amount.ts'
import { Unanswered } from '../shop/unanswered.tsx'
import { type OperatorOrder, getOrder, refundOrder, request } from './api.ts'
import { Doing } from './doing.tsx'
import { Entries } from './log-view.tsx'
import type { ViewProps } from './view-props.ts'

/** An order of any seller: its history, its payments, and the operator's actions. */
export function OrderView({ id }: ViewProps) {
  const order = useLoad(id, () => getOrder(id))
  return <Shown of={order}>{(value) => <Details order={value} again={order.again} />}</Shown>
}

function Details({ order, again }: { order: OperatorOrder; again: () => void }) {
  const [changes, setChanges] = useState(0)
  const done = () => {
    setChanges(changes + 1)
    again()
  }
  const { orderId, email, seller, amount, currency, status, createdAt, paidAt, timeline, payments } = order
  return (
    <>
      <Head title={order.product.name} above={<a href="#/orders">Orders</a>}>
        <span class={`tag ${STATES[status][1]}`}>{STATES[status][0]}</span>
      </Head>
      <dl class="panel facts">
        <dt>Order</dt>
        <dd>{orderId}</dd>
        <dt>Price</dt>
        <dd>{money(amount, currency)}</dd>
        <dt>Buyer</dt>
        <dd>{email}</dd>
        <dt>Seller</dt>
        <dd>
          <a href={`#/sellers/${seller.id}`}>{seller.name}</a>, {seller.email}
        </dd>
        <dt>Made</dt>
        <dd>{moment(createdAt)}</dd>
        {paidAt && <dt>Paid</dt>}
        {paidAt && <dd>{moment(paidAt)}</dd>}
      </dl>
      <section class="stack" aria-labelledby="doing">
        <h2 id="doing">What you can do</h2>
        <Actions order={order} onDone={done} />
      </section>
      <section class="stack" aria-labelledby="payments">
        <h2 id="payments">Payments</h2>
        <Payments items={payments} />
      </section>
      {order.files.length > 0 && (
        <section class="stack" aria-labelledby="files">
          <h2 id="files">Files</h2>
          <ul class="rows found">
            {order.files.map((file) => (
              <li key={file.id}>
                <span class="whole">{file.name}</span>
                <Recall fileId={file.id} name={file.name} onDone={done} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="stack" aria-labelledby="history">
        <h2 id="history">History</h2>
        <Timeline timeline={timeline} />
      </section>
      <Entries key={changes} subject={orderId} />
    </>
  )
}

function Actions({ order, onDone }: { order: OperatorOrder; onDone: () => void }) {
  const { orderId, status, paidAt, currency, amount, payments } = order
  const held = payments.flatMap(heldOf)
  const isWaiting = status === 'needs_review'
  const post = (what: string, body: object = {}) => request('POST', `orders/${orderId}/${what}`, body)
  if (isWaiting && held.length === 0) return <p class="soft">The money is back, on its way back, or disputed.</p>
  if (!isWaiting && !paidAt) return <p class="soft">This order was not paid.</p>
  return (
    <div class="row">
      {isWaiting &&
        held
          .filter((one) => one.currency === currency)
          .map((one) => (
            <Doing
              key={one.id}
              label={`Accept ${money(one.amount, currency)}`}
              question={`Accept ${money(one.amount, currency)} as the price?`}
              work={() => post('accept', { captureId: one.id }).then(() => 'Accepted.')}
              onDone={onDone}
            >
              <p>
                The price was {money(amount, currency)}. The order is paid then, and the buyer gets the files and the
                receipt.
              </p>
            </Doing>
          ))}
      {held.length > 0 && (
        <Doing
          label={isWaiting ? 'Send the money back' : 'Send the other payment back'}
          question="Send all of it back?"
          grave
          work={() => post('send-back').then(() => 'It goes back.')}
          onDone={onDone}
        >
          <p>
            {held.map((one) => money(one.left, one.currency)).join(' and ')} goes back to {order.email}, who gets a
            mail.{!isWaiting && ' The order stays as it is.'}
          </p>
        </Doing>
      )}
      {(status === 'paid' || status === 'partially_refunded') && amount > 0 && <Refund order={order} onDone={onDone} />}
      {paidAt && (
        <Doing
          label="Send the receipt again"
          question="Send the receipt again?"
          work={() => post('receipt').then(() => 'Sent.')}
          onDone={onDone}
        >
          <p>It goes to {order.email}.</p>
        </Doing>
      )}
    </div>
  )
}

/** The payments that are not the sale and can go back: no bank decides about them. */
const heldOf = ({ captures, disputes }: OperatorOrder['payments'][number]) =>
  disputes.some(({ state }) => state === 'open')
    ? []
    : captures.filter(({ purpose, left }) => purpose !== 'sale' && left > 0)

function Refund({ order: { orderId, currency }, onDone }: { order: OperatorOrder; onDone: () => void }) {
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [tries, setTries] = useState(0)
  const { unanswered, send } = useKeptRequest<{ amount?: number; reason: string }>(OPERATOR_REFUND + orderId)
  const amount = typed.trim() === '' ? undefined : amountIn(typed, currency)
  const isWrong = typed.trim() !== '' && !(amount !== undefined && amount > 0)
  const check = () => {
    setTries(tries + 1)
    return unanswered !== undefined || !isWrong
  }
  const work = async () => {
    const wish = { ...(amount !== undefined && { amount }), reason: reason.trim() }
    await send(wish, (kept) => refundOrder(orderId, kept))
    return 'The refund was requested.'
  }
  return (
    <Doing label="Refund" question="Refund this order?" grave check={check} work={work} onDone={onDone}>
      <p>The money comes from the seller’s balance. A refund of all of it ends the buyer’s files.</p>
      {unanswered ? (
        <Unanswered
          what="refund"
          amount={unanswered.amount === undefined ? 'all that was left' : money(unanswered.amount, currency)}
        />
      ) : (
        <>
          <TextField
            id="refund-amount"
            label={`Amount in ${currency}`}
            hint="Empty: all that is left."
            value={typed}
            onValue={setTyped}
            fault={isWrong ? 'Please enter an amount such as 12.50.' : undefined}
            tries={tries}
            input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 30 }}
          />
          <TextField
            id="refund-reason"
            label="Reason"
            hint="The seller reads it, and the buyer does not."
            value={reason}
            onValue={setReason}
            input={{ autoComplete: 'off', maxLength: 480 }}
          />
        </>
      )}
    </Doing>
  )
}

function Recall({ fileId, name, onDone }: { fileId: string; name: string; onDone: () => void }) {
  const [reason, setReason] = useState('')
  const work = () => request('POST', `files/${fileId}/recall`, { reason }).then(() => 'Recalled.')
  return (
    <Doing label="Recall" question={`Recall ${name} for good?`} grave work={work} onDone={onDone}>
      <p>No buyer can download it again, including those who paid. They get a mail with the reason.</p>
      <TextField
        id="recall-reason"
        label="Reason"
        hint="The buyers read it."
        value={reason}
        onValue={setReason}
        input={{ autoComplete: 'off', maxLength: 500 }}
      />
    </Doing>
  )
}

const PURPOSES = { sale: 'the sale', duplicate: 'a second payment', mismatch: 'held: another amount' }

const Payments = ({ items }: { items: OperatorOrder['payments'] }) =>
  items.length === 0 ? (
    <p class="soft">There is no payment.</p>
  ) : (
    <ul class="rows">
      {items.map(({ processor, processorPaymentId, state, captures, disputes, createdAt }) => (
        <li key={createdAt} class="stack tight">
          <p>
            <b>{processor}</b> <span class="whole">{processorPaymentId ?? 'not started'}</span>
          </p>
          <p class="small soft">
            {state} · {moment(createdAt)}
          </p>
          {captures.map((one) => (
            <p key={one.id} class="small">
              {money(one.amount, one.currency)}, {PURPOSES[one.purpose]} <span class="whole soft">{one.id}</span>
            </p>
          ))}
          {disputes.map((one) => (
            <p key={one.id} class="small">
              Dispute <span class="whole soft">{one.id}</span>: {one.state}
              {one.respondBy && `, answer until ${moment(one.respondBy)}`}
            </p>
          ))}
        </li>
      ))}
    </ul>
  )
