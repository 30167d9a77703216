import { type Db, inTransaction } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Processor } from '../processors/processor.ts'
import { ProcessorUnavailable } from '../processors/refusals.ts'
import { registrableHosts } from './sites.ts'

const QUEUE = 'all_site_hosts'
const NIGHTLY = '17 3 * * *'

/**
 * Tells the processors the hosts of all sites, at each start and each night: a site may have been added before its processor was
 * configured, or while the processor was out for a day. A host that is registered already costs nothing more.
 */
export async function registerAllSites(
  jobs: Jobs,
  parts: { db: Db; processors: ReadonlyMap<string, Processor>; appUrl: string },
): Promise<void> {
  const { db, processors, appUrl } = parts
  const own = new URL(appUrl)
  const takers = [...processors.values()].filter(({ registerHosts }) => registerHosts)
  await jobs.every(NIGHTLY, QUEUE, async () => {
    const hosts = own.protocol === 'https:' ? await registrableHosts(db) : []
    if (hosts.length === 0) return
    for (const processor of takers)
      await processor.registerHosts!([own.hostname, ...hosts]).catch((error: unknown) => {
        // a refusal stays one, and the doctor says so
        if (!(error instanceof ProcessorUnavailable && error.answered)) throw error
      })
  })
  if (takers.length > 0 && own.protocol === 'https:')
    await inTransaction(db, (tx) => jobs.add(tx, QUEUE, [{ data: {} }]))
}
