import type { ProductView } from '../checkout/product-schema.ts'
import { decimalText } from '../kit/money.ts'
import { escapeHtml, jsonForHtml } from '../words/in-html.ts'

/** The tags from which other sites make the preview of a shared link, and the offer for search engines and agents. */
export function preview(product: ProductView, appUrl: string): string {
  const { currency, price } = offersIn(product)[0]!
  const image = pictureOf(product, appUrl)
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
    ['product:price:currency', currency],
    ['twitter:card', image && 'summary_large_image'],
  ]
  const shown = tags.filter((tag): tag is [string, string] => Boolean(tag[1]))
  const description = `<meta name="description" content="${escapeHtml(product.description.slice(0, 300))}" />`
  return [
    description,
    ...shown.map(([property, content]) => `<meta property="${property}" content="${escapeHtml(content)}" />`),
    // data, which a browser does not run, so the page's policy needs no hash for it
    `<script type="application/ld+json">${jsonForHtml(offerOf(product, appUrl, image))}</script>`,
  ].join('\n    ')
}

function pictureOf({ images, imageUrl }: ProductView, appUrl: string): string | undefined {
  const shown = images?.preview ?? imageUrl
  const picture = shown && URL.canParse(shown, appUrl) ? new URL(shown, appUrl) : undefined
  return picture && /^https?:$/.test(picture.protocol) ? picture.href : undefined
}

/** The prices in words, the one that the page begins with first. */
const offersIn = ({ prices }: ProductView) =>
  prices.map(({ currency, amount, minimum = amount, payments }) => ({
    currency,
    price: decimalText(minimum, currency),
    isLive: payments.live,
  }))

/** The product and its prices in the words of schema.org. */
function offerOf(product: ProductView, appUrl: string, image: string | undefined): object {
  const { id, name, description, free, payWhatYouWant, seller } = product
  const url = `${appUrl}/pay/?product=${id}`
  const all = offersIn(product)
  const offers = all.map(({ currency, price, isLive }) => ({
    '@type': 'Offer',
    url: all.length > 1 ? `${url}&currency=${currency}` : url,
    price,
    priceCurrency: currency,
    ...(payWhatYouWant && { priceSpecification: { '@type': 'PriceSpecification', minPrice: price, priceCurrency: currency } }), // oxfmt-ignore
    availability: `https://schema.org/${free || isLive ? 'InStock' : 'OutOfStock'}`,
    seller: { '@type': 'Organization', name: seller.name },
  }))
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    productID: id,
    name,
    ...(description && { description }),
    ...(image && { image }),
    offers: offers.length > 1 ? offers : offers[0],
  }
}
