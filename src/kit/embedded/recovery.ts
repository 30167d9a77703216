import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { CannotStart } from '../cannot-start.ts'
import { inTime, OutOfTime } from '../time.ts'
import { checkVersion, DATABASE, readSuperuserPassword, SUPERUSER } from './cluster.ts'
import { findPlace, giveTo, type Place, runProgram, WINDOWS } from './place.ts'
import { ensureRunning, stopPostmaster } from './postmaster.ts'

const POLL_MS = 20
const ENDS_BEFORE = /recovery ended before configured recovery target was reached/
/** The log of a week takes a while. */
const RECOVERY_TIMEOUT_MS = 24 * 3_600_000
/** A segment has 16 MB, before it is compressed. */
const FETCH_TIMEOUT_MS = 600_000
/** PostgreSQL waits longer than we do, so it ends by itself only when we were killed. */
const MORE_MS = 60_000

/** Waits for an object of the backup. Throws CannotStart when it does not come in time. */
export async function arriving<T>(name: string, work: Promise<T>, timeoutMs = FETCH_TIMEOUT_MS): Promise<T> {
  try {
    return await inTime(work, timeoutMs)
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    const says = `BACKUP_URL: ${name} has not come within ${timeoutMs / 1000} s. Run the restore again when the place answers.`
    throw new CannotStart(says, { cause: error })
  }
}

export interface Recovery {
  /** The folder of the cluster. Its `data` holds a copy that was made of a running server. */
  dir: string
  name: string
  /** The contents of `backup_label`, as PostgreSQL gave it when the copy ended. */
  label: string
  /** The timeline of the log to follow. */
  timeline: number
  /** The moment to go back to. Undefined: as far as there are segments. */
  until?: Date | undefined
  /** Writes a segment into a file. Returns false when there is none. */
  fetch(segment: string, file: string): Promise<boolean>
  /** The longest wait for one segment. */
  fetchTimeoutMs?: number | undefined
  onProgress?: (segment: string) => void
}

/**
 * Makes a database of the copy: PostgreSQL applies the segments of the write-ahead log and opens the database. It asks for each
 * segment by a file in a folder that both can reach, because its account can run no program of ours. Returns the time of the last
 * transaction that it has applied. When it returns, the server has ended and the data is on the disk.
 */
export async function recover(recovery: Recovery): Promise<Date | undefined> {
  const { dir, name, label, timeline, until, fetch, fetchTimeoutMs = FETCH_TIMEOUT_MS, onProgress } = recovery
  const place = findPlace(dir, name)
  checkVersion(place)
  const folder = path.join(place.home, 'asked')
  fs.mkdirSync(folder, { mode: 0o700 })
  for (const [file, text] of [
    ['backup_label', label],
    ['recovery.signal', ''],
  ] as const)
    fs.writeFileSync(path.join(place.dataDir, file), text, { mode: 0o600 })
  giveAll(place, place.dataDir)
  giveTo(place.account, folder)
  runProgram(place, 'initdb', place.dataDir, (inside) => ['--sync-only', '-D', inside])

  const requests = serve(place, folder, { fetch, fetchTimeoutMs, onProgress })
  const answerWithinMs = fetchTimeoutMs + MORE_MS
  try {
    const start = (to: Date | undefined) =>
      ensureRunning(place, { durable: true, maxConnections: 10, recovery: { folder, timeline, until: to, answerWithinMs } }, undefined, RECOVERY_TIMEOUT_MS) // oxfmt-ignore
    const running = await start(until).catch((error: Error) => {
      // the log ends with transactions before that moment, so its end is the state at that moment
      if (until && requests.isFine() && ENDS_BEFORE.test(error.message)) return start(undefined)
      throw error
    })
    const lastAt = await lastApplied(place, running)
    await stopPostmaster(place, running)
    return lastAt
  } finally {
    // throws the error of a segment that could not be read, because it caused any other error
    await requests.end()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** The time of the last transaction that the recovery has applied. */
async function lastApplied(place: Place, { socketDir, port }: { socketDir: string; port: number }) {
  const client = new pg.Client({
    host: WINDOWS ? '127.0.0.1' : socketDir,
    port,
    user: SUPERUSER,
    password: readSuperuserPassword(place.dataDir),
    database: DATABASE,
  })
  await client.connect()
  const { rows } = await client.query<{ at: Date | null }>('select pg_last_xact_replay_timestamp() as at')
  await client.end()
  return rows[0]!.at ?? undefined
}

/**
 * Answers PostgreSQL's requests for segments, and fetches the next ones ahead. After a failure it answers that there are no more, so
 * that the server ends its recovery, and `end` throws the failure.
 */
function serve(
  place: Place,
  folder: string,
  { fetch, fetchTimeoutMs, onProgress }: Pick<Recovery, 'fetch' | 'onProgress'> & { fetchTimeoutMs: number },
) {
  let failure: { error: unknown } | undefined
  const over = new AbortController()
  const ahead = new Map<string, Promise<boolean>>()
  const fetched = (segment: string) => {
    const known = ahead.get(segment)
    if (known) return known
    const file = path.join(folder, `${segment}.part`)
    const started = arriving(segment, fetch(segment, file), fetchTimeoutMs).then(
      (found) => {
        if (found) giveTo(place.account, file)
        return found
      },
      (error: unknown) => {
        failure ??= { error }
        return false
      },
    )
    ahead.set(segment, started)
    return started
  }
  const answer = async (want: string) => {
    const segment = want.slice(0, -'.want'.length)
    onProgress?.(segment)
    const found = fetched(segment)
    for (const next of following(segment)) void fetched(next)
    const file = path.join(folder, segment)
    if ((await found) && !failure) fs.renameSync(`${file}.part`, `${file}.here`)
    else fs.writeFileSync(`${file}.none`, '')
    ahead.delete(segment)
    fs.rmSync(path.join(folder, want), { force: true })
  }
  const working = (async () => {
    while (!over.signal.aborted) {
      const wanted = fs.readdirSync(folder).filter((name) => name.endsWith('.want'))
      for (const want of wanted) await answer(want)
      if (wanted.length === 0) await sleep(POLL_MS)
    }
    await Promise.all(ahead.values())
  })()
  return {
    isFine: () => failure === undefined,
    async end() {
      over.abort()
      await working
      if (failure) throw failure.error
    },
  }
}

const AHEAD = 4
/** The names of the next segments. With segments of 16 MB, the last part of a name counts to 255. */
function following(segment: string): string[] {
  if (!/^[0-9A-F]{24}$/.test(segment)) return []
  const base = BigInt(`0x${segment.slice(8, 16)}`) * 256n + BigInt(`0x${segment.slice(16)}`)
  return Array.from({ length: AHEAD }, (_, n) => {
    const at = base + BigInt(n + 1)
    const hex = (value: bigint) => value.toString(16).toUpperCase().padStart(8, '0')
    return segment.slice(0, 8) + hex(at / 256n) + hex(at % 256n)
  })
}

function giveAll({ account }: Place, dataDir: string): void {
  if (account.uid === undefined) return
  for (const file of [...fs.readdirSync(dataDir, { recursive: true, encoding: 'utf8' }), '.'])
    giveTo(account, path.join(dataDir, file))
}
