import type { Db } from '../kit/database.ts'
import type { Deadlines } from '../kit/deadlines.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Limit } from '../kit/limits.ts'
import type { Log } from '../kit/log.ts'
import { type ProcessorOptions, openProcessors } from './open.ts'
import type { FindStored, Processor } from './processor.ts'
import { sandboxPayments } from './sandbox/payments.ts'
import { registerSandbox } from './sandbox/register.ts'
import { sandboxProcessor } from './sandbox/sandbox.ts'

interface ProcessorParts {
  db: Db
  /** For the payment methods that the accounts offer. */
  reservedDb: Db
  jobs: Jobs
  config: Pick<ProcessorOptions, 'processors' | 'stripe' | 'razorpay' | 'statementPrefix'> & {
    secrets: readonly string[]
    limits: { sandbox?: Limit }
    isPublic: boolean
    demoOnNetwork: boolean
    deadlines: Pick<Deadlines, 'processorCallMs'>
  }
  stored: FindStored
  /** The address the service listens on, for itself. */
  ownUrl: () => string
  log: Log
}

/** Opens the configured processors. Registers the sandbox's routes and jobs if it is one of them. */
export async function registerProcessors(
  server: Server,
  { db, reservedDb, jobs, config, stored, ownUrl, log }: ProcessorParts,
): Promise<ReadonlyMap<string, Processor>> {
  const { processors: names, stripe, razorpay, statementPrefix, secrets, limits, isPublic, demoOnNetwork } = config
  const payments = sandboxPayments(db, jobs)
  const sandbox = () => sandboxProcessor(db, jobs, secrets, payments)
  const callMs = config.deadlines.processorCallMs
  const options = { processors: names, stripe, razorpay, statementPrefix, callMs, db: reservedDb, stored, sandbox }
  const processors = await openProcessors(options, log)
  if (processors.has('sandbox')) {
    const onlyFromHere = !isPublic && !demoOnNetwork
    await registerSandbox(server, { payments, jobs, secrets, limit: limits.sandbox, onlyFromHere, ownUrl })
  }
  return processors
}
