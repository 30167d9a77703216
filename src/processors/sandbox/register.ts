import type { Server } from '../../kit/http.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { captureLater } from './bank.ts'
import { deliverNotifications } from './notify.ts'
import { endRefundsLater } from './refunds.ts'
import { type SandboxParts, sandboxRoutes } from './routes.ts'
import { notificationKeys } from './sandbox.ts'

/** Registers the sandbox's routes and jobs. It sends its notifications to the service's own webhook address. */
export async function registerSandbox(
  server: Server,
  { jobs, ownUrl, ...parts }: SandboxParts & { jobs: Jobs; ownUrl: () => string },
): Promise<void> {
  sandboxRoutes(server, parts)
  const { payments, secrets } = parts
  await captureLater(payments, jobs)
  await endRefundsLater(payments, jobs)
  await deliverNotifications(jobs, notificationKeys(secrets)[0]!, ownUrl)
}
