import type { ProductView } from '../ui/api.ts'
import { Icon } from '../ui/icon.tsx'
import { fromApi } from '../ui/page-data.ts'
import { priceWords } from '../ui/price-words.ts'

/** Shown only on a service that its owner alone can reach: products to buy at once, and the page with the mails. */
export const Demo = ({ products, outbox }: { products: ProductView[]; outbox: boolean }) => (
  <section class="demo" aria-labelledby="demo-title">
    <div class="stack">
      <p>
        <span class="tag">
          <Icon name="flask" /> Test mode
        </span>
      </p>
      <h2 id="demo-title">Try it now: no money moves</h2>
      <p class="soft">
        This service runs with a built-in sandbox in place of a bank. Buy a product and choose how the bank behaves: it
        declines, it takes its time, it forgets to tell us. The code SPRING takes 20% off the price in dollars.
      </p>
      {outbox && (
        <p>
          <a class="button" href="/outbox/">
            <Icon name="mail" /> Open the outbox
          </a>
        </p>
      )}
    </div>
    <ul class="products">
      {products.map((product) => (
        <li key={product.id} class="product">
          {product.imageUrl && <img src={fromApi(product.imageUrl)} alt="" width="1200" height="630" loading="lazy" />}
          <div>
            <h3>
              <a href={`/pay/?product=${product.id}`}>{product.name}</a>
            </h3>
            <p class="soft small">{product.seller.name}</p>
          </div>
          <p class="price">{priceWords(product)}</p>
        </li>
      ))}
    </ul>
  </section>
)
