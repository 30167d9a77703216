import { fullPriceOf } from '../../src/kit/money.ts'
import { shortNumber } from '../../src/kit/order-number.ts'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Download, OrderStatus } from '../ui/api.ts'
import { type Seller, SellerLinks, wear } from '../ui/brand.tsx'
import { Files } from '../ui/files.tsx'
import { moment, money, percent } from '../ui/format.ts'
import { isFullRefundPending } from '../ui/full-refund.ts'
import { placeOf } from '../ui/my-orders.ts'
import { Notice } from '../ui/notice.tsx'
import { Progress } from '../ui/progress.tsx'
import { read } from '../ui/storage.ts'
import { RecalledFiles } from '../ui/recalled.tsx'
import { RAIL_NAMES } from '../ui/words.ts'
import { Invoices } from './invoices.tsx'
import { SendAgain } from './send-again.tsx'
import { frameBy } from './seller-frame.tsx'
import { stepsOf } from './steps.ts'
import {
  FAILED,
  FREE,
  FULL_REFUND_PENDING,
  HAPPENINGS,
  HEADLINES,
  NEWS,
  NOTHING_LEFT,
  NO_FILES,
  SENT_BACK,
} from './words.ts'
import { taxName } from '../ui/tax-name.ts'
import { say, saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('order')
const shared = wordsOf('ui')
const invoice = wordsOf('invoice')

interface ReceiptProps {
  order: OrderStatus
  email: string
  fault: string | undefined
  /** The buyer has just pressed the button, so the focus moves to the result. */
  byHand: boolean
  renew: () => Promise<Download[]>
  onForget: () => void
}

export function Receipt({ order, email, fault, byHand, renew, onForget }: ReceiptProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (byHand) heading.current?.focus()
  }, [byHand])
  // each answer has the same seller as a new object, and a new frame would take the focus from a link in it
  const written = order.seller && JSON.stringify(order.seller)
  useLayoutEffect(() => {
    if (!written) return
    const seller = JSON.parse(written) as Seller
    wear(seller)
    return frameBy(seller, order.product?.name)
  }, [written, order.product?.name])
  const files = order.downloads.length > 0
  const [title, text] = headlineOf(order)
  const news = order.paid ? NEWS[order.timeline?.at(-1)?.what ?? ''] : undefined
  return (
    <div class="receipt">
      <section class="stack told">
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        <output class="lead">{text}</output>
        {fault && <Notice tone="alarm" role="alert" title={fault} />}
        {news && <Notice title={news} icon="clock" />}
        {order.receiptBounced && <Bounced email={email} seller={order.seller} />}
        {order.receiptHeld && (
          <Notice title={words.noReceipt} icon="mail">
            <p>{words.noReceiptText}</p>
          </Notice>
        )}
        <RecalledFiles files={order.withdrawnFiles} />
        {files && <Files downloads={order.downloads} renew={renew} />}
        <Invoices order={order} email={email} />
        <PayLink order={order} />
        <Progress steps={stepsOf(order)} />
        <Log order={order} />
        <div class="actions">
          {files && <SendAgain orderId={order.orderId} email={email} />}
          <button type="button" class="button" onClick={() => print()}>
            {words.print}
          </button>
          <button type="button" class="link small" onClick={onForget}>
            {words.forget}
          </button>
        </div>
        <p class="small soft">
          {saying(words.boughtMore, { library: <a href="/library/">{wordsOf('site').library}</a> })}
        </p>
      </section>
      <Slip order={order} email={email} />
    </div>
  )
}

/** The part of the receipt that looks like one: the product, the price and the names. */
function Slip({ order, email }: { order: OrderStatus; email: string }) {
  const isFree = order.paid && order.amount === 0
  const name = order.paidAt ? words.receipt : words.order
  return (
    <aside class="slip-shadow" aria-label={name}>
      <div class="slip stack">
        <p class="slip-title">{name}</p>
        <h2>
          <bdi>{order.product?.name}</bdi>
        </h2>
        <dl class="lines">
          {order.paidAt && <Line name={isFree ? words.ordered : shared.paid} value={moment(order.paidAt)} />}
          {!order.paidAt && order.createdAt && <Line name={words.ordered} value={moment(order.createdAt)} />}
          {order.rail && <Line name={words.paidWith} value={RAIL_NAMES[order.rail]} />}
          {order.seller && <Line name={words.soldBy} value={<bdi>{order.seller.name}</bdi>} wide />}
          {order.seller && (
            <Line
              name={words.questions}
              value={<a href={`mailto:${order.seller.supportEmail}`}>{order.seller.supportEmail}</a>}
              wide
            />
          )}
          <Line name={words.sentTo} value={email} wide />
          {(order.onStatement ?? order.statementDescriptor) && order.amount > 0 && (
            <Line name={shared.onStatement} value={order.statementDescriptor} wide mono />
          )}
          <Line
            name={shared.orderNumber}
            value={
              <>
                <b>{shortNumber(order.orderId)}</b> <span class="soft">{order.orderId}</span>
              </>
            }
            wide
            mono
          />
          <Sums order={order} />
        </dl>
        {order.seller && <SellerLinks seller={order.seller} contact={false} />}
      </div>
    </aside>
  )
}

function headlineOf(order: OrderStatus): (typeof HEADLINES)[OrderStatus['status']] {
  if (isFullRefundPending(order)) return FULL_REFUND_PENDING
  if (order.paymentReturned) return SENT_BACK
  if (hasFailed(order)) return FAILED
  if (order.paid && order.product && order.downloads.length === 0) return order.withdrawnFiles ? NOTHING_LEFT : NO_FILES
  return order.paid && order.amount === 0 ? FREE : HEADLINES[order.status]
}

/** Whether a bank began to work on a payment and has stopped. */
const hasFailed = ({ status, canPay }: OrderStatus): boolean => status === 'processing' && canPay === true

/** The payment page of an order that waits for its payment. */
function PayLink({ order }: { order: OrderStatus }) {
  const { status, orderId, product } = order
  if (!product) return null
  const isLinked = isKeptHere(orderId, orderId)
  const isHere = isLinked || isKeptHere(product.id, orderId)
  if (!hasFailed(order) && !(status === 'pending' && isHere)) return null
  return (
    <p>
      <a class="button" href={`/pay/?product=${product.id}${isLinked ? `&order=${orderId}` : ''}#pay`}>
        {!hasFailed(order) ? words.toPayment : isHere ? words.payAgain : words.orderAgain}
      </a>
    </p>
  )
}

const Bounced = ({ email, seller }: { email: string; seller: OrderStatus['seller'] }) => (
  <Notice tone="alarm" title={words.bounced}>
    <p>
      {saying(words.bouncedText, {
        email: <span class="address">{email}</span>,
        support: seller ? <a href={`mailto:${seller.supportEmail}`}>{seller.supportEmail}</a> : '…',
      })}
    </p>
  </Notice>
)

/**
 * Only a browser that made the order, or opened its link, can go on with it. In another one the payment page would make a new order. An
 * order that a program made is kept under its own id.
 */
const isKeptHere = (productOrOrderId: string, orderId: string): boolean =>
  read<{ orderId?: string }>(placeOf(productOrOrderId))?.orderId === orderId

/** The amount paid. After a refund or a dispute: also the amount that went back, and the rest. */
function Sums({ order }: { order: OrderStatus }) {
  const { paidAt, amount, currency, refundedAmount = 0, chargedBackAmount = 0, discountAmount = 0 } = order
  const fullPrice = fullPriceOf(amount, discountAmount, order.tax?.amount)
  const left = amount - refundedAmount - chargedBackAmount
  return (
    <>
      {fullPrice !== undefined && <Line name={shared.price} value={money(fullPrice, currency)} />}
      {discountAmount > 0 && <Line name={shared.discount} value={`−${money(discountAmount, currency)}`} />}
      {left < amount && <Line name={shared.total} value={money(amount, currency)} />}
      {left < amount && <Tax order={order} />}
      {refundedAmount > 0 && <Line name={words.refunded} value={`−${money(refundedAmount, currency)}`} />}
      {chargedBackAmount > 0 && <Line name={words.reversed} value={`−${money(chargedBackAmount, currency)}`} />}
      <div class="total">
        <dt>{left < amount ? words.netPaid : paidAt ? shared.total : shared.price}</dt>
        <dd>{amount > 0 ? money(left, currency) : shared.free}</dd>
      </div>
      {left === amount && <Tax order={order} />}
      <Business order={order} />
    </>
  )
}

/** The tax within the price. It stands below the price that it is part of, not below the rest of it. */
function Tax({ order: { tax, currency } }: { order: OrderStatus }) {
  if (!tax || tax.amount === 0) return null
  const { amount, rate, country } = tax
  const name = say(shared.includesTax, { rate: percent(rate), tax: taxName(country), country })
  return <Line name={name} value={money(amount, currency)} />
}

/** The VAT number of a business, and why it pays no tax. */
function Business({ order: { tax } }: { order: OrderStatus }) {
  if (!tax?.buyerTaxId) return null
  const value = (
    <>
      {tax.buyerTaxId.id}
      {tax.treatment === 'reverse_charge' && <p class="small soft">{invoice.reverseCharge}</p>}
    </>
  )
  return <Line name={invoice.taxId} value={value} wide />
}

interface LineProps {
  name: string
  value: ComponentChildren
  wide?: boolean
  mono?: boolean
}

const Line = ({ name, value, wide, mono }: LineProps) => (
  <div class={wide ? 'wide' : undefined}>
    <dt>{name}</dt>
    <dd class={mono ? 'mono' : undefined}>{value}</dd>
  </div>
)

/** Everything that happened to the order, with its time. The bank of a buyer may ask for it. */
const Log = ({ order }: { order: OrderStatus }) => (
  <details class="log small">
    <summary>{words.log}</summary>
    <ul>
      {order.timeline?.map(({ at, what }) => (
        <li key={at + what}>
          <time dateTime={at}>{moment(at)}</time>{' '}
          {order.amount === 0 && what === 'paid' ? words.filesReleased : (HAPPENINGS[what] ?? what)}
        </li>
      ))}
    </ul>
  </details>
)
