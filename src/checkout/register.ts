import type { Db } from '../kit/database.ts'
import { countryFinder } from '../kit/country.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { TrustedProxy } from '../kit/peers.ts'
import { orderMaker } from '../orders/create.ts'
import { orderFinder } from '../orders/find.ts'
import { orderPasses } from '../orders/order-passes.ts'
import { statusTokens } from '../orders/status-tokens.ts'
import type { OrderUrls } from '../orders/urls.ts'
import { firstAttempts } from '../payments/attempts/attempts.ts'
import { payerOf } from '../payouts/accounts/payers.ts'
import { buyerTaxIdChecker } from '../taxes/buyer-tax-ids.ts'
import { registerAsker } from '../tax-ids/vies.ts'
import type { Payments } from '../payments/register.ts'
import type { Processor } from '../processors/processor.ts'
import { processorFor } from '../processors/routing.ts'
import { type CheckoutLimits, checkoutRoutes } from './routes.ts'

interface CheckoutParts {
  db: Db
  jobs: Jobs
  processors: ReadonlyMap<string, Processor>
  payments: Pick<Payments, 'start' | 'sync' | 'readSettled'>
  config: {
    secrets: readonly string[]
    limits: CheckoutLimits
    statementPrefix: string
    orderTtlHours: { instant: number }
    payouts: { by: string }
    countryHeader: string | undefined
    trustProxy: TrustedProxy
    viesUrl: string | undefined
  }
  urls: Pick<OrderUrls, 'downloadUrl' | 'invoiceUrl' | 'payUrl'>
  baseUrl: string
}

/** Registers the buyers' routes: products for sale, orders, and their status. */
export function registerCheckout(
  server: Server,
  { db, jobs, processors, payments, config, urls, baseUrl }: CheckoutParts,
): void {
  const { secrets, limits, statementPrefix } = config
  const checkTaxId = buyerTaxIdChecker(db, registerAsker(config.viesUrl, { log: server.log }))
  const settings = {
    checkTaxId,
    statementPrefix,
    ttlHours: config.orderTtlHours.instant,
    paymentsLive: processors.size > 0,
    accountsAt: payerOf(config.payouts.by),
    freeMail: limits,
    ...(processors.size > 0 && {
      firstAttempts: firstAttempts((currency) => processorFor(processors, currency)?.name),
    }),
  }
  checkoutRoutes(server, {
    db,
    jobs,
    processors,
    payments,
    checkTaxId,
    createOrder: orderMaker(db, jobs, settings),
    findOrder: orderFinder(db),
    statusTokens: statusTokens(secrets),
    limits,
    countryOf: countryFinder(config.countryHeader, config.trustProxy),
    asksVies: config.viesUrl !== undefined,
    baseUrl,
    rule: settings,
    passes: orderPasses(secrets),
    links: { ...urls, baseUrl, statusUrl: (orderId) => `${baseUrl}/api/checkout/${orderId}/status` },
  })
}
