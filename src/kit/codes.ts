import { type KeyObject, createHmac } from 'node:crypto'
import { batched } from './batch.ts'
import { type Db, type Tx, inTransaction, isDatabaseOutage } from './database.ts'
import { Refusal } from './errors.ts'
import type { QueueOptions } from './jobs.ts'
import { type Limit, type Use, countInTurn, countUses, giveBack, lookAtUse, refuseBeyond } from './limits.ts'
import { derivedKey } from './signing.ts'

// One-time codes by mail: what is the same for all of them. Each kind has a table, keys and counters of its own.

/** How soon another code may be asked for, while the limit is not reached. */
export const RESEND_SECONDS = 30
export const CODE_SECONDS = 600
export const MOST_WRONG_TRIES = 5
const DIGITS = 6

/** As long as a code lives. Codes have a queue of their own: somebody sits and waits for them. */
export const CODE_QUEUE: QueueOptions = {
  retries: 14,
  retryDelaySeconds: 2,
  retryDelayMaxSeconds: 60,
  expireSeconds: 60,
  atOnce: 10,
  pollSeconds: 2,
}

export interface CodeLimits {
  /** Codes sent to one mailbox, and asked for from one network. */
  code?: Limit
  code_address?: Limit
  /** Wrong codes, of one mailbox and of one network. */
  code_try?: Limit
}

/** Under which name requests for a mailbox are counted, and under which those of a network. */
export interface Counters {
  bucket: string
  network: string
}

export const codeDigits = (text: string): string => text.replaceAll(/\D/g, '')

/** The digits, hashes and queues of one kind of code, with keys of its own. */
export function codeKind(name: string, queue: string) {
  const keys = new Map<string, { code: KeyObject; hash: KeyObject }>()
  /** Made once: deriving takes longer than all that is done with them. */
  const keysOf = (secret: string) => {
    const known = keys.get(secret)
    if (known) return known
    const made = { code: derivedKey(secret, name), hash: derivedKey(secret, `${name} hash`) }
    keys.set(secret, made)
    return made
  }
  return {
    /**
     * The six digits of a code, from its id: so no copy of them waits in the queue, and a mail that is tried again holds the
     * same ones. Uniform but for one part in 10^13.
     */
    codeOf(secret: string, id: string): string {
      const mac = createHmac('sha256', keysOf(secret).code).update(id).digest()
      return String(mac.readBigUInt64BE() % 10n ** BigInt(DIGITS)).padStart(DIGITS, '0')
    },
    codeHash: (secret: string, browserHash: Buffer, code: string): Buffer =>
      createHmac('sha256', keysOf(secret).hash).update(browserHash).update(code).digest(),
    /** Codes wait where only instances that have their secret look: while it is replaced, some have it and some do not. */
    codeQueue: (secret: string): string =>
      `${queue}_${createHmac('sha256', keysOf(secret).code).update('queue').digest('hex').slice(0, 8)}`,
  }
}

/**
 * Sends codes, within the limits; those asked for together share one transaction. `sendAll` says for which mailboxes it made
 * one. Answers how long to wait for another, or undefined where none was made. Throws `rate_limited`.
 */
export function limitedSender<Code extends Counters & { email: string }>(
  db: Db,
  /** What the names of the counters begin with. */
  counter: string,
  limits: CodeLimits,
  sendAll: (tx: Tx, codes: readonly Code[]) => Promise<ReadonlySet<string>>,
  {
    tooMany = 'Too many codes were asked for. Those that were sent stay good.',
    alsoCounted = () => undefined,
  }: { tooMany?: string; alsoCounted?: (code: Code) => Use | undefined } = {},
): (code: Code) => Promise<{ resendAfterSeconds: number } | undefined> {
  const send = batched(
    async (codes: readonly Code[]) => {
      // before the transaction: within it, all who ask from one network would wait for each other's commits
      const counted = await countInTurn(db, codes, [
        ({ network }) => limits.code_address && { key: `${counter} from ${network}`, limit: limits.code_address },
        ({ bucket }) => limits.code && { key: `${counter} ${bucket}`, limit: limits.code },
        alsoCounted,
      ])
      const allowed = codes.filter((_, at) => counted[at]!.every(({ within }) => within))
      const sent =
        allowed.length > 0 ? await inTransaction(db, (tx) => sendAll(tx, allowed)) : (new Set() as ReadonlySet<string>)
      return codes.map(({ email }, at) => ({ counted: counted[at]!, isSent: sent.has(email) }))
    },
    { most: 64, atOnce: 2, isOutage: isDatabaseOutage },
  )
  return async (code) => {
    const { counted, isSent } = await send(code)
    refuseBeyond(counted, tooMany)
    if (!isSent) return undefined
    const last = counted.filter(({ left }) => left === 0).map(({ resetSeconds }) => resetSeconds)
    return { resendAfterSeconds: Math.max(RESEND_SECONDS, ...last) }
  }
}

export interface LimitedTry extends Counters {
  /** What the names of the counters begin with. */
  counter: string
  limit: Limit | undefined
  /** Where it is not the same for a mailbox as for a network. */
  bucketLimit?: Limit | undefined
  /** What is said to whoever is beyond the limit. */
  tooMany: string
}

/**
 * Tries a code and, when it is right, does `work` in the same transaction: the code is used exactly when the work is done.
 * `tryCode` is absent where this browser waits for none, and answers undefined where no live code was tried. Wrong tries are
 * counted over all instances. Throws `invalid_code` and `rate_limited`.
 */
export async function limitedTry<Right extends { isRight: boolean }, T>(
  db: Db,
  { counter, limit, bucketLimit = limit, tooMany, bucket, network }: LimitedTry,
  tryCode: ((tx: Tx) => Promise<Right | undefined>) | undefined,
  work: (tx: Tx, right: Right) => Promise<T | undefined>,
): Promise<T> {
  const [ofMailbox, ofNetwork] = [`${counter} ${bucket}`, `${counter} from ${network}`]
  // Who guesses is counted before. A mailbox is counted only when a live code of it was really tried: else anybody could use
  // up its tries from anywhere.
  if (limit) refuseBeyond(await countUses(db, [{ key: ofNetwork, limit }]), tooMany)
  if (bucketLimit) refuseBeyond([await lookAtUse(db, { key: ofMailbox, limit: bucketLimit })], tooMany)
  const outcome =
    tryCode &&
    (await inTransaction(db, async (tx) => {
      const tried = await tryCode(tx)
      if (tried?.isRight) return work(tx, tried)
      if (tried && bucketLimit) await countUses(tx, [{ key: ofMailbox, limit: bucketLimit }])
      return undefined
    }))
  if (!outcome) throw notRight()
  if (limit) await giveBack(db, [ofNetwork])
  return outcome
}

export const notRight = (): Refusal =>
  new Refusal('invalid_code', 'The code is not right, or no longer good. Ask for a new one.')
