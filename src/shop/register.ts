import type { CodeLimits } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Limit } from '../kit/limits.ts'
import type { FreeMailLimits } from '../orders/free-mails.ts'
import type { OrderUrls } from '../orders/urls.ts'
import type { Processor } from '../processors/processor.ts'
import type { Browsers } from '../sellers/guard.ts'
import { requestEmailChangeRoute } from './email-change-route.ts'
import { moneyRoutes } from './money-routes.ts'
import { orderRoutes } from './order-routes.ts'

interface ShopParts {
  db: Db
  jobs: Jobs
  browsers: Browsers
  processors: ReadonlyMap<string, Processor>
  config: {
    secrets: readonly string[]
    limits: CodeLimits & FreeMailLimits & { receipt?: Limit }
    payouts: { holdDays: number }
  }
  urls: Pick<OrderUrls, 'orderUrl'>
}

/** Registers the routes by which a seller reads the shop's orders and money. */
export function registerShop(server: Server, { db, jobs, browsers, processors, config, urls }: ShopParts): void {
  const { secrets, limits } = config
  orderRoutes(server, { db, jobs, browsers, limits, orderUrl: urls.orderUrl })
  requestEmailChangeRoute(server, { db, jobs, browsers, secrets, limits })
  moneyRoutes(server, { db, browsers, processors, holdDays: config.payouts.holdDays })
}
