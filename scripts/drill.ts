// npm run drill    restores the newest backup into a temporary folder, and checks its books and files
// Ends with 0: the backup can be relied on; 1: it cannot.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import os from 'node:os'
import { text } from 'node:stream/consumers'
import { drill } from '../src/backup/drill.ts'
import { noteRun } from '../src/backup/runs.ts'
import { CannotStart } from '../src/kit/cannot-start.ts'
import { connect } from '../src/kit/database.ts'
import { openVault } from '../src/kit/vault/vault.ts'
import { daysBefore } from '../src/payments/reconciliation/nightly.ts'
import { reconcileBooks } from '../src/payments/reconciliation/reconcile.ts'
import { giveWayToSales, ownDatabase, settingsOrExit } from './own-database.ts'

const DAYS = 15
const began = new Date()
const config = settingsOrExit(1)
if (process.argv.includes('--by-service')) giveWayToSales()
try {
  const { problem } = config.drillRestoreCommand ? await drillByCommand(config.drillRestoreCommand) : await drillOurs()
  if (problem) console.error(`The backup cannot be relied on: ${problem}.`)
  process.exitCode = problem ? 1 : 0
} catch (error) {
  if (!(error instanceof CannotStart)) console.error(error)
  // the service takes the last line for its mail
  console.error((error as Error).message)
  await note({ bytes: 0, problem: (error as Error).message })
  process.exitCode = 1
}

async function drillOurs(): Promise<{ problem?: string | undefined }> {
  if (!config.backup) throw new CannotStart('BACKUP_URL: not set or none, so there is nothing to try. With DATABASE_URL, set DRILL_RESTORE_COMMAND.')
  const vault = openVault(config.backup.place, config.backup.keys)
  const report = await drill({ vault, secrets: config.secrets, parent: os.tmpdir(), onProgress: say })
  const { seconds, bytes, lostSeconds, problem } = report
  console.log(`${seconds.toFixed(1)} s for ${(bytes / 1e6).toFixed(0)} MB. If this machine were gone now, the last ${lostSeconds.toFixed(0)} s would be lost.`)
  await note({ bytes, lostSeconds, problem })
  return { problem }
} // oxfmt-ignore

/** The operator's own command restores a copy, and prints its address in its last line. The copy is only read. */
async function drillByCommand(command: string): Promise<{ problem?: string | undefined }> {
  say('DRILL_RESTORE_COMMAND')
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed, [status]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  const url = printed.trim().split('\n').at(-1) ?? ''
  if (status !== 0) throw new CannotStart(`DRILL_RESTORE_COMMAND: ended with ${status}`)
  if (!/^postgres(ql)?:\/\//.test(url)) throw new CannotStart('DRILL_RESTORE_COMMAND: its last line must be the address of the copy, postgres://…')
  if (url === config.databaseUrl) throw new CannotStart('DRILL_RESTORE_COMMAND: printed the address of the service’s own database')
  say('the books')
  const database = { connectionString: url, options: '-c default_transaction_read_only=on' }
  const { differences } = await reconcileBooks({ database, processors: new Map(), from: daysBefore(began, DAYS), to: new Date() })
  const problem = differences.length > 0 ? `the books differ in ${differences.length} places` : undefined
  console.log(`${((Date.now() - began.getTime()) / 1000).toFixed(1)} s.`)
  await note({ bytes: 0, problem })
  return { problem }
} // oxfmt-ignore

/** The service shows the result. A drill on a machine without the service's database is not noted. */
async function note(result: { bytes: number; lostSeconds?: number; problem?: string | undefined }): Promise<void> {
  try {
    const database = await ownDatabase(config)
    const { db, close } = connect({ connectionString: database.url }, { connections: 1 })
    await noteRun(db, { kind: 'drill', startedAt: began, ...result }).finally(close)
    await database.stop()
  } catch (error) {
    say(`not noted in the database: ${(error as Error).message}`)
  }
}

function say(what: string): void {
  console.log(`${((Date.now() - began.getTime()) / 1000).toFixed(1).padStart(6)} s  ${what}`)
}
