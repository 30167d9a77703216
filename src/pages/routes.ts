import compress from '@fastify/compress'
import fileServer from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fs from 'node:fs/promises'
import path from 'node:path'
import { constants } from 'node:zlib'
import type { ProductView } from '../checkout/schema.ts'
import { Refusal, problemOf, statusOf } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { decimalText } from '../kit/money.ts'
import { FORM_SOURCES } from './form-sources.ts'
import { type Page, escapeHtml, readPage } from './html.ts'
import { problemPage } from './problems.ts'

export interface PagesOptions {
  /** The folder of the built pages. */
  dist: string
  baseUrl: string
  appUrl: string
  outbox: boolean
  /** What the identity provider is called, where there is one. */
  idpLabel?: string | undefined
  signup?: 'open' | 'closed'
  /** What every line on a bank statement begins with. */
  statementPrefix: string
  /** The demo's products, where there is a demo. */
  demoProducts: () => Promise<ProductView[]>
  findProduct: (productId: string) => Promise<ProductView>
}

/** Text compresses to a quarter either way; the highest levels only cost time at each request. */
const BROTLI_QUALITY = 5

/** The built pages. What a page would have to ask for is put into it, so that the first answer is the whole page. */
export async function pageRoutes(parent: Server, options: PagesOptions): Promise<void> {
  const mode = { demo: (await options.demoProducts()).length > 0, outbox: options.outbox }
  const data = { baseUrl: options.baseUrl, mode }
  const connect = options.baseUrl === options.appUrl ? '' : options.baseUrl
  // pictures are named by the API's own address, also to who opened the page under another name of this machine
  const images = options.baseUrl.startsWith('https:') ? '' : options.baseUrl
  const read = async (file: string, more?: string) =>
    readPage(await fs.readFile(path.join(options.dist, file), 'utf8'), { connect, images, ...(more && { more }) })
  const [home, pay, order, charge, pricing, signIn, account, shop, library, missing] = await Promise.all(
    ['', 'pay/', 'order/', 'charge/', 'pricing/', 'sign-in/', 'account/', 'shop/', 'library/']
      .map((folder) => read(`${folder}index.html`))
      .concat(read('404.html')),
  )

  // on all routes, whatever refuses: a person can follow any link of ours
  parent.addHook(
    'onSend',
    async (request, reply, payload) => problemPage(missing!, options.appUrl, request, reply, payload) ?? payload,
  )

  await parent.register(async (server: Server) => {
    await server.register(compress, {
      encodings: ['br', 'gzip'],
      brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    })
    await server.register(fileServer, {
      root: path.join(options.dist, 'assets'),
      prefix: '/assets/',
      immutable: true,
      maxAge: '365d',
      index: false,
    })
    for (const file of await looseFiles(options.dist)) {
      server.get(`/${file}`, { schema: { hide: true } }, async (_request, reply) =>
        reply.sendFile(file, options.dist, { maxAge: '1h', immutable: false }),
      )
    }

    const page = (
      url: string,
      answer: (query: Record<string, unknown>, reply: FastifyReply) => Promise<string> | string | FastifyReply,
      caching: string,
    ) => {
      server.get(url, { schema: { hide: true } }, async (request, reply) => {
        reply.type('text/html; charset=utf-8').header('cache-control', caching)
        return answer(request.query as Record<string, unknown>, reply)
      })
      // one address a page: relative links and saved addresses then agree
      if (url !== '/') {
        server.get(url.slice(0, -1), { schema: { hide: true } }, async (request, reply) =>
          reply.redirect(`${url}${request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''}`, 308),
        )
      }
    }
    const show = (shown: Page, reply: FastifyReply, fill: Parameters<Page['render']>[0] = { data }): string => {
      reply.header('content-security-policy', shown.policy)
      return shown.render(fill)
    }

    page(
      '/',
      async (_query, reply) => show(home!, reply, { data: { ...data, demoProducts: await options.demoProducts() } }),
      'no-cache',
    )
    const { idpLabel, signup, statementPrefix } = options
    const sellerData = { ...data, idpLabel, signup, statementPrefix }
    for (const [url, shown, filled] of [
      ['/sign-in/', signIn!, sellerData],
      ['/account/', account!, sellerData],
      ['/shop/', shop!, sellerData],
      ['/charge/', charge!, data],
      ['/library/', library!, data],
    ] as const) {
      page(
        url,
        (_query, reply) =>
          isOtherName(reply.request, options.appUrl)
            ? reply.redirect(`${options.appUrl}${reply.request.url}`, 302)
            : show(shown, reply, { data: filled }),
        'no-store',
      )
    }
    page('/pricing/', (_query, reply) => show(pricing!, reply), 'no-cache')
    page('/order/', (_query, reply) => show(order!, reply), 'no-store')
    page(
      '/pay/',
      async ({ product: productId }, reply) => {
        if (typeof productId !== 'string' || productId === '') return show(pay!, reply)
        try {
          const product = await options.findProduct(productId)
          const html = show(pay!, reply, {
            data: { ...data, product },
            title: product.name,
            head: preview(product, options.appUrl),
          })
          const form = FORM_SOURCES[product.payments.processor ?? '']
          if (form) {
            reply.header('content-security-policy', pay!.policyWith(form))
            // banks and wallets may open a window of their own, which has to find back
            reply.header('cross-origin-opener-policy', 'same-origin-allow-popups')
          }
          return html
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          reply.code(statusOf(error.code))
          return show(pay!, reply, { data: { ...data, product: { error: problemOf(error, reply.request.id) } } })
        }
      },
      'no-store',
    )
    if (options.outbox) {
      const outbox = await read('outbox/index.html', "; style-src-attr 'unsafe-inline'; frame-src 'self'")
      page('/outbox/', (_query, reply) => show(outbox, reply), 'no-store')
    }

    // a person who mistyped an address gets a page, a program a problem
    server.get('/*', { schema: { hide: true } }, async (request, reply) => {
      if (/^\/api([/?]|$)/.test(request.url) || !request.headers.accept?.includes('text/html'))
        return reply.callNotFound()
      reply.code(statusOf('not_found')).type('text/html; charset=utf-8')
      return show(missing!, reply)
    })
  })
}

/**
 * On one machine "localhost" and "127.0.0.1" show the same pages, but a cookie belongs to one name only: what needs one is
 * opened under the name that the settings have.
 */
function isOtherName({ hostname, port }: Pick<FastifyRequest, 'hostname' | 'port'>, appUrl: string): boolean {
  const own = new URL(appUrl)
  const isLoopback = (name: string) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(name)
  // on another port something stands between, which knows better under which name it asks us
  const isHere = String(port ?? '') === own.port
  return isHere && hostname !== own.hostname && isLoopback(own.hostname) && isLoopback(hostname)
}

/** What lies beside the pages: the icon, the demo's picture. */
async function looseFiles(dist: string): Promise<string[]> {
  const entries = await fs.readdir(dist, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(svg|png|ico|txt|webmanifest)$/.test(entry.name))
    .map((entry) => entry.name)
}

/** What a link to the page looks like where it is shared. */
function preview(product: ProductView, appUrl: string): string {
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
