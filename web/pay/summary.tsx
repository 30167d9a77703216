import { useState } from 'preact/hooks'
import { shortNumber } from '../../src/kit/order-number.ts'
import type { OrderStatus, ProductView } from '../ui/api.ts'
import { Mark } from '../ui/brand.tsx'
import { Copyable } from '../ui/copy.tsx'
import { moment, money } from '../ui/format.ts'
import { fromApi } from '../ui/page-data.ts'
import { TaxLine } from './tax-line.tsx'
import type { Total } from './total.ts'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

/** On a phone the form stands below the text. */
const SHORT = matchMedia('(max-width: 55.99rem)').matches ? 110 : 260

interface SummaryProps {
  product: ProductView & { images?: Record<string, string> }
  order: OrderStatus | undefined
  total: Total
}

/** The slip: seller, product and price. */
export function Summary({ product, order, total }: SummaryProps) {
  const { listMinor: list, offMinor: off, currency } = total
  const price = list > off ? money(total.amountMinor, currency) : shared.free
  const shown = total.isOpen ? words.namePrice : price
  // Another sum gets a new element, as in web/pay/pay-bar.tsx.
  const key = off + shown
  return (
    <section class="summary slip-shadow" aria-label={words.buying}>
      <div class="slip stack">
        <div class="seller">
          <Mark seller={product.seller} />
          <bdi>{product.seller.name}</bdi>
          {product.payments.processor === 'sandbox' && <span class="tag">{words.testMode}</span>}
        </div>
        {product.imageUrl && (
          <img
            class="cover"
            src={fromApi(product.imageUrl)}
            srcset={
              product.images &&
              Object.entries(product.images)
                // Beside the widths the list holds the link preview, which is no size of the page's image.
                .filter(([width]) => /^\d+$/.test(width))
                .map(([width, url]) => `${fromApi(url)} ${width}w`)
                .join()
            }
            sizes="(max-width: 55.99rem) 6.5rem, 22rem"
            alt=""
            width="1200"
            height="630"
          />
        )}
        <div class="what">
          <h1>
            {/* The name runs in its own direction and stands on the page's side. */}
            <bdi>{product.name}</bdi>
          </h1>
          {!order && (
            <p class="price" key={key}>
              {off > 0 && (
                <s class="soft">
                  <span class="unseen">{words.insteadOf}</span> {money(list, currency)}
                </s>
              )}{' '}
              {shown}
            </p>
          )}
          {!order && list > off && <Tax total={total} />}
        </div>
        <Description text={product.description} />
        {order && <OrderLines order={order} total={total} price={price} key={key} />}
      </div>
    </section>
  )
}

const Tax = ({ total: { tax, netMinor, currency } }: { total: Total }) => (
  <TaxLine tax={tax} before={netMinor !== undefined && money(netMinor, currency)} />
)

interface OrderLinesProps {
  order: OrderStatus
  total: Total
  /** The total as the page writes it. */
  price: string
}

function OrderLines({ order, total, price }: OrderLinesProps) {
  const { listMinor: list, offMinor: off, currency } = total
  return (
    <dl class="lines">
      <div class="wide">
        <dt>{shared.orderNumber}</dt>
        <dd>
          <b class="mono">{shortNumber(order.orderId)}</b> <Copyable text={order.orderId} name={shared.orderNumber} />
        </dd>
      </div>
      {(order.onStatement ?? order.statementDescriptor) && order.amount > 0 && (
        <div class="wide statement">
          <dt>{shared.onStatement}</dt>
          <dd class="mono">{order.statementDescriptor}</dd>
        </div>
      )}
      {off > 0 && (
        <>
          <div>
            <dt>{shared.price}</dt>
            <dd>{money(list, currency)}</dd>
          </div>
          <div>
            <dt>{shared.discount}</dt>
            <dd>−{money(off, currency)}</dd>
          </div>
        </>
      )}
      <div class="total">
        <dt>{shared.total}</dt>
        <dd>
          {price}
          <Tax total={total} />
        </dd>
      </div>
      {order.paidAt && order.amount > 0 && (
        <div>
          <dt>{shared.paid}</dt>
          <dd>{moment(order.paidAt)}</dd>
        </div>
      )}
    </dl>
  )
}

function Description({ text }: { text: string }) {
  const [open, setOpen] = useState(text.length <= SHORT)
  if (!text) return null
  return (
    <div class="description soft">
      <p dir="auto">{open ? text : `${text.slice(0, SHORT).replace(/\s+\S*$/, '')}…`}</p>
      {!open && (
        <button type="button" class="link small" onClick={() => setOpen(true)}>
          {words.readMore}
        </button>
      )}
    </div>
  )
}

export const SummarySkeleton = () => (
  <div class="checkout" aria-busy="true">
    <section class="summary slip-shadow">
      <div class="slip stack">
        <p class="soft">{words.opening}</p>
        <div class="blank" />
        <div class="blank short" />
      </div>
    </section>
  </div>
)
