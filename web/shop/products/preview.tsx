import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Summary } from '../../pay/summary.tsx'
import { totalOf } from '../../pay/total.ts'
import baseCss from '../../ui/base.css?inline'
import payCss from '../../pay/pay.css?inline'
import type { Seller } from '../../ui/auth-api.ts'
import type { Product } from '../api.ts'
import { amountOf, suggestedOf, type Draft } from './draft.ts'

interface PreviewProps {
  seller: Seller
  draft: Draft
  product?: Pick<Product, 'id' | 'imageUrl' | 'images'> | undefined
}

/**
 * The product as buyers will see it: the payment page's component with its style, in a shadow tree, because the two
 * pages use the same class names for different things. It is only a picture: no part of it can be pressed.
 */
export function Preview({ seller, draft, product }: PreviewProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const shown = viewOf(seller, draft, product)
    const total = totalOf(shown, { order: undefined, offer: undefined, kept: undefined })
    render(<Summary product={shown} order={undefined} total={total} />, rootOf(place.current!))
  }, [seller, draft, product])
  useEffect(() => {
    const root = place.current!.shadowRoot!
    return () => render(null, root)
  }, [])
  return (
    <figure class="preview">
      <figcaption class="small soft">What buyers see</figcaption>
      <div ref={place} class={amountOf(draft) === undefined ? 'unpriced' : undefined} inert aria-hidden="true" />
    </figure>
  )
}

function viewOf(seller: Seller, draft: Draft, product: PreviewProps['product']) {
  const amount = amountOf(draft) ?? 0
  const suggestedAmount = suggestedOf(draft)
  return {
    id: product?.id ?? '',
    name: draft.name.trim() || 'Your product',
    description: draft.description.trim(),
    amount,
    currency: draft.currency,
    payWhatYouWant: draft.pricing === 'chosen',
    free: draft.pricing === 'free',
    ...(suggestedAmount && { suggestedAmount }),
    ...(product?.imageUrl && { imageUrl: product.imageUrl }),
    ...(product?.images && { images: product.images }),
    seller: { name: seller.name },
    prices: [],
    rails: [],
    payments: { live: true },
  }
}

function rootOf(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = sheets()
  return root
}

let made: CSSStyleSheet[] | undefined
/** A price that is not typed yet must not read as “Free”. */
const unpricedCss = ':host(.unpriced) .price { visibility: hidden; }'

function sheets(): CSSStyleSheet[] {
  made ??= [baseCss, payCss, unpricedCss].map((text) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    return sheet
  })
  return made
}
