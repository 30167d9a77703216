import type { FastifyRequest } from 'fastify'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { inFirstPrice, productView, productViews } from '../checkout/products.ts'
import type { Db } from '../kit/database.ts'
import { countryFinder } from '../kit/country.ts'
import type { Server } from '../kit/http.ts'
import type { TrustedProxy } from '../kit/peers.ts'
import { payerOf } from '../payouts/accounts/payers.ts'
import type { Processor } from '../processors/processor.ts'
import { sitesOfProduct } from '../sellers/sites.ts'
import { docsRoutes } from './docs.ts'
import { guideRoutes } from './guides.ts'
import { openOutbox, outboxRoutes } from './outbox.ts'
import { pageRoutes } from './routes.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DIST = path.join(ROOT, 'dist')

interface PagesParts {
  db: Db
  /** For reads at the start, however long they take. */
  startDb: Db
  processors: ReadonlyMap<string, Processor>
  config: {
    secrets: readonly string[]
    smtpUrl: string | undefined
    isPublic: boolean
    demoOnNetwork: boolean
    idp: { label: string } | undefined
    signup: 'open' | 'approval' | 'closed'
    statementPrefix: string
    payouts: { by: string }
    countryHeader: string | undefined
    viesUrl: string | undefined
    trustProxy: TrustedProxy
  }
  demo: readonly { id: string }[]
  operators: { isOperator: (request: FastifyRequest) => Promise<boolean> }
  baseUrl: string
  appUrl: string
}

/** Registers the pages, the API's documents, and the outbox where there is one. Returns the outbox's address. */
export async function registerPages(
  server: Server,
  { db, startDb, processors, config, demo, operators, baseUrl, appUrl }: PagesParts,
): Promise<{ outboxUrl: string | undefined }> {
  const { smtpUrl, isPublic, idp, signup, statementPrefix } = config
  const outbox = smtpUrl || isPublic ? undefined : openOutbox(config, appUrl)
  if (outbox) outboxRoutes(server, db, outbox)
  docsRoutes(server)
  await guideRoutes(server, { root: ROOT, baseUrl, appUrl })
  const rule = { statementPrefix, accountsAt: payerOf(config.payouts.by) }
  const views = { db, processors, baseUrl, rule, asksVies: config.viesUrl !== undefined }
  const countryOf = countryFinder(config.countryHeader, config.trustProxy)
  const demoIds = demo.map(({ id }) => id)
  await pageRoutes(server, {
    dist: DIST,
    baseUrl,
    appUrl,
    outbox: outbox !== undefined,
    idpLabel: idp?.label,
    signup,
    statementPrefix,
    hasDemo: (await productViews({ ...views, db: startDb }, demoIds)).length > 0,
    demoProducts: () => productViews(views, demoIds),
    isOperator: operators.isOperator,
    findProduct: async (productId, buyer) => inFirstPrice(await productView(views, productId, buyer)),
    countryOf,
    processors: [...processors.keys()],
    sitesOf: (productId) => sitesOfProduct(db, productId),
  })
  return { outboxUrl: outbox?.url }
}
