import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { inChunks } from '../chunks.ts'
import { PART_BYTES, type S3 } from './s3-client.ts'
import type { Stored } from './storage.ts'

/** How many parts are sent at once. Memory holds these and one part that is being filled. */
const AT_ONCE = 3

interface Target {
  Bucket: string
  Key: string
}

/** Writes a small file in one request and a larger one in parts. When it fails, no parts stay in the store. */
export async function putStream({ sdk, client }: S3, target: Target, bytes: Readable): Promise<Stored> {
  const hash = createHash('sha256')
  let size = 0
  const read = seen(bytes, (chunk) => {
    hash.update(chunk)
    size += chunk.length
  })
  const parts = inChunks(read, PART_BYTES)
  const first = (await parts.next()).value ?? Buffer.alloc(0)
  if (first.length < PART_BYTES) await client.send(new sdk.PutObjectCommand({ ...target, Body: first }))
  else await putParts({ sdk, client }, target, first, parts)
  return { size, sha256: hash.digest('hex') }
}

async function putParts(
  { sdk, client }: S3,
  target: Target,
  first: Buffer,
  rest: AsyncGenerator<Buffer>,
): Promise<void> {
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(target))
  const whole = { ...target, UploadId }
  const done: { PartNumber: number; ETag: string | undefined }[] = []
  const underWay = new Set<Promise<void>>()
  let failed: { error: unknown } | undefined
  const send = (Body: Buffer, PartNumber: number) => {
    const part: Promise<void> = client
      .send(new sdk.UploadPartCommand({ ...whole, PartNumber, Body }))
      .then(
        ({ ETag }) => void done.push({ PartNumber, ETag }),
        (error: unknown) => void (failed ??= { error }),
      )
      .finally(() => underWay.delete(part))
    underWay.add(part)
  }
  try {
    let number = 1
    send(first, number)
    for await (const part of rest) {
      if (underWay.size >= AT_ONCE) await Promise.race(underWay)
      if (failed) throw failed.error
      send(part, ++number)
    }
    await Promise.all(underWay)
    if (failed) throw failed.error
    const Parts = done.sort((a, b) => a.PartNumber - b.PartNumber)
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...whole, MultipartUpload: { Parts } }))
  } catch (error) {
    // a part that arrives after the abort would stay in the store
    await Promise.all(underWay)
    await client.send(new sdk.AbortMultipartUploadCommand(whole)).catch(() => {})
    throw error
  }
}

/** The same stream, of which `see` gets each chunk before it is passed on. */
async function* seen(bytes: Readable, see: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    see(chunk)
    yield chunk
  }
}
