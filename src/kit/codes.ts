import { type KeyObject, createHmac } from 'node:crypto'
import { batched } from './batch.ts'
import { type Db, type Tx, inTransaction, isDatabaseOutage } from './database.ts'
import { Refusal } from './errors.ts'
import type { QueueOptions } from './jobs.ts'
import { type Limit, type Use, countInTurn, countUses, giveBack, lookAtUse, refuseBeyond, siteOf } from './limits.ts'
import { derivedKey } from './signing.ts'

// One-time codes by mail: what is the same for all of them. Each kind has a table, keys and counters of its own.

/** How soon another code may be asked for, while the limit is not reached. */
export const RESEND_SECONDS = 30
export const CODE_SECONDS = 600
export const MOST_WRONG_TRIES = 5
const DIGITS = 6

/** As long as a code lives. Codes have queues and connections of their own: somebody sits and waits for them. */
export const CODE_QUEUE: Omit<QueueOptions, 'atOnce'> = {
  retries: 14,
  retryDelaySeconds: 2,
  retryDelayMaxSeconds: 60,
  expireSeconds: 60,
  pollSeconds: 2,
}

export interface CodeLimits {
  /** Codes sent to one mailbox for one network, and for one browser that the mailbox knows. */
  code?: Limit
  /** Codes asked for from one network. */
  code_address?: Limit
  /** Wrong codes of one network, and of one browser that the mailbox knows. */
  code_try?: Limit
  /** Codes that were sent to one mailbox, and wrong ones that were tried, from everywhere. */
  mailbox?: Limit
  /** Of those, from one IPv6 /48: so few that one subscriber cannot use up the mailbox's whole. */
  mailbox_site?: Limit
}

/** Who asks: a network, or a browser that the mailbox knows, which is counted apart and does not hang on the network's count. */
export interface Asker {
  /** Under which name the mailbox is counted. */
  mailbox: string
  network: string
  /** The name of a browser that has signed in to this mailbox before. */
  known?: string | undefined
}

export const codeDigits = (text: string): string => text.replaceAll(/\D/g, '')

export type CodeKind = ReturnType<typeof codeKind>

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

/** Under which name the codes are counted that one asker has sent to a mailbox. */
export const ownKey = (counter: string, { mailbox, network, known }: Asker): string =>
  `${counter} ${known ?? `${mailbox} from ${network}`}`

/** What a stranger's IPv6 /48 uses of what a mailbox allows. */
function siteUse(counter: string, { mailbox, network, known }: Asker, { mailbox_site: limit }: CodeLimits) {
  const site = known === undefined ? siteOf(network) : undefined
  return limit && site ? { key: `${counter} of ${mailbox} from ${site}`, limit } : undefined
}

/**
 * Sends codes, within the limits; those asked for together share one transaction. `sendAll` says of each whether it was made.
 * Answers how long to wait for another, or undefined where none was made. Throws `rate_limited`.
 */
export function limitedSender<Code extends { asker: Asker }>(
  db: Db,
  /** What the names of the counters begin with. */
  counter: string,
  limits: CodeLimits,
  sendAll: (tx: Tx, codes: readonly Code[]) => Promise<readonly boolean[]>,
): (code: Code) => Promise<{ resendAfterSeconds: number } | undefined> {
  const send = batched(
    async (codes: readonly Code[]) => {
      // before the transaction: within it, all who ask from one network would wait for each other's commits
      const counted = await countInTurn(db, codes, [
        ({ asker: { network, known } }) =>
          known === undefined && limits.code_address
            ? { key: `${counter} from ${network}`, limit: limits.code_address }
            : undefined,
        ({ asker }) => limits.code && { key: ownKey(counter, asker), limit: limits.code },
        ({ asker }) => siteUse(counter, asker, limits),
        ({ asker: { mailbox, known } }) =>
          known === undefined && limits.mailbox
            ? { key: `${counter} of ${mailbox}`, limit: limits.mailbox }
            : undefined,
      ])
      const allowed = codes.flatMap((code, at) => (counted[at]!.every(({ within }) => within) ? [{ code, at }] : []))
      const made =
        allowed.length > 0
          ? await inTransaction(db, (tx) =>
              sendAll(
                tx,
                allowed.map(({ code }) => code),
              ),
            )
          : []
      const sent = new Set(allowed.filter((_, place) => made[place]).map(({ at }) => at))
      return codes.map((_, at) => ({ counted: counted[at]!, isSent: sent.has(at) }))
    },
    { most: 64, atOnce: 2, isOutage: isDatabaseOutage },
  )
  return async (code) => {
    const { counted, isSent } = await send(code)
    refuseBeyond(counted, TOO_MANY_CODES)
    if (!isSent) return undefined
    const last = counted.filter(({ left }) => left === 0).map(({ resetSeconds }) => resetSeconds)
    return { resendAfterSeconds: Math.max(RESEND_SECONDS, ...last) }
  }
}

const TOO_MANY_CODES =
  'Too many codes were asked for, from your network or for this address. The last one that was sent to this browser stays good for its ten minutes.'
const TOO_MANY_TRIES =
  'Too many wrong codes were tried, from your network or for this address. Please wait, and then ask for a new one.'

export interface LimitedTry {
  /** What is counted before a code is looked at, and given back where it is right: the tries of whoever asks. */
  own: { key: string; limit: Limit | undefined }
  /** All wrong tries at what the code opens, from everywhere. */
  all: { key: string; limit: Limit | undefined }
  /** Of those, what comes from one IPv6 /48. */
  site?: Use | undefined
  /** What is said to whoever is beyond the limit. */
  tooMany?: string
}

/** How many tries at a mailbox's codes are counted under which names, for a kind of code. */
export function triesAt(
  counter: string,
  asker: Asker,
  limits: CodeLimits,
  /** So many of the mailbox's tries strangers cannot use up. */
  reserved = 0,
): Pick<LimitedTry, 'own' | 'all' | 'site'> {
  const { mailbox, network, known } = asker
  const { code_try: limit, mailbox: most } = limits
  const open = most && { ...most, count: Math.max(1, most.count - reserved) }
  return {
    own: { key: `${counter}_try ${known ?? `from ${network}`}`, limit },
    all: { key: `${counter}_try of ${mailbox}`, limit: known === undefined ? open : most },
    site: siteUse(`${counter}_try`, asker, limits),
  }
}

/**
 * Tries a code and, when it is right, does `work` in the same transaction: the code is used exactly when the work is done.
 * `tryCode` is absent where this browser waits for none, and answers undefined where no live code was tried. Tries are counted
 * over all instances. Throws `invalid_code` and `rate_limited`.
 */
export async function limitedTry<Right extends { isRight: boolean }, T>(
  db: Db,
  { own, all, site, tooMany = TOO_MANY_TRIES }: LimitedTry,
  tryCode: ((tx: Tx) => Promise<Right | undefined>) | undefined,
  work: (tx: Tx, right: Right) => Promise<T | undefined>,
): Promise<T> {
  if (own.limit) refuseBeyond(await countUses(db, [{ key: own.key, limit: own.limit }]), tooMany)
  const uses = [...(site ? [site] : []), ...(all.limit ? [{ key: all.key, limit: all.limit }] : [])]
  for (const use of uses) refuseBeyond([await lookAtUse(db, use)], tooMany)
  const outcome =
    tryCode &&
    (await inTransaction(db, async (tx) => {
      const tried = await tryCode(tx)
      if (!tried) return undefined
      // Counted only when a live code was really tried: else anybody could use up a mailbox's tries. And counted before the answer
      // is given: of tries at many codes at once no more than the limit are answered. A refusal undoes the try.
      if (uses.length > 0) refuseBeyond(await countUses(tx, uses), tooMany)
      if (!tried.isRight) return undefined
      await giveBack(
        tx,
        uses.map(({ key }) => key),
      )
      return work(tx, tried)
    }))
  if (!outcome) throw notRight()
  if (own.limit) await giveBack(db, [own.key])
  return outcome
}

export const notRight = (): Refusal =>
  new Refusal('invalid_code', 'The code is not right, or no longer good. Ask for a new one.')
