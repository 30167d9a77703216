import type { CountryOf } from '../kit/country.ts'
import type { BuyerView } from '../checkout/products.ts'
import type { ProductView } from '../checkout/product-schema.ts'
import { Refusal, problemOf, statusOf } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { isOnSites, sourceOf } from '../sellers/sites.ts'
import type { pageShower } from './compressed.ts'
import { isCurrency } from '../kit/country-currency.ts'
import { formSources } from './form-sources.ts'
import type { HomeOf } from './home-currency.ts'
import type { Page } from './html.ts'
import type { LanguageOf } from './language.ts'
import { preview } from './preview.ts'
import { page, showOnce } from './page.ts'

export interface PayOptions {
  appUrl: string
  findProduct: (productId: string, buyer: BuyerView) => Promise<ProductView>
  countryOf: CountryOf
  /** The names of the processors. */
  processors: readonly string[]
  /** The sites of a product's seller, which may show the checkout in a frame. */
  sitesOf: (productId: string) => Promise<string[]>
}

interface PayParts {
  options: PayOptions
  pages: { pay: Page }
  data: object
  show: ReturnType<typeof pageShower>
  languageOf: LanguageOf
  homeOf: HomeOf
}

/**
 * The hosted checkout. With `embed=1` only the sites of the product's seller may show it in a frame. All other pages, and
 * this one without `embed=1`, are never in a frame.
 */
export function payRoute(
  server: Server,
  { options, pages: { pay: english }, data, show, languageOf, homeOf }: PayParts,
): void {
  const sources = formSources(options.processors)
  page(
    server,
    '/pay/',
    async ({ product: productId, embed, host, cancelUrl, currency }, reply) => {
      const locale = languageOf(reply.request, reply)
      const pay = await english.in(locale)
      if (typeof productId !== 'string' || productId === '') return show(pay, reply, { data })
      try {
        const begin = isCurrency(currency) ? currency : undefined
        const product = await options.findProduct(productId, { locale, begin, seen: options.countryOf(reply.request) })
        const isFramed = embed === '1'
        const known = isFramed || cancelUrl !== undefined ? await options.sitesOf(productId) : []
        const sites = isFramed ? known : []
        const html = await show(pay, reply, {
          data: { ...data, ...homeOf(reply.request), product, ...hostOf(sites, host), ...backOf(known, cancelUrl) },
          title: product.name,
          head: preview(product, options.appUrl),
        })
        // without a processor for any price there is no form
        const forms = product.prices.some(({ payments }) => payments.live) ? sources : {}
        // banks and wallets may open a window of their own, which must reach the page again
        if (Object.keys(forms).length > 0) reply.header('cross-origin-opener-policy', 'same-origin-allow-popups')
        reply.header('content-security-policy', pay.policyWith(forms, sites.map(sourceOf)))
        // this older header knows no list
        if (sites.length > 0) reply.removeHeader('x-frame-options')
        return html
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        reply.code(statusOf(error.code))
        return showOnce(pay, reply, { data: { ...data, product: { error: problemOf(error, reply.request.id) } } })
      }
    },
    'no-store',
  )
}

/** Where the page leads back to before there is an order: the address of the link, if it lies on a site of the seller. */
function backOf(sites: readonly string[], cancelUrl: unknown): { cancelUrl?: string } {
  const isBack = typeof cancelUrl === 'string' && cancelUrl.length <= LONGEST_URL && isOnSites(sites, cancelUrl)
  return isBack ? { cancelUrl: new URL(cancelUrl).href } : {}
}

const LONGEST_URL = 2000

/** The origin to which the framed page may send messages: the one that the frame's address names, if it is on the list. */
function hostOf(sites: readonly string[], host: unknown): { host?: string } {
  const isOrigin = typeof host === 'string' && URL.canParse(host) && new URL(host).origin === host
  return isOrigin && isOnSites(sites, host) ? { host } : {}
}
