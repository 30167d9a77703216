import '../products/products.css'
import { useState } from 'preact/hooks'
import type { Product } from '../api.ts'
import { CopyButton } from '../copy-button.tsx'
import { priceWords } from '../../ui/price-words.ts'
import { QrCode } from '../products/share-part.tsx'
import { address } from '../router.ts'

/** Shown in place of the sums when nothing was sold lately: sharing the link helps most. */
export function PushLink({ products }: { products: Product[] }) {
  const [chosen, setChosen] = useState<string>()
  const product = products.find(({ id }) => id === chosen) ?? products[0]
  if (!product)
    return (
      <section class="panel stack" aria-labelledby="push">
        <h2 id="push">Nothing is on sale</h2>
        <p class="soft">Publish a product, and its link is here to be shared.</p>
        <div class="row">
          <a class="button main short" href={address('products')}>
            Your products
          </a>
        </div>
      </section>
    )
  const { name, payUrl } = product
  return (
    <section class="panel stack push" aria-labelledby="push">
      <h2 id="push">Share your link</h2>
      <p class="soft">
        No sale in the last month yet. Buyers come by the link: put it where they already follow you, in a post, a
        newsletter, your profile or a video’s description. Sales appear here as soon as there are some.
      </p>
      {products.length > 1 && (
        <div class="field">
          <label for="push-product">Product</label>
          <select id="push-product" value={product.id} onChange={(event) => setChosen(event.currentTarget.value)}>
            {products.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}, {priceWords(one)}
              </option>
            ))}
          </select>
        </div>
      )}
      <div class="push-ways">
        <div class="stack">
          {products.length === 1 && (
            <p class="cut">
              <b>{name}</b>, {priceWords(product)}
            </p>
          )}
          <code class="push-link">{payUrl}</code>
          <div class="row">
            <CopyButton text={payUrl} name="the link" main>
              Copy the link
            </CopyButton>
            <ShareButton url={payUrl} title={name} />
            <a class="button" href={payUrl} target="_blank" rel="noopener">
              Open the page
            </a>
          </div>
          <p class="small">
            <a href={address('product', product.id)}>A picture and a description help it sell</a>
          </p>
        </div>
        <div class="stack">
          <QrCode text={payUrl} name={name} />
        </div>
      </div>
    </section>
  )
}

/** The phone's own share menu, where there is one. */
function ShareButton({ url, title }: { url: string; title: string }) {
  if (!('share' in navigator)) return null
  // Closing the share menu is not a failure.
  const share = () => void navigator.share({ url, title }).catch(() => {})
  return (
    <button type="button" class="button" onClick={share}>
      Share…
    </button>
  )
}
