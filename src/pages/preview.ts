import type { ProductView } from '../checkout/schema.ts'
import { decimalText } from '../kit/money.ts'
import { escapeHtml } from './html.ts'

/** The tags from which other sites make the preview of a shared link. */
export function preview(product: ProductView, appUrl: string): string {
  const price = decimalText(product.amount, product.currency)
  const shownPicture = product.images?.preview ?? product.imageUrl
  const picture = shownPicture && URL.canParse(shownPicture, appUrl) ? new URL(shownPicture, appUrl) : undefined
  const image = picture && /^https?:$/.test(picture.protocol) ? picture.href : undefined
  const tags: [string, string | undefined][] = [
    ['og:type', 'product'],
    ['og:title', product.name],
    ['og:description', product.description.slice(0, 300)],
    ['og:url', `${appUrl}/pay/?product=${product.id}`],
    ['og:image', image],
    ['og:image:alt', image && product.name],
    ['og:image:width', product.images && '1200'],
    ['og:image:height', product.images && '630'],
    ['og:image:type', product.images && 'image/jpeg'],
    ['product:price:amount', price],
    ['product:price:currency', product.currency],
    ['twitter:card', image && 'summary_large_image'],
  ]
  const shown = tags.filter((tag): tag is [string, string] => Boolean(tag[1]))
  const description = `<meta name="description" content="${escapeHtml(product.description.slice(0, 300))}" />`
  return [
    description,
    ...shown.map(([property, content]) => `<meta property="${property}" content="${escapeHtml(content)}" />`),
  ].join('\n    ')
}
