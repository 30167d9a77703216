import { lastRuns } from '../backup/runs.ts'
import type { Db } from '../kit/database.ts'
import type { Check } from './machine.ts'

const HOUR_MS = 3_600_000
/** A backup runs each night, so an older one means that one has not. */
const OLD_HOURS = 30

/** How the backups stand: the age of the last one that went well, and the failures since. */
export async function lastBackup(db: Db, now = Date.now()): Promise<Omit<Check, 'about'>> {
  const runs = await lastRuns(db)
  const base = runs.find(({ kind }) => kind === 'base')
  const advice = 'See the log of the service, and docs/backup.md.'
  if (!base?.wentWellAt)
    return { mark: base?.problem ? 'failure' : 'warning', says: 'No backup has been made yet.', advice }
  const hours = Math.floor((now - base.wentWellAt.getTime()) / HOUR_MS)
  const says = `The last backup is ${hours === 1 ? '1 hour' : `${hours} hours`} old.`
  if (base.problem !== null) return { mark: 'failure', says: `${says} A problem since then: ${base.problem}`, advice }
  const drill = runs.find(({ kind, problem }) => kind === 'drill' && problem !== null)
  if (drill) return { mark: 'failure', says: `${says} Its restore was tried and failed: ${drill.problem}`, advice }
  return hours > OLD_HOURS ? { mark: 'failure', says, advice } : { mark: 'fine', says }
}

/** How the last restore drill went, where the database's own server has backups that this service does not see. Null: none was run. */
export async function lastDrill(db: Db): Promise<Omit<Check, 'about'> | null> {
  const drill = (await lastRuns(db)).find(({ kind }) => kind === 'drill')
  if (!drill) return null
  const day = drill.endedAt.toISOString().slice(0, 10)
  if (drill.problem === null) return { mark: 'fine', says: `The last restore drill went well, on ${day}.` }
  const says = `The restore drill of ${day} failed: ${drill.problem}`
  return { mark: 'failure', says, advice: 'See docs/backup.md, and run npm run drill again.' }
}
