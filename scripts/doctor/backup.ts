import { lostPlace } from '../../src/backup/lost.ts'
import { baseManifest } from '../../src/backup/names.ts'
import { findBases } from '../../src/backup/retention.ts'
import { type LastRun, lastRuns } from '../../src/backup/runs.ts'
import { openVault } from '../../src/kit/vault/vault.ts'
import { hasColumn } from './database.ts'
import { type Finding, type Patient, failure } from './finding.ts'

const HOUR_MS = 3_600_000
/** A nightly backup, and one that is late. */
const OLDEST_BACKUP_HOURS = 26
const OLDEST_DRILL_HOURS = 8 * 24
const ABOUT = 'backup'

/** Looks into the place of the backups, and at the last restore drill. */
export async function checkBackup({ config, database }: Patient): Promise<Finding[]> {
  if (!config.backup) {
    if (config.databaseUrl) return drillElsewhere(database)
    const db = await database
    const place = db && (await hasColumn(db, 'installation', 'backup_place')) ? await lostPlace(db, config) : undefined
    if (place !== undefined)
      return [
        failure(ABOUT, `BACKUP_URL is not set, and the backups were at ${place}`, 'set it again, or BACKUP_URL=none to do without backups'), // oxfmt-ignore
      ]
    if (!config.isPublic) return []
    return [
      { about: ABOUT, mark: 'warning', says: 'no backup is set up', advice: 'set BACKUP_URL, see docs/backup.md' },
    ]
  }
  const { bases, damaged } = await findBases(openVault(config.backup.place, config.backup.keys))
  const newest = bases.at(-1)
  if (!newest)
    return [{ about: ABOUT, mark: 'failure', says: 'there is no complete backup', advice: 'run "npm run backup"' }]
  const runs = await runsIn(database)
  const problem = runs.find(({ kind }) => kind === 'base')?.problem
  const hours = (Date.now() - Date.parse(newest.finishedAt)) / HOUR_MS
  const age: Finding =
    hours > OLDEST_BACKUP_HOURS
      ? {
          about: ABOUT,
          mark: 'failure',
          says: `the newest is ${hours.toFixed(0)} hours old`,
          advice: 'see the service’s log',
        }
      : problem
        ? {
            about: ABOUT,
            mark: 'failure',
            says: `the newest is of ${newest.finishedAt}; a problem since then: ${problem}`,
            advice: 'see docs/backup.md',
          }
        : { about: ABOUT, mark: 'fine', says: `the newest is of ${newest.finishedAt}, and can be read` }
  const broken = damaged.map((id) =>
    failure(ABOUT, `${baseManifest(id)} is damaged`, 'remove this copy, see docs/backup.md'),
  )
  return [age, ...broken, drillFinding(runs.find(({ kind }) => kind === 'drill'))]
}

/** The tools of an own server make its backups. If somebody has tried the restore by `npm run drill`, its result is noted here. */
async function drillElsewhere(database: Patient['database']): Promise<Finding[]> {
  const drill = (await runsIn(database)).find(({ kind }) => kind === 'drill')
  return drill ? [drillFinding(drill)] : []
}

/** None in a database that the first start has not filled yet. */
async function runsIn(database: Patient['database']): Promise<LastRun[]> {
  const db = await database
  return db && (await hasColumn(db, 'backup_runs', 'problem')) ? lastRuns(db) : []
}

function drillFinding(drill: LastRun | undefined): Finding {
  const about = 'restore drill'
  const advice = 'run "npm run drill"'
  if (!drill) return { about, mark: 'warning', says: 'no restore was ever tried', advice }
  if (drill.problem !== null) return { about, mark: 'failure', says: `failed: ${drill.problem}`, advice }
  const isOld = Date.now() - drill.endedAt.getTime() > OLDEST_DRILL_HOURS * HOUR_MS
  if (isOld) return { about, mark: 'warning', says: `the last one was on ${drill.endedAt.toISOString()}`, advice }
  return { about, mark: 'fine', says: `the last one went well, on ${drill.endedAt.toISOString()}` }
}
