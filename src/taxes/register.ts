import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import { forgetViesAnswers } from './buyer-tax-ids.ts'
import { sweepEvidence } from './evidence.ts'
import { type TaxParts, profileRoutes } from './profile-routes.ts'
import { reportRoute } from './report-route.ts'

const NIGHTLY = '41 4 * * *'

/** Registers the routes for sellers' tax profiles and tax reports. */
export async function registerTaxes(server: Server, { jobs, ...parts }: TaxParts & { jobs: Jobs }): Promise<void> {
  profileRoutes(server, parts)
  reportRoute(server, parts)
  await jobs.every(NIGHTLY, 'sweep_evidence', async () => {
    await sweepEvidence(parts.db)
    await forgetViesAnswers(parts.db)
  })
}
