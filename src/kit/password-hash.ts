import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { Refusal } from './errors.ts'

/** OWASP's first choice for Argon2id: 19 MiB, two passes, one lane. Every hash stores its own parameters, so these can grow later. */
const MEMORY_KIB = 19_456
const PASSES = 2
const LANES = 1
const SALT_BYTES = 16
const TAG_BYTES = 32
const VERSION = 19

/** At most two: two of Node's four threads stay free for other work, and one processor where there are several. */
const AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1))
/** Some seconds of work. Further requests are refused at once. */
const MOST_WAITING = 100
const RETRY_AFTER_SECONDS = 5

const derive = promisify(argon2)

/** Normalises a password, so that the same characters from different keyboards hash alike (NIST SP 800-63B, 3.1.1.2). */
const normal = (password: string): Buffer => Buffer.from(password.normalize('NFKC'), 'utf8')

/** A hash in PHC form: `$argon2id$v=19$m=19456,t=2,p=1$salt$tag`. Refuses `sign_in_busy` when too many requests wait. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await inTurn(() => tagOf(password, salt, { memory: MEMORY_KIB, passes: PASSES, lanes: LANES }, TAG_BYTES))
  return `$argon2id$v=${VERSION}$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${text(salt)}$${text(tag)}`
}

/** Whether the password matches the hash. Without a hash it returns false after the same time, so that timing reveals no account. */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const [, , , parameters = '', salt = '', tag = ''] = (hash ?? UNKNOWN_HASH).split('$')
  const [, memory, passes, lanes] = /^m=(\d+),t=(\d+),p=(\d+)$/.exec(parameters)!.map(Number)
  const expected = Buffer.from(tag, 'base64')
  const cost = { memory: memory!, passes: passes!, lanes: lanes! }
  const found = await inTurn(() => tagOf(password, Buffer.from(salt, 'base64'), cost, expected.length))
  return timingSafeEqual(found, expected) && hash !== undefined
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '')
const UNKNOWN_HASH = `$argon2id$v=${VERSION}$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${text(randomBytes(SALT_BYTES))}$${text(randomBytes(TAG_BYTES))}`

const tagOf = (
  password: string,
  nonce: Uint8Array,
  { memory, passes, lanes }: { memory: number; passes: number; lanes: number },
  tagLength: number,
): Promise<Buffer> =>
  derive('argon2id', { message: normal(password), nonce, memory, passes, parallelism: lanes, tagLength })

const waiting: (() => void)[] = []
let underWay = 0

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (underWay >= AT_ONCE) {
    if (waiting.length >= MOST_WAITING)
      throw new Refusal('sign_in_busy', 'Too many people are signing in right now.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else underWay++
  try {
    return await work()
  } finally {
    // hands the place to the longest waiting request, so that a new one does not overtake it
    const next = waiting.shift()
    if (next) next()
    else underWay--
  }
}
