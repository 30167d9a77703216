import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type S3Settings, isDenied } from '../../src/kit/storage/s3-client.ts'
import { type Finding, failure, fine, warning } from './finding.ts'
import { inWords } from './in-words.ts'

const GIGABYTE = 1024 ** 3
const LOW_BYTES = GIGABYTE
const TOO_LOW_BYTES = GIGABYTE / 10

/** Writes a file into the storage's folder, reads it back and removes it. It does not make a missing folder. */
export async function checkStorage(folder: string): Promise<Finding> {
  const about = 'storage'
  const advice = `give the account that runs the service the right to write to ${folder} (STORAGE_URL), and room`
  const isThere = await fs.stat(folder).then(
    () => true,
    () => false,
  )
  const place = isThere ? folder : await nearest(folder)
  try {
    await tryFile(place)
  } catch (error) {
    return failure(about, `${place} cannot be written to: ${inWords(error)}`, advice)
  }
  const { bavail, bsize } = await fs.statfs(place)
  const free = bavail * bsize
  const room = `${(free / GIGABYTE).toFixed(1)} GB free`
  if (free < TOO_LOW_BYTES) return failure(about, `${folder}: ${room}`, 'make room: files and the database need it')
  if (free < LOW_BYTES) return warning(about, `${folder}: ${room}`, 'make room soon')
  const { uid } = await fs.stat(place)
  const own = process.getuid?.()
  if (isThere && own === 0 && uid !== 0)
    return warning(
      about,
      `${folder} belongs to account ${uid}, and this ran as root, which may write anywhere; ${room}`,
      'run this as the account that runs the service',
    )
  return fine(
    about,
    isThere ? `${folder}: written, read and removed; ${room}` : `the first start makes ${folder}; ${room}`,
  )
}

const MISSING = 'say that a file is missing'

/** Writes an object into the bucket, downloads it by an address as browsers do, removes it, and asks for it once more. */
export async function checkBucket(settings: S3Settings): Promise<Finding> {
  const about = 'storage'
  const { bucket, endpoint = 'Amazon S3', publicEndpoint } = settings
  const where = `${bucket} at ${endpoint}`
  const { openS3 } = await import('../../src/kit/storage/s3.ts')
  const storage = openS3(settings)
  const key = `doctor-${randomBytes(12).toString('hex')}`
  const bytes = randomBytes(4096)
  const step = { name: 'be written to' }
  try {
    await storage.put(key, Readable.from([bytes]))
    step.name = 'be read'
    if (!bytes.equals(await buffer(await storage.read(key)))) throw new Error('other bytes came back than were written')
    step.name = `be fetched from, as browsers do${publicEndpoint ? ` (${publicEndpoint})` : ''}`
    const place = await storage.serve(key, { disposition: 'attachment', contentType: 'text/plain', method: 'GET' })
    const response = await fetch(place && 'url' in place ? place.url : '')
    if (!bytes.equals(Buffer.from(await response.arrayBuffer()))) throw new Error(`it answered ${response.status}`)
    step.name = 'have a file removed'
    await storage.remove(key)
    step.name = MISSING
    if (await storage.stat(key)) throw new Error('the removed file is still there')
  } catch (error) {
    await storage.remove(key).catch(() => {})
    if (step.name === MISSING && isDenied(error))
      return failure(
        about,
        `${where}: the keys lack the right s3:ListBucket, so the store answers "forbidden" for a file that is missing, and no upload in pieces works`,
        'give the keys the right s3:ListBucket on the bucket itself, see docs/storage.md',
      )
    return failure(
      about,
      `${where} cannot ${step.name}: ${bucketInWords(error)}`,
      'see docs/storage.md: the bucket, STORAGE_URL, and the rights of the keys',
    )
  }
  return fine(about, `${where}: written, read, fetched by a signed address and removed`)
}

/** The name of the store's error, if the store answered. */
function bucketInWords(error: unknown): string {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  return $metadata?.httpStatusCode ? `${name} (${$metadata.httpStatusCode})` : inWords(error)
}

async function tryFile(folder: string): Promise<void> {
  const file = path.join(folder, `doctor-${randomBytes(6).toString('hex')}.part`)
  const bytes = randomBytes(4096)
  try {
    await fs.writeFile(file, bytes, { flag: 'wx', mode: 0o600, flush: true })
    if (!bytes.equals(await fs.readFile(file))) throw new Error('other bytes came back than were written')
  } finally {
    await fs.rm(file, { force: true })
  }
}

/** The nearest existing folder above the missing one. */
async function nearest(folder: string): Promise<string> {
  for (let at = path.dirname(folder); ; at = path.dirname(at)) {
    const found = await fs.stat(at).catch(() => undefined)
    if (found || at === path.dirname(at)) return at
  }
}
