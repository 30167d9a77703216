import { text } from 'node:stream/consumers'
import { arriving } from '../kit/embedded/recovery.ts'
import { isDamage } from '../kit/vault/sealed.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { type Base, timelineName, walName } from './names.ts'

// Each restore of a database begins a new timeline of its log, which PostgreSQL numbers upwards. Its history says where it left the
// earlier ones. The restored service never saw what they have after that point.

/** The log's way to a state of the database: one timeline, and the parts of the earlier ones that lead to it. */
export interface Timeline {
  id: number
  /** When the restore was made that began it. Undefined for the first one. */
  beganAt?: Date
  /** For each earlier timeline on the way: the first segment that does not wholly belong to it. */
  forks: ReadonlyMap<number, bigint>
}

/** The object at `timelineName`. `beganAt` is in ISO 8601. */
export interface TimelineBegin {
  beganAt: string
}

const SEGMENT_BYTES = 16n * 1024n * 1024n
/** A line of a history: the earlier timeline, where the new one left it (as two halves of 32 bits), and the reason. */
const HISTORY_LINE = /^(\d+)\t([0-9A-F]+)\/([0-9A-F]+)/gim

/** The timeline of a segment, and its place in the log. */
export const timelineOf = (segment: string): number => Number.parseInt(segment.slice(0, 8), 16)
export const positionOf = (segment: string): bigint =>
  // with segments of 16 MB, the last part of a name counts to 255
  BigInt(`0x${segment.slice(8, 16)}`) * 256n + BigInt(`0x${segment.slice(16, 24)}`)

export function forksOf(history: string): Map<number, bigint> {
  const lines = history.matchAll(HISTORY_LINE)
  return new Map(
    Array.from(lines, ([, id, high, low]) => [
      Number(id),
      ((BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)) / SEGMENT_BYTES,
    ]),
  )
}

export interface TimelinesFound {
  /** The first one first. */
  timelines: Timeline[]
  /** The objects about timelines that are damaged. */
  damaged: string[]
}

/**
 * Finds all timelines of a cluster in the backup. `bases`: the copies of that cluster. To a timeline whose history is damaged only its own
 * copies lead.
 */
export async function readTimelines(
  vault: Vault,
  cluster: string,
  bases: readonly Base[],
  timeoutMs?: number,
): Promise<TimelinesFound> {
  const prefix = walName(cluster, '')
  const found: Timeline[] = []
  const damaged: string[] = []
  const unlessDamaged = async <T>(name: string, work: Promise<T | undefined>): Promise<T | undefined> => {
    try {
      return await work
    } catch (error) {
      if (!isDamage(error)) throw error
      damaged.push(name)
      return undefined
    }
  }
  for (const name of (await vault.list(prefix)).filter((one) => one.endsWith('.history')).sort()) {
    const number = name.slice(prefix.length, prefix.length + 8)
    const begin = timelineName(cluster, number)
    const [history, known] = await arriving(
      `${number}.history`,
      Promise.all([
        unlessDamaged(name, textOf(vault, name)),
        unlessDamaged(begin, vault.readJson<TimelineBegin>(begin)),
      ]),
      timeoutMs,
    )
    if (history === undefined && !damaged.includes(name)) continue
    const id = timelineOf(number)
    // an earlier release did not note it: the restore was made after the last copy of the timelines before
    const beganAt = known?.beganAt ?? lastOf(bases.filter((base) => timelineOf(base.firstSegment) < id))
    found.push({ id, forks: forksOf(history ?? ''), ...(beganAt && { beganAt: new Date(beganAt) }) })
  }
  return { timelines: [{ id: 1, forks: new Map() }, ...found], damaged }
}

async function textOf(vault: Vault, name: string): Promise<string | undefined> {
  const bytes = await vault.read(name, { compressed: true })
  return bytes && text(bytes)
}

const lastOf = (bases: readonly Base[]): string | undefined =>
  bases
    .map(({ finishedAt }) => finishedAt)
    .sort()
    .at(-1)

/** Whether the copy was complete on this way. Then the log leads from it to the end of the way. */
export function isOnTheWay({ firstSegment, lastSegment }: Base, { id, forks }: Timeline): boolean {
  const own = timelineOf(firstSegment)
  const fork = forks.get(own)
  return own === id || (fork !== undefined && positionOf(lastSegment) < fork)
}

/** The segments of the way from this place on, in their order. Where a timeline leaves another, its own segment counts. */
export function segmentsOfWay(segments: readonly string[], from: bigint, { id, forks }: Timeline): string[] {
  const atPosition = new Map<bigint, string>()
  for (const segment of segments.toSorted()) {
    const position = positionOf(segment)
    const fork = forks.get(timelineOf(segment))
    if (position >= from && (timelineOf(segment) === id || (fork !== undefined && position <= fork)))
      atPosition.set(position, segment)
  }
  return [...atPosition].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, segment]) => segment)
}
