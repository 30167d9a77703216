import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { type Finding, failure, fine, warning } from './finding.ts'
import { inWords } from './in-words.ts'

const GIGABYTE = 1024 ** 3
const LOW_BYTES = GIGABYTE
const TOO_LOW_BYTES = GIGABYTE / 10

/** Writes a file into the folder of the files, reads it back and removes it; a folder that is not there yet is not made. */
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

/** The folder in which the missing one would be made. */
async function nearest(folder: string): Promise<string> {
  for (let at = path.dirname(folder); ; at = path.dirname(at)) {
    const found = await fs.stat(at).catch(() => undefined)
    if (found || at === path.dirname(at)) return at
  }
}
