import compress from '@fastify/compress'
import fileServer from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fs from 'node:fs/promises'
import path from 'node:path'
import { constants } from 'node:zlib'
import type { ProductView } from '../checkout/product-schema.ts'
import { statusOf } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { BROTLI_QUALITY, pageShower } from './compressed.ts'
import { type HomeOf, homeCurrency } from './home-currency.ts'
import { readPage } from './html.ts'
import { languageChooser, type LanguageOf } from './language.ts'
import { page, showOnce } from './page.ts'
import { type PayOptions, payRoute } from './pay-route.ts'
import { problemPage } from './problems.ts'
import { scriptRoutes } from './script.ts'

export interface PagesOptions extends PayOptions {
  /** The folder of the built pages. */
  dist: string
  baseUrl: string
  outbox: boolean
  /** The identity provider's name, where one is configured. */
  idpLabel?: string | undefined
  signup?: 'open' | 'approval' | 'closed'
  /** The beginning of every statement descriptor. */
  statementPrefix: string
  hasDemo: boolean
  /** The demo's products, where there is a demo. */
  demoProducts: () => Promise<ProductView[]>
  /** Only for operators the page /operator/ exists. */
  isOperator: (request: FastifyRequest) => Promise<boolean>
}

/** Serves the built pages with their data inside, so that the first response is the whole page. */
export async function pageRoutes(parent: Server, options: PagesOptions): Promise<void> {
  const pages = await readPages(options)
  const data = {
    baseUrl: options.baseUrl,
    mode: { demo: options.hasDemo, outbox: options.outbox },
  }
  const show = pageShower()
  const parts = {
    options,
    pages,
    data,
    show,
    languageOf: languageChooser(options.appUrl),
    homeOf: homeCurrency(options.countryOf),
  }
  // on all routes, because a person who follows one of our links must get a page from every route that refuses
  parent.addHook('onSend', (request, reply, payload, done) =>
    done(null, problemPage(pages.missing, options.appUrl, request, reply, payload) ?? payload),
  )
  await parent.register(async (server: Server) => {
    await serveFiles(server, options.dist)
    await scriptRoutes(server, options.dist)
    homeRoute(server, parts)
    dataRoutes(server, parts)
    page(server, '/pricing/', (_query, reply) => show(pages.pricing, reply, { data }), 'no-cache')
    buyerRoutes(server, parts)
    payRoute(server, parts)
    const { outbox } = pages
    if (outbox) page(server, '/outbox/', (_query, reply) => show(outbox, reply, { data }), 'no-store')
    operatorRoute(server, parts)
    missingRoute(server, parts)
  })
}

interface PageParts {
  options: PagesOptions
  pages: Awaited<ReturnType<typeof readPages>>
  data: { baseUrl: string; mode: { demo: boolean; outbox: boolean } }
  show: ReturnType<typeof pageShower>
  languageOf: LanguageOf
  homeOf: HomeOf
}

async function readPages(options: PagesOptions) {
  const connect = options.baseUrl === options.appUrl ? '' : options.baseUrl
  // an image's address has the API's host, also when the browser opened the page under another name of this machine
  const images = options.baseUrl.startsWith('https:') ? '' : options.baseUrl
  const read = async (file: string, more?: string) =>
    readPage(await fs.readFile(path.join(options.dist, file), 'utf8'), { connect, images, ...(more && { more }) })
  return {
    home: await read('index.html'),
    pay: await read('pay/index.html'),
    order: await read('order/index.html'),
    charge: await read('charge/index.html'),
    withdraw: await read('withdraw/index.html'),
    pricing: await read('pricing/index.html'),
    signIn: await read('sign-in/index.html'),
    account: await read('account/index.html'),
    shop: await read('shop/index.html'),
    library: await read('library/index.html'),
    operator: await read('operator/index.html'),
    missing: await read('404.html'),
    outbox: options.outbox
      ? await read('outbox/index.html', "; style-src-attr 'unsafe-inline'; frame-src 'self'")
      : undefined,
  }
}

/** The scripts, styles and pictures of the pages. The build has compressed the assets. */
async function serveFiles(server: Server, dist: string): Promise<void> {
  await server.register(compress, {
    encodings: ['br', 'gzip'],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
  })
  await server.register(fileServer, {
    root: path.join(dist, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    index: false,
  })
  for (const file of await looseFiles(dist)) {
    server.get(`/${file}`, { schema: { hide: true } }, async (_request, reply) =>
      reply.sendFile(file, dist, { maxAge: '1h', immutable: false }),
    )
  }
}

function homeRoute(server: Server, { options, pages, data, show }: PageParts): void {
  page(
    server,
    '/',
    async (_query, reply) => show(pages.home, reply, { data: { ...data, demoProducts: await options.demoProducts() } }),
    'no-cache',
  )
}

/** The pages that need a cookie. */
function dataRoutes(server: Server, { options, pages, data, show }: PageParts): void {
  const { idpLabel, signup, statementPrefix } = options
  const sellerData = { ...data, idpLabel, signup, statementPrefix }
  for (const [url, shown, filled] of [
    ['/sign-in/', pages.signIn, sellerData],
    ['/account/', pages.account, sellerData],
    ['/shop/', pages.shop, sellerData],
  ] as const) {
    page(
      server,
      url,
      (_query, reply) => underOwnName(reply, options, () => show(shown, reply, { data: filled })),
      'no-store',
    )
  }
}

/** The pages for buyers, in their language. */
function buyerRoutes(server: Server, { options, pages, data, show, languageOf, homeOf }: PageParts): void {
  for (const [url, shown] of [
    ['/order/', pages.order],
    ['/charge/', pages.charge],
    ['/withdraw/', pages.withdraw],
    ['/library/', pages.library],
  ] as const) {
    const answer = async (reply: FastifyReply) =>
      show(await shown.in(languageOf(reply.request, reply)), reply, { data: { ...data, ...homeOf(reply.request) } })
    page(
      server,
      url,
      // the order's page needs no cookie
      (_query, reply) => (url === '/order/' ? answer(reply) : underOwnName(reply, options, () => answer(reply))),
      'no-store',
    )
  }
}

function underOwnName(
  reply: FastifyReply,
  { appUrl }: PagesOptions,
  answer: () => Promise<string | Buffer>,
): Promise<string | Buffer> | FastifyReply {
  return isOtherName(reply.request, appUrl) ? reply.redirect(`${appUrl}${reply.request.url}`, 302) : answer()
}

/** For an address that does not exist, a person gets a page and a program gets a problem. */
function missingRoute(server: Server, parts: PageParts): void {
  server.get('/*', UNCOMPRESSED, async (request, reply) => answerMissing(parts, request, reply))
}

/** Not compressed, so that an unknown address and one that is hidden from the client are answered byte for byte the same. */
const UNCOMPRESSED = { compress: false, schema: { hide: true } } as const

function answerMissing({ pages, data }: PageParts, request: FastifyRequest, reply: FastifyReply) {
  if (/^\/api([/?]|$)/.test(request.url) || !request.headers.accept?.includes('text/html')) return reply.callNotFound()
  reply.code(statusOf('not_found')).type('text/html; charset=utf-8')
  return showOnce(pages.missing, reply, { data })
}

/** The operators' page. Other visitors do not learn that it exists. */
function operatorRoute(server: Server, parts: PageParts): void {
  const { options, pages, data, show } = parts
  const hidden = { ...UNCOMPRESSED, config: { hidden: true } }
  server.get('/operator/', hidden, async (request, reply) => {
    if (!(await options.isOperator(request))) return answerMissing(parts, request, reply)
    reply.type('text/html; charset=utf-8').header('cache-control', 'no-store')
    return show(pages.operator, reply, { data })
  })
  server.get('/operator', hidden, async (request, reply) =>
    (await options.isOperator(request)) ? reply.redirect('/operator/', 308) : answerMissing(parts, request, reply),
  )
}

/**
 * On one machine "localhost" and "127.0.0.1" show the same pages, but a cookie belongs to one name only. A page that needs a cookie
 * is opened under the name that the settings have.
 */
function isOtherName({ hostname, port }: Pick<FastifyRequest, 'hostname' | 'port'>, appUrl: string): boolean {
  const own = new URL(appUrl)
  const isLoopback = (name: string) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(name)
  // another port means that a proxy stands between, and the proxy chooses the name
  const isHere = String(port ?? '') === own.port
  return isHere && hostname !== own.hostname && isLoopback(own.hostname) && isLoopback(hostname)
}

/** The files beside the pages: the icon, the demo's picture. */
async function looseFiles(dist: string): Promise<string[]> {
  const entries = await fs.readdir(dist, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(svg|png|ico|txt|webmanifest)$/.test(entry.name))
    .map((entry) => entry.name)
}
