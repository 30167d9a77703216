import { useEffect, useState } from 'preact/hooks'
import { fromApi } from '../../ui/page-data.ts'
import type { Product } from '../api.ts'
import { CopyButton } from '../copy-button.tsx'
import { Part } from './part.tsx'
import { priceWords } from '../../ui/price-words.ts'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (mark) => ENTITIES[mark]!)

/** A button for any page. It is a plain link, so that no script of ours runs on another site. */
const snippetOf = ({ name, payUrl }: Product): string =>
  `<a href="${escaped(payUrl)}" style="display:inline-block;padding:12px 20px;border-radius:10px;background:#0a6248;color:#fff;font:600 16px/1.2 sans-serif;text-decoration:none">Buy ${escaped(name)}</a>`

/** The ways to bring a product to its buyers. */
export function SharePart({ product }: { product: Product }) {
  const { payUrl, name } = product
  const picture = product.images?.['640'] ?? product.imageUrl
  return (
    <Part id="share" title="Share">
      <div class="share-ways">
        <div class="stack">
          <h3>As a code to scan</h3>
          <QrCode text={payUrl} name={name} />
        </div>
        <div class="stack">
          <h3>In a chat or post</h3>
          <div class="panel link-preview">
            {picture && <img src={fromApi(picture)} alt="" width="1200" height="630" loading="lazy" />}
            <p class="name">{name}</p>
            {product.description && <p class="small soft clamp">{product.description}</p>}
            <p class="small soft">
              {priceWords(product)} · {new URL(payUrl).host}
            </p>
          </div>
        </div>
      </div>
      {product.prices.length > 1 && <LinksByCurrency product={product} />}
      <div class="stack">
        <h3>As a button on your own site</h3>
        <code class="panel snippet">{snippetOf(product)}</code>
        <div class="row">
          <CopyButton text={snippetOf(product)} name="the button’s HTML">
            Copy the HTML
          </CopyButton>
        </div>
      </div>
    </Part>
  )
}

/** A link can begin with one of the prices, whatever the buyer's country. */
const LinksByCurrency = ({ product: { payUrl, prices } }: { product: Product }) => (
  <div class="stack">
    <h3>With a price to begin with</h3>
    <p class="soft small">Without a currency, the link begins with the price of the buyer’s country.</p>
    <div class="row">
      {prices.map(({ currency }) => (
        <CopyButton key={currency} text={`${payUrl}&currency=${currency}`} name={`the link in ${currency}`}>
          {currency}
        </CopyButton>
      ))}
    </div>
  </div>
)

/** Few sellers need the code, so the page loads its drawing on demand. */
export function QrCode({ text, name }: { text: string; name: string }) {
  const [drawing, setDrawing] = useState<string>()
  useEffect(() => {
    import('uqr').then(
      ({ renderSVG }) => setDrawing(renderSVG(text, { border: 3, ecc: 'M' })),
      // Without the drawing, the address above still leads there.
      () => {},
    )
  }, [text])
  if (!drawing) return <div class="qr" />
  const url = `data:image/svg+xml,${encodeURIComponent(drawing)}`
  return (
    <>
      <img class="qr" src={url} alt="QR code of the link" width="176" height="176" />
      <div class="row">
        <a class="button" href={url} download={`${name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.svg`}>
          Download SVG
        </a>
      </div>
    </>
  )
}
