import { type MetadataValue, S3Store } from '@tus/s3-store'
import { Readable, Transform } from 'node:stream'
import { Refusal } from '../errors.ts'
import { hashOfStream } from './hash-of-stream.ts'
import { type RunningHashes, runningHashes } from './running-hashes.ts'
import { type BucketDeadlines, PART_BYTES, type S3Settings, clientConfig, isMissing } from './s3-client.ts'
import { Turns } from './s3-turns.ts'
import type { Resumable, Storage } from './storage.ts'

/** The library keeps each part on the local disk until the store has it. This is the limit for all uploads together. */
const PARTS_AT_ONCE = 8
const MOST_REMEMBERED = 1000
const LOST =
  'This request could no longer keep the upload for itself. Ask how many bytes have arrived, and go on from there.'
const TOO_SLOW = 'This request took too long, and others waited. Ask how many bytes have arrived, and go on from there.'

export function resumableS3(storage: Storage, settings: S3Settings, deadlines: BucketDeadlines): Resumable {
  const hashes = runningHashes()
  const store = new PartStore(storage, settings, hashes, deadlines)
  return {
    store,
    nameOf: (key) => key,
    keyOf: (name) => name,
    cut: (key) => store.cut(key),
    async finish(key, size) {
      // an empty file has no parts, and S3 cannot complete an upload without parts
      if (size === 0) await store.putNothing(key)
      // all parts are there, and the last step failed or its answer was lost: writing nothing at the end takes it again
      else if (!(await storage.stat(key))) await store.write(Readable.from([]), key, size)
      const known = hashes.digest(key, size)
      return known ? { size, sha256: known } : hashOfStream(await storage.read(key))
    },
    async forget(key) {
      hashes.forget(key)
      await store.clearCache(key)
      await storage.tidy(key)
    },
  }
}

/**
 * A source that breaks off, because the client has gone, ends the target. So what has come is stored, also the unfinished part of before,
 * which the library has taken out of the bucket. A source with too many bytes breaks off its target.
 */
function passOn(source: Readable, target: Transform): void {
  const end = () => {
    const error = source.errored
    if (error && 'status_code' in error) target.destroy(error)
    else if (!target.destroyed) target.end()
  }
  if (source.destroyed) return end()
  source.once('error', () => {}).once('close', () => source.readableEnded || end())
  source.pipe(target)
}

class PartStore extends S3Store {
  readonly #hashes: RunningHashes
  readonly #storage: Storage
  readonly #deadlines: BucketDeadlines
  readonly #writing = new Map<string, Readable>()

  constructor(storage: Storage, settings: S3Settings, hashes: RunningHashes, deadlines: BucketDeadlines) {
    super({
      partSize: PART_BYTES,
      // Cloudflare's R2 wants all parts but the last to have one size, so less waits for the rest
      minPartSize: PART_BYTES,
      useTags: false,
      maxConcurrentPartUploads: PARTS_AT_ONCE,
      cache: newestNotes(),
      s3ClientConfig: { ...clientConfig(settings), bucket: settings.bucket },
    })
    this.#hashes = hashes
    this.#storage = storage
    this.#deadlines = deadlines
  }

  override async write(bytes: Readable, key: string, offset: number): Promise<number> {
    const hash = this.#hashes.goOn(key, offset)
    let isTooSlow = false
    const hashed = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (isTooSlow) return done()
        hash?.update(chunk)
        done(null, chunk)
      },
    })
    const turns = new Turns(this.partUploadSemaphore, {
      turnMs: this.#deadlines.partTurnMs,
      fillMs: this.#deadlines.partFillMs,
      onSlow() {
        isTooSlow = true
        // what has come is stored, so that a slow client gets on too
        hashed.push(null)
      },
    })
    // it can be cut after its last byte has come, and before the library reads it: then the reader meets the error
    hashed.on('error', (error) => {
      turns.stop()
      bytes.destroy(error)
    })
    passOn(bytes, hashed)
    this.#writing.set(key, hashed)
    try {
      await turns.begin().catch((error: unknown) => {
        throw hashed.errored ?? error
      })
      const stored = await super.write.call(this.#forOneWrite(hashed, turns), hashed, key, offset)
      if (isTooSlow) throw new Refusal('upload_in_progress', TOO_SLOW, { retryAfterSeconds: 2 })
      return stored
    } finally {
      turns.end()
      if (this.#writing.get(key) === hashed) this.#writing.delete(key)
    }
  }

  /** A source that ends is stored to its last byte, so this one breaks off. */
  cut(key: string): void {
    this.#writing.get(key)?.destroy(new Refusal('upload_in_progress', LOST, { retryAfterSeconds: 2 }))
  }

  /** The library sends the parts of all writes by the methods of one store. Here each write has its own, which keep its turns. */
  #forOneWrite(source: Readable, turns: Turns): this {
    const own: this = Object.create(this, {
      partUploadSemaphore: { value: turns },
      uploadPart: {
        value: (...part: [MetadataValue, Readable, number]) => turns.next(super.uploadPart(...part)),
      },
      uploadIncompletePart: {
        value: (...part: [string, Readable]) => turns.next(super.uploadIncompletePart(...part)),
      },
      uploadParts: {
        value: (notes: MetadataValue, bytes: Readable, ...at: [number, number]) => {
          // joined with an earlier piece, a source that broke off before is waited for without end
          if (source.errored) bytes.destroy(source.errored)
          return super.uploadParts.call(own, notes, bytes, ...at)
        },
      },
    })
    return own
  }

  /** The library answers each failure to read its notes with "no such upload", and a client then begins again from the first byte. */
  override async getUpload(key: string) {
    await this.getMetadata(key).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
    return super.getUpload(key)
  }

  /** Later parts can be there without one before them. Counted and joined, they would make another file. */
  protected override async retrieveParts(key: string, after?: string) {
    const parts = await super.retrieveParts(key, after)
    const isWhole = after !== undefined || parts.every(({ PartNumber }, at) => PartNumber === at + 1)
    if (!isWhole) throw new Refusal('upload_expired', 'The storage lacks a part of this upload: please begin it again.')
    return parts
  }

  override clearCache(key: string): Promise<void> {
    return super.clearCache(key)
  }

  override async remove(key: string): Promise<void> {
    this.#hashes.forget(key)
    await this.clearCache(key)
    await this.#storage.remove(key)
  }

  async putNothing(key: string): Promise<void> {
    await this.#storage.remove(key)
    await this.client.putObject({ Bucket: this.bucket, Key: key, Body: Buffer.alloc(0) })
  }
}

/** The library's notes about uploads under way. Abandoned uploads are not reported, so only the newest notes are kept. */
function newestNotes() {
  const byKey = new Map<string, MetadataValue>()
  return {
    get: async (key: string) => byKey.get(key),
    async set(key: string, notes: MetadataValue) {
      if (byKey.size >= MOST_REMEMBERED) byKey.delete(byKey.keys().next().value!)
      byKey.set(key, notes)
    },
    delete: async (key: string) => void byKey.delete(key),
  }
}
