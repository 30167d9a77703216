import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import type { Browsers } from '../sellers/guard.ts'
import { confirmationRoutes } from './confirmation-routes.ts'
import { sweepConfirmations } from './confirmations.ts'
import { insideOf } from './inside.ts'
import { mcpRoute } from './mcp-route.ts'

interface AgentsParts {
  db: Db
  jobs: Jobs
  browsers: Browsers
  baseUrl: string
  appUrl: string
}

/** Registers the tools for programs that act for a seller, and the page on which the seller confirms their proposals. */
export async function registerAgents(
  server: Server,
  { db, jobs, browsers, baseUrl, appUrl }: AgentsParts,
): Promise<void> {
  const inside = insideOf(server, baseUrl)
  mcpRoute(server, { db, browsers, inside, baseUrl, appUrl })
  confirmationRoutes(server, { db, browsers, inside, appUrl })
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_confirmations', async () => {
    await sweepConfirmations(db)
  })
}
