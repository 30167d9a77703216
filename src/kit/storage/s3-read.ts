import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { S3 } from './s3-client.ts'

/** How many times in a row a response may end early before the read fails. The pauses grow. */
const MOST_FAILURES = 5
const PAUSE_MS = 500

interface Response {
  bytes: Readable
  etag: string | undefined
}

/** Reads an object of any size, or the bytes from `from` up to but not including `to`. Its reader may take its time. */
export async function readObject(
  { sdk, client }: S3,
  target: { Bucket: string; Key: string },
  { from = 0, to, pauseMs = PAUSE_MS }: { from?: number; to?: number | undefined; pauseMs?: number | undefined } = {},
): Promise<Readable> {
  const get = async (at: number, etag?: string): Promise<Response> => {
    const isAll = from + at === 0 && to === undefined
    const Range = isAll ? undefined : `bytes=${from + at}-${to === undefined ? '' : to - 1}`
    const { Body, ETag } = await client.send(new sdk.GetObjectCommand({ ...target, Range, IfMatch: etag }))
    return { bytes: Body as Readable, etag: ETag }
  }
  const first = await get(0)
  const bytes = Readable.from(whole(first, get, pauseMs), { objectMode: false })
  // for a reader that never begins, or begins when the response has failed already
  bytes.once('close', () => first.bytes.destroy())
  first.bytes.on('error', () => {})
  return bytes
}

/**
 * All bytes of an object. A disk or a reader that takes its time, or a connection that is cut, ends a response early: then the rest is
 * requested, unless the object has changed. Throws when nothing comes several times in a row.
 */
async function* whole(
  first: Response,
  get: (at: number, etag?: string) => Promise<Response>,
  pauseMs: number,
): AsyncGenerator<Buffer> {
  let at = 0
  let failures = 0
  let part: Response | undefined = first
  let chunks = part.bytes[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  try {
    for (;;) {
      let next: IteratorResult<Buffer>
      try {
        if (!part) {
          part = await get(at, first.etag)
          chunks = part.bytes[Symbol.asyncIterator]() as AsyncIterator<Buffer>
        }
        next = await chunks.next()
      } catch (error) {
        part?.bytes.destroy()
        part = undefined
        if (++failures > MOST_FAILURES) throw error
        await sleep(pauseMs * failures)
        continue
      }
      if (next.done) return
      failures = 0
      at += next.value.length
      yield next.value
    }
  } finally {
    part?.bytes.destroy()
  }
}
