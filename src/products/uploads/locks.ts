import type { Lock, Locker } from '@tus/server'
import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import type { Resumable } from '../../kit/storage/storage.ts'

/** A writer that has not renewed its lock for this long counts as dead. */
const LEASE_SECONDS = 6
const RENEW_MS = 1_000
/** A writer that could not renew its lock for this long stops: soon another one can take the lock. */
const STOP_MS = 4_000
const ASK_AGAIN_MS = 200
const WAIT_MS = 10_000

/**
 * Allows one writer for each upload, across all instances. A new writer ends the old one, whose connection has most likely died. A writer
 * that loses its lock, or may soon lose it because the database does not answer, is stopped by `cut`, so that it stores as little as possible after that.
 */
export function uploadLocker(db: Db, { keyOf, cut }: Pick<Resumable, 'keyOf' | 'cut'>): Locker {
  const held = new Map<string, () => unknown>()
  return {
    newLock(name): Lock {
      const id = keyOf(name)
      const holder = randomUUID()
      let renewing: NodeJS.Timeout | undefined
      let isOver = false
      return {
        async lock(signal, giveWay) {
          let renewedAt = performance.now()
          for (const end = Date.now() + WAIT_MS; ; await sleep(ASK_AGAIN_MS)) {
            renewedAt = performance.now()
            if (await take(db, id, holder)) break
            // a writer in this process stops at once; one in another instance notices at its next renewal
            void held.get(id)?.()
            if (signal.aborted || Date.now() > end)
              throw new Refusal('upload_in_progress', 'Another request is writing to this upload.', {
                retryAfterSeconds: 2,
              })
          }
          held.set(id, giveWay)
          const stop = () => {
            isOver = true
            clearInterval(renewing)
            giveWay()
            cut(id)
          }
          const keep = async () => {
            const askedAt = performance.now()
            if (askedAt - renewedAt > STOP_MS) return stop()
            const found = await renew(db, id, holder).catch(() => 'unknown' as const)
            // the next writer may have the upload by now
            if (isOver) return
            if (found === 'lost') return stop()
            if (found === 'wanted') giveWay()
            if (found !== 'unknown') renewedAt = Math.max(renewedAt, askedAt)
          }
          renewing = setInterval(() => void keep(), RENEW_MS).unref()
        },
        async unlock() {
          isOver = true
          clearInterval(renewing)
          held.delete(id)
          await sql`
            update uploads set lock_holder = null, locked_until = null where id = ${id} and lock_holder = ${holder}::uuid`.execute(
            db,
          )
        },
      }
    },
  }
}

/** Takes the lock if it is free. If not, it marks the lock as wanted, so that its holder gives it up. */
async function take(db: Db, id: string, holder: string): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    update uploads set lock_wanted = not coalesce(locked_until < now(), true),
      lock_holder = case when coalesce(locked_until < now(), true) then ${holder}::uuid else lock_holder end,
      locked_until = case when coalesce(locked_until < now(), true)
        then now() + make_interval(secs => ${LEASE_SECONDS}) else locked_until end,
      expires_at = now() + interval '1 day'
    where id = ${id} and state = 'open'
    returning lock_holder = ${holder}::uuid as taken`.execute(db)
  if (!rows[0]) throw new Refusal('upload_expired', 'This upload is over: please begin it again.')
  return rows[0].taken
}

/** Renews the lock. `lost`: another writer has it, or the upload is over. `wanted`: another writer waits for it. */
async function renew(db: Db, id: string, holder: string): Promise<'kept' | 'wanted' | 'lost'> {
  const { rows } = await sql<{ wanted: boolean }>`
    update uploads set locked_until = now() + make_interval(secs => ${LEASE_SECONDS}), expires_at = now() + interval '1 day'
    where id = ${id} and lock_holder = ${holder}::uuid and state = 'open'
    returning lock_wanted as wanted`.execute(db)
  if (!rows[0]) return 'lost'
  return rows[0].wanted ? 'wanted' : 'kept'
}
