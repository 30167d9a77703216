import { spawn } from 'node:child_process'
import path from 'node:path'
import pg from 'pg'
import { type Reconciliation, reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import { daysBefore } from '../../src/payments/reconciliation/nightly.ts'
import type { Processor } from '../../src/processors/processor.ts'
import { bareEnvironment } from './service.ts'
import { type Ends, SECRET, temporaryFolder } from './shop.ts'

const RECONCILE = path.join(import.meta.dirname, '../../scripts/reconcile.ts')

/** The reconciliation of the last `days` with one processor. */
export const reconciliationOf = (
  url: string,
  processor: Processor,
  days = 3,
  mostSuspects?: number,
): Promise<Reconciliation> => {
  const to = new Date()
  return reconcileBooks({
    database: { connectionString: url },
    processors: new Map([[processor.name, processor]]),
    from: daysBefore(to, days),
    to,
    graceMs: 0,
    ...(mostSuspects && { mostSuspects }),
  })
}

/** The kinds of a reconciliation’s differences, each once. */
export const kindsOf = ({ differences }: Reconciliation): string[] =>
  [...new Set(differences.map(({ what }) => what))].sort()

/** Changes rows that are append-only, as the tables' owner can. */
export async function planted(url: string, statement: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('alter table transfers disable trigger user')
    return (await client.query(statement)).rowCount! > 0
  } finally {
    await client.end()
  }
}

/** Runs `npm run reconcile` on a database. */
export async function reconcileCommand(
  t: Ends,
  url: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<{ status: number; output: string }> {
  const child = spawn(process.execPath, [RECONCILE, ...args], {
    env: { ...bareEnvironment(), DATABASE_URL: url, SECRET, DATA_DIR: await temporaryFolder(t), ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
  const status = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
  return { status, output }
}
