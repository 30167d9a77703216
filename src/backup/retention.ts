import { SealError, isDamage } from '../kit/vault/sealed.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { type Base, FOLDERS, fileName } from './names.ts'

const DAY_MS = 86_400_000
const DAILY = 7
const WEEKLY = 4
const MONTHLY = 6
/** A base without a manifest may still be on its way for so long. */
const GRACE_MS = 2 * DAY_MS

type Dated = Pick<Base, 'id' | 'startedAt' | 'cluster' | 'firstSegment'>

/**
 * Oldest first, by the place in the log, because the clock can have been set back. A restore begins a new timeline, which counts
 * first. Clusters follow each other by the times of their bases with the highest place, because an operator can go back to an earlier one.
 */
function inLogOrder<One extends Dated>(bases: readonly One[]): One[] {
  const ends = new Map<string, One>()
  for (const base of bases)
    if (base.firstSegment >= (ends.get(base.cluster)?.firstSegment ?? '')) ends.set(base.cluster, base)
  const places = new Map(
    bases.map((one) => [one, `${ends.get(one.cluster)!.startedAt} ${one.cluster} ${one.firstSegment}`]),
  )
  return bases.toSorted((a, b) => (places.get(a)! < places.get(b)! ? -1 : 1))
}

/**
 * All of the last day, and the newest of each of the last 7 days, 4 weeks and 6 months that have one. So the newest of all stays
 * however old it is. Of a day with a restore, the newest of each timeline stays: the state that the restore left needs files of which
 * only its own base knows.
 */
export function keptBases<One extends Dated>(bases: readonly One[], now: Date): { kept: One[]; daily: One[] } {
  const newestFirst = inLogOrder(bases).reverse()
  const newestOf = (periodOf: (at: Date) => string, count: number, partOf: (base: One) => string = () => '') => {
    const periods = new Map<string, Map<string, One>>()
    for (const base of newestFirst) {
      const period = periodOf(new Date(base.startedAt))
      if (!periods.has(period) && periods.size < count) periods.set(period, new Map())
      const parts = periods.get(period)
      if (parts && !parts.has(partOf(base))) parts.set(partOf(base), base)
    }
    return [...periods.values()].flatMap((parts) => [...parts.values()])
  }
  const fresh = bases.filter(({ startedAt }) => now.getTime() - Date.parse(startedAt) < DAY_MS)
  const timelineOf = ({ firstSegment }: One) => firstSegment.slice(0, 8)
  const daily = newestOf((at) => at.toISOString().slice(0, 10), DAILY, timelineOf)
  const weekly = newestOf((at) => mondayOf(at), WEEKLY)
  const monthly = newestOf((at) => at.toISOString().slice(0, 7), MONTHLY)
  const lately = [...new Set([...fresh, ...daily])]
  return { kept: [...new Set([...lately, ...weekly, ...monthly])], daily: lately }
}

function mondayOf(at: Date): string {
  const daysSince = (at.getUTCDay() + 6) % 7
  return new Date(at.getTime() - daysSince * DAY_MS).toISOString().slice(0, 10)
}

export interface BasesFound {
  /** Oldest first. */
  bases: Base[]
  /** The ids of the bases whose manifest is damaged. Nothing can be restored from them. */
  damaged: string[]
}

/** Finds all complete bases. A damaged manifest hides only its own base. Throws a SealError when none is whole, or one needs another key. */
export async function findBases(vault: Vault): Promise<BasesFound> {
  const names = (await vault.list('base/')).filter((name) => name.endsWith('/manifest'))
  const read = await Promise.all(names.map((name) => manifestOf(vault, name)))
  const bases = inLogOrder(read.filter((one): one is Base => one !== undefined && !(one instanceof SealError)))
  const problem = read.find((one) => one instanceof SealError)
  if (problem && bases.length === 0) throw problem
  const damaged = names.filter((_, at) => read[at] instanceof SealError)
  return { bases, damaged: damaged.map((name) => name.split('/')[1]!) }
}

/** Undefined when it was removed meanwhile. */
async function manifestOf(vault: Vault, name: string): Promise<Base | SealError | undefined> {
  try {
    return await vault.readJson<Base>(name)
  } catch (error) {
    if (isDamage(error)) return error
    throw error
  }
}

/** Returns all complete bases that are whole, oldest first. */
export const readBases = async (vault: Vault): Promise<Base[]> => (await findBases(vault)).bases

export interface Pruned {
  removed: number
  /** As in BasesFound. They stay until the operator removes them. */
  damaged: string[]
}

/**
 * Removes what no kept base needs. Keeps all WAL since the oldest daily base, so that a restore can go to any moment of the last days, and
 * of older WAL only what the weekly and monthly bases need to be whole. While a base is damaged, its needs are unknown. Then this removes
 * only other bases, and neither WAL nor files.
 */
export async function prune(vault: Vault, now: Date): Promise<Pruned> {
  const { bases, damaged } = await findBases(vault)
  const { kept: wanted, daily } = keptBases(bases, now)
  if (wanted.length === 0) return { removed: 0, damaged }
  const kept = damaged.length > 0 ? withTheirFiles(wanted, bases) : wanted
  const gone: string[] = []
  const keptIds = new Set(kept.map(({ id }) => id))
  for (const name of await vault.list('base/')) {
    const [, id = '', what] = name.split('/')
    if (keptIds.has(id) || damaged.includes(id)) continue
    // a base without a manifest is being written, or was cut off
    const isYoung = !bases.some((base) => base.id === id) && now.getTime() - timeOf(id) < GRACE_MS
    if (isYoung) continue
    // the manifest goes first: a base that is half removed must not look complete
    if (what === 'manifest') gone.unshift(name)
    else gone.push(name)
  }
  if (damaged.length === 0) gone.push(...(await unneeded(vault, bases, kept, daily)))
  for (const name of gone) await vault.remove(name)
  await vault.removeUnfinished(FOLDERS, GRACE_MS)
  return { removed: gone.length, damaged }
}

/** Adds the bases that know of a file which no kept one knows: without them, a later removal could not tell when that file can go. */
function withTheirFiles(kept: readonly Base[], bases: readonly Base[]): Base[] {
  const known = new Set(kept.flatMap((base) => base.files))
  return bases.filter((base) => kept.includes(base) || base.files.some((key) => !known.has(key)))
}

/** The parts of the log and the files that no kept base needs. */
async function unneeded(
  vault: Vault,
  bases: readonly Base[],
  kept: readonly Base[],
  daily: readonly Base[],
): Promise<string[]> {
  const gone: string[] = []
  for (const name of await vault.list('wal/')) {
    const [, cluster = '', segment = ''] = name.split('/')
    // the first base of a cluster may be on its way
    if (segment.endsWith('.history') || !bases.some((base) => base.cluster === cluster)) continue
    const position = positionOf(segment)
    const isFrom = (base: Base) => base.cluster === cluster && positionOf(base.firstSegment) <= position
    const isNeeded = daily.some(isFrom) || kept.some((base) => isFrom(base) && position <= positionOf(base.lastSegment))
    if (!isNeeded) gone.push(name)
  }
  const files = new Set(kept.flatMap((base) => base.files).map(fileName))
  const known = new Set(bases.flatMap((base) => base.files).map(fileName))
  // a file that no base knows is newer than all of them
  for (const name of await vault.list(fileName(''))) if (known.has(name) && !files.has(name)) gone.push(name)
  return gone
}

/** The place of a segment in the log, whatever its timeline. */
const positionOf = (segment: string): string => segment.slice(8, 24)

/** When the base of this id began, in milliseconds. */
export function timeOf(id: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(id) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) || 0
}
