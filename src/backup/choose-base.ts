import { CannotStart } from '../kit/cannot-start.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { type Base, baseManifest, walName } from './names.ts'
import { findBases, timeOf } from './retention.ts'
import { type Timeline, isOnTheWay, readTimelines, timelineOf } from './timelines.ts'

export interface Chosen {
  base: Base
  timeline: Timeline
  /** The segments of later timelines to which no copy leads any more. */
  passedOver: number
  /** The objects of the log before the copy was chosen. A service that still runs removes old ones meanwhile. */
  log: string[]
  /** The damaged objects that were left out of the choice. */
  damaged: string[]
}

/**
 * The newest copy before `until` on the way to the timeline that the service wrote then. An earlier restore went back to some moment.
 * Copies that were made after that moment and before that restore are on no such way.
 */
export async function chooseBase(vault: Vault, until?: Date, timeoutMs?: number): Promise<Chosen> {
  const log = await vault.list('wal/')
  const { bases: all, damaged } = await findBases(vault)
  if (all.length === 0) throw new CannotStart('BACKUP_URL: there is no complete backup in this place.')
  const early = until ? all.filter(({ finishedAt }) => Date.parse(finishedAt) <= until.getTime()) : all
  const newest = early.at(-1)
  if (!newest) throw new CannotStart(`--at: the oldest backup is of ${all[0]!.finishedAt}.`)
  const { cluster } = newest
  const ofCluster = (bases: Base[]) => bases.filter((base) => base.cluster === cluster)
  const found = await readTimelines(vault, cluster, ofCluster(all), timeoutMs)
  // a later one is not missed
  const missed = until ? damaged.filter((id) => timeOf(id) <= until.getTime()) : damaged
  const leftOut = [...missed.map(baseManifest), ...found.damaged]
  let passedOver = 0
  for (const timeline of found.timelines.toReversed()) {
    if (until && timeline.beganAt && timeline.beganAt > until) continue
    const base = ofCluster(early).findLast((one) => isOnTheWay(one, timeline))
    if (base) return { base, timeline, passedOver, log, damaged: leftOut }
    const number = timeline.id.toString(16).toUpperCase().padStart(8, '0')
    passedOver += (await vault.list(walName(cluster, number))).filter((name) => !name.endsWith('.history')).length
  }
  // a copy whose history is not in the backup: its own timeline leads from it
  return {
    base: newest,
    timeline: { id: timelineOf(newest.firstSegment), forks: new Map() },
    passedOver: 0,
    log,
    damaged: leftOut,
  }
}
