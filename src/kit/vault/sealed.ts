import {
  type KeyObject,
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { inChunks } from '../chunks.ts'

// An object that cannot be read or changed without the key. A header (magic, the key's id, a random salt) is followed by chunks, each
// encrypted with AES-256-GCM. The key of an object is derived from the salt and the object's name, and the nonce of a chunk is its
// number and whether it is the last: so an object that was cut, reordered, or put under another name is refused. The construction is
// STREAM (Hoang, Reyhanitabar, Rogaway, Vizár: Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, 2015).

const MAGIC = Buffer.from('tillbk01')
const KEY_ID_BYTES = 8
const SALT_BYTES = 32
const HEADER_BYTES = MAGIC.length + KEY_ID_BYTES + SALT_BYTES
const CHUNK_BYTES = 128 * 1024
const TAG_BYTES = 16
const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES

export type SealProblem = 'not_sealed' | 'other_key' | 'damaged'

/** Why an object cannot be opened: it is none of ours, its key is missing, or its bytes are not those that were written. */
export class SealError extends Error {
  readonly problem: SealProblem

  constructor(problem: SealProblem, name: string) {
    super(`${name}: ${WORDS[problem]}`)
    this.problem = problem
  }
}

/** Whether the bytes of an object are lost. With another key they can still be read, so that is none. */
export const isDamage = (error: unknown): error is SealError =>
  error instanceof SealError && error.problem !== 'other_key'

const WORDS: Record<SealProblem, string> = {
  not_sealed: 'is not an object of a backup',
  other_key: 'was written with another key',
  damaged: 'is damaged or incomplete',
}

/** Encrypts `bytes` as the object `name`. */
export async function* seal(key: KeyObject, name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  yield Buffer.concat([MAGIC, keyId(key), salt])
  const own = objectKey(key, salt, name)
  let number = 0n
  const encrypt = (chunk: Buffer, isLast: boolean) => {
    const cipher = createCipheriv('aes-256-gcm', own, nonce(number++, isLast))
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
  }
  // the last chunk is known only when the bytes have ended, so one chunk is held back
  let held: Buffer | undefined
  for await (const chunk of inChunks(bytes, CHUNK_BYTES)) {
    if (held) yield encrypt(held, false)
    held = chunk
  }
  yield encrypt(held ?? Buffer.alloc(0), true)
}

/** Decrypts the object `name` with the one of `keys` that it was written with. Throws a SealError, at the latest at its end. */
export async function* unseal(
  keys: readonly KeyObject[],
  name: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  let own: KeyObject | undefined
  let number = 0n
  let held: Buffer = Buffer.alloc(0)
  const decrypt = (sealed: Buffer, isLast: boolean) => {
    if (sealed.length < TAG_BYTES) throw new SealError('damaged', name)
    try {
      const decipher = createDecipheriv('aes-256-gcm', own!, nonce(number++, isLast))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
    } catch {
      throw new SealError('damaged', name)
    }
  }
  for await (const part of bytes) {
    held = held.length === 0 ? Buffer.from(part) : Buffer.concat([held, part])
    if (!own) {
      if (held.length < HEADER_BYTES) continue
      own = keyOf(keys, name, held.subarray(0, HEADER_BYTES))
      held = held.subarray(HEADER_BYTES)
    }
    // more than a chunk: so the first one is not the last
    while (held.length > SEALED_CHUNK_BYTES) {
      yield decrypt(held.subarray(0, SEALED_CHUNK_BYTES), false)
      held = held.subarray(SEALED_CHUNK_BYTES)
    }
  }
  if (!own) throw new SealError(held.length === 0 ? 'damaged' : 'not_sealed', name)
  yield decrypt(held, true)
}

/** Whether the object that begins with these bytes was written with a key, and not with this one. Reads its header only. */
export async function needsAnotherKey(key: KeyObject, bytes: AsyncIterable<Uint8Array>): Promise<boolean> {
  let held: Buffer = Buffer.alloc(0)
  for await (const part of bytes) {
    held = Buffer.concat([held, part])
    if (held.length >= HEADER_BYTES) break
  }
  const id = held.subarray(MAGIC.length, MAGIC.length + KEY_ID_BYTES)
  return held.subarray(0, MAGIC.length).equals(MAGIC) && !id.equals(keyId(key))
}

function keyOf(keys: readonly KeyObject[], name: string, header: Buffer): KeyObject {
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw new SealError('not_sealed', name)
  const id = header.subarray(MAGIC.length, MAGIC.length + KEY_ID_BYTES)
  const key = keys.find((one) => keyId(one).equals(id))
  if (!key) throw new SealError('other_key', name)
  return objectKey(key, header.subarray(-SALT_BYTES), name)
}

const keyId = (key: KeyObject): Buffer =>
  createHash('sha256').update('key id').update(key.export()).digest().subarray(0, KEY_ID_BYTES)

const objectKey = (key: KeyObject, salt: Buffer, name: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', key, salt, `object ${name}`, 32)))

function nonce(number: bigint, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeBigUInt64BE(number)
  bytes[11] = isLast ? 1 : 0
  return bytes
}
