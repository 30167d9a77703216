import { type KeyObject, createHmac } from 'node:crypto'
import { batched } from './batch.ts'
import { type Db, type Tx, inTransaction, isDatabaseOutage } from './database.ts'
import { Refusal } from './errors.ts'
import type { QueueOptions } from './jobs.ts'
import { type Limit, type Use, countInTurn, countUses, giveBack, lookAtUse, refuseBeyond, siteOf } from './limits.ts'
import { derivedKey } from './signing.ts'

// The parts that all one-time codes by mail share. Each kind of code has its own table, keys and counters.

/** The pause before another code can be sent, while the limit is not reached. */
export const RESEND_SECONDS = 30
const DIGITS = 6

/** The retries last as long as a code is valid. Codes have their own queues and connections, because a person waits for them. */
export const CODE_QUEUE: Omit<QueueOptions, 'atOnce'> = {
  retries: 14,
  retryDelaySeconds: 2,
  retryDelayMaxSeconds: 60,
  expireSeconds: 60,
}

export interface CodeLimits {
  /** Codes sent to one mailbox, for each network and for each browser that has signed in to the mailbox before. */
  code?: Limit
  /** Codes requested from one network. */
  code_address?: Limit
  /** Wrong codes from each network, and from each browser that has signed in to the mailbox before. */
  code_try?: Limit
  /** Codes sent to one mailbox, and wrong codes tried for it, from all networks together. */
  mailbox?: Limit
  /** The share of `mailbox` for one IPv6 /48: so small that one subscriber cannot use up the whole limit of the mailbox. */
  mailbox_site?: Limit
}

/** The network or the browser that asks. A browser that has signed in before has its own count, apart from its network's. */
export interface Asker {
  /** The name under which the mailbox is counted. */
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
  /** Keys are derived once, because deriving takes longer than using them. */
  const keysOf = (secret: string) => {
    const known = keys.get(secret)
    if (known) return known
    const made = { code: derivedKey(secret, name), hash: derivedKey(secret, `${name} hash`) }
    keys.set(secret, made)
    return made
  }
  return {
    /**
     * Derives the six digits of a code from its id. So the queue holds no copy of them, and a mail that is sent again has the same
     * digits. Uniform except for one part in 10^13.
     */
    codeOf(secret: string, id: string): string {
      const mac = createHmac('sha256', keysOf(secret).code).update(id).digest()
      return String(mac.readBigUInt64BE() % 10n ** BigInt(DIGITS)).padStart(DIGITS, '0')
    },
    codeHash: (secret: string, browserHash: Buffer, code: string): Buffer =>
      createHmac('sha256', keysOf(secret).hash).update(browserHash).update(code).digest(),
    /** Each secret has its own queue, because during a rotation only some instances have the new secret. */
    codeQueue: (secret: string): string =>
      `${queue}_${createHmac('sha256', keysOf(secret).code).update('queue').digest('hex').slice(0, 8)}`,
  }
}

/** The counter's name for the codes that one asker sends to a mailbox. */
export const ownKey = (counter: string, { mailbox, network, known }: Asker): string =>
  `${counter} ${known ?? `${mailbox} from ${network}`}`

/** The use that an unknown browser counts against the mailbox's limit for its IPv6 /48. */
function siteUse(counter: string, { mailbox, network, known }: Asker, { mailbox_site: limit }: CodeLimits) {
  const site = known === undefined ? siteOf(network) : undefined
  return limit && site ? { key: `${counter} of ${mailbox} from ${site}`, limit } : undefined
}

/**
 * Sends codes within the limits. Codes requested together share one transaction. `sendAll` returns for each whether it was made.
 * Returns the wait until the next code, or undefined when no code was made. Refuses `rate_limited`.
 */
export function limitedSender<Code extends { asker: Asker }>(
  db: Db,
  /** The prefix of the counters' names. */
  counter: string,
  limits: CodeLimits,
  sendAll: (tx: Tx, codes: readonly Code[]) => Promise<readonly boolean[]>,
): (code: Code) => Promise<{ resendAfterSeconds: number } | undefined> {
  const send = batched(
    async (codes: readonly Code[]) => {
      // before the transaction, in which all requests of one network would wait for each other's commits
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
    const last = counted.filter(({ remaining }) => remaining === 0).map(({ resetSeconds }) => resetSeconds)
    return { resendAfterSeconds: Math.max(RESEND_SECONDS, ...last) }
  }
}

const TOO_MANY_CODES =
  'Too many codes were requested from your network or for this address. The last code sent to this browser stays valid for ten minutes.'
const TOO_MANY_TRIES =
  'Too many wrong codes were tried from your network or for this address. Please wait, and then ask for a new one.'

export interface LimitedTry {
  /** The asker's own tries. Counted before the code is checked, and given back when it is right. */
  own: { key: string; limit: Limit | undefined }
  /** All wrong tries for the same mailbox or order, from all networks. */
  all: { key: string; limit: Limit | undefined }
  /** The wrong tries from one IPv6 /48. */
  site?: Use | undefined
  /** The message beyond the limit. */
  tooMany?: string
}

/** The counters, with their limits, for tries of a mailbox's codes. */
export function triesAt(
  counter: string,
  asker: Asker,
  limits: CodeLimits,
  /** The number of the mailbox's tries that strangers cannot use up. At most half, so that an unknown browser may mistype too. */
  reserved = 0,
): Pick<LimitedTry, 'own' | 'all' | 'site'> {
  const { mailbox, network, known } = asker
  const { code_try: limit, mailbox: most } = limits
  const open = most && { ...most, count: Math.max(Math.ceil(most.count / 2), most.count - reserved) }
  return {
    own: { key: `${counter}_try ${known ?? `from ${network}`}`, limit },
    all: { key: `${counter}_try of ${mailbox}`, limit: known === undefined ? open : most },
    site: siteUse(`${counter}_try`, asker, limits),
  }
}

/**
 * Tries a code and, when it is right, does `work` in the same transaction: the code counts as used only if the work is done.
 * `tryCode` is absent when this browser is not waiting for a code, and returns undefined when there was no valid code to try. Tries are
 * counted over all instances. Refuses `invalid_code` and `rate_limited`.
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
      // Only a try of a valid code counts: otherwise a stranger could use up a mailbox's tries. It counts before the answer is
      // given, so that no more than the limit of simultaneous tries get an answer. A refusal rolls the try back.
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

/**
 * Refuses a code that comes without its browser's cookie. Browsers that block cookies send none: called wrong, each right code would
 * lead such a person to another one. It says nothing about the mailbox, and is no try of a code.
 */
export function refuseWithoutCookie(cookie: string | undefined): void {
  if (cookie !== undefined) return
  throw new Refusal(
    'cookie_missing',
    'The browser sent no cookie with the code. Allow cookies, then ask for a new one.',
  )
}

const notRight = (): Refusal =>
  new Refusal('invalid_code', 'The code is not right, or no longer good. Ask for a new one.')
