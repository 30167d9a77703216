import type { Jobs } from '../kit/jobs.ts'
import { DropJob } from '../kit/jobs.ts'
import type { Processor } from '../processors/processor.ts'
import { ProcessorUnavailable } from '../processors/refusals.ts'

/** The queue of hosts that the processors are told. Added in the transaction that adds the site. */
export const SITE_HOSTS = 'site_hosts'

/** About a day in all: an outage passes, and until then only wallets are missing. */
const TRIES = { retries: 12, retryDelaySeconds: 30, retryDelayMaxSeconds: 4 * 3600, expireSeconds: 120, atOnce: 1 }

/**
 * Tells each processor the host of a site and the host of our own pages, which the frame shows. Wallets appear in a frame only where
 * the processor knows both. A refusal is final: the operator's key may not register hosts, and the doctor says so.
 */
export async function registerSiteHosts(
  jobs: Jobs,
  { processors, appUrl }: { processors: ReadonlyMap<string, Processor>; appUrl: string },
): Promise<void> {
  const own = new URL(appUrl)
  await jobs.on<{ host: string }>(SITE_HOSTS, TRIES, async ({ host }) => {
    for (const processor of processors.values())
      for (const one of own.protocol === 'https:' ? [host, own.hostname] : [])
        try {
          await processor.registerHost?.(one)
        } catch (error) {
          if (error instanceof ProcessorUnavailable && error.answered) throw new DropJob(error.message)
          throw error
        }
  })
}

/** The name that a processor can register: without a port. Undefined for a wildcard and for a developer's machine. */
export const registrableHost = (host: string): string | undefined =>
  host.startsWith('*.') || /^(?:localhost|127\.0\.0\.1)(?::|$)/.test(host) ? undefined : host.replace(/:\d+$/, '')
