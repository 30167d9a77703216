import { useState } from 'preact/hooks'
import type { OrderStatus, ProductView } from '../ui/api.ts'
import { Copyable } from '../ui/copy.tsx'
import { money } from '../ui/format.ts'
import { fromApi } from '../ui/page-data.ts'

const SHORT = 260

/** The slip: seller, product, and the price: that of the product until there is an order, then the order's own. */
export function Summary({ product, order }: { product: ProductView; order: OrderStatus | undefined }) {
  const { amount, currency } = order ?? product
  return (
    <section class="summary slip-shadow" aria-label="What you are buying">
      <div class="slip stack">
        <div class="seller">
          <span class="initial" aria-hidden="true">
            {Array.from(product.seller.name)[0]}
          </span>
          <span>{product.seller.name}</span>
          {product.payments.processor === 'sandbox' && <span class="tag">Test mode</span>}
        </div>
        {product.imageUrl && <img class="cover" src={fromApi(product.imageUrl)} alt="" width="1200" height="630" />}
        <div class="what">
          <h1>{product.name}</h1>
          {!order && <p class="price">{money(product.amount, product.currency)}</p>}
        </div>
        <Description text={product.description} />
        {order && (
          <dl class="lines">
            <div class="wide">
              <dt>Order number</dt>
              <dd>
                <Copyable text={order.orderId} name="order number" />
              </dd>
            </div>
            {order.statementDescriptor && (
              <div class="wide statement">
                <dt>On your statement</dt>
                <dd class="mono">{order.statementDescriptor}</dd>
              </div>
            )}
            <div class="total">
              <dt>Total</dt>
              <dd>{money(amount, currency)}</dd>
            </div>
          </dl>
        )}
      </div>
    </section>
  )
}

function Description({ text }: { text: string }) {
  const [open, setOpen] = useState(text.length <= SHORT)
  if (!text) return null
  return (
    <div class="description soft">
      <p>{open ? text : `${text.slice(0, SHORT).trimEnd()}…`}</p>
      {!open && (
        <button type="button" class="link small" onClick={() => setOpen(true)}>
          Read more
        </button>
      )}
    </div>
  )
}

export const SummarySkeleton = () => (
  <div class="counter" aria-busy="true">
    <section class="summary slip-shadow">
      <div class="slip stack">
        <p class="soft">Opening the checkout…</p>
        <div class="blank" />
        <div class="blank short" />
      </div>
    </section>
  </div>
)
