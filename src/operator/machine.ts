import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { diskSpaceOf } from '../kit/disk-space.ts'
import { inTime } from '../kit/time.ts'

/** One thing about the machine or the installation, in the words of the doctor. */
export interface Check {
  about: 'backup' | 'disk' | 'certificate' | 'clock'
  mark: 'fine' | 'warning' | 'failure'
  says: string
  /** The advice. Absent when all is fine. */
  advice?: string
}

/** The backups' report about themselves. Undefined: no backup is set up. Null: they are made elsewhere, and nothing is known of them. */
export type BackupCheck = () => Promise<Omit<Check, 'about'> | undefined | null>

export interface Machine {
  db: Db
  /** The folders of the database and of the files, if they are on this machine. */
  folders: readonly string[]
  /** The addresses of the API and of the pages. */
  addresses: readonly string[]
  backup: BackupCheck
  /** How long one check may take. */
  checkMs: number
}

const GIGABYTE = 1024 ** 3
const LOW_BYTES = GIGABYTE
const TOO_LOW_BYTES = GIGABYTE / 10
const DAY_MS = 86_400_000
/** Renewals begin a month before the end, so a shorter rest means that they fail. */
const RENEWED_DAYS = 14
/** Synchronised clocks differ by less. */
const NOTICED_SECONDS = 30

/** Checks the facts about the machine that an operator must know. A check that fails or takes too long is a warning of its own. */
export async function checkMachine({ db, folders, addresses, backup, checkMs }: Machine): Promise<Check[]> {
  const hosts = [...new Set(addresses.filter((one) => one.startsWith('https:')))]
  // before the checks begin: one that fails during this wait would be an unhandled rejection
  const disks = await inTime(onOwnDisks(folders), checkMs).catch(() => folders)
  const work: [Check['about'], Promise<Omit<Check, 'about'> | null>][] = [
    ['backup', checkBackup(backup)],
    ...disks.map((folder): (typeof work)[number] => ['disk', checkDisk(folder)]),
    ...hosts.map((url): (typeof work)[number] => ['certificate', checkCertificate(url, checkMs)]),
    ['clock', checkClock(db)],
  ]
  const checks = await Promise.all(
    work.map(async ([about, check]): Promise<Check | undefined> => {
      try {
        const found = await inTime(check, checkMs)
        return found ? { about, ...found } : undefined
      } catch (error) {
        const says = `This could not be checked: ${(error as Error).message}`
        return { about, mark: 'warning', says, advice: 'Run npm run doctor on the machine.' }
      }
    }),
  )
  return checks.filter((check) => check !== undefined)
}

async function checkBackup(backup: BackupCheck): Promise<Omit<Check, 'about'> | null> {
  const found = await backup()
  if (found !== undefined) return found
  return { mark: 'warning', says: 'No backup is set up.', advice: 'Set BACKUP_URL: see docs/backup.md.' }
}

/** The first of the folders on each disk. A folder that is not there stays, because its check says so. */
async function onOwnDisks(folders: readonly string[]): Promise<string[]> {
  const disks = await Promise.all(folders.map((one) => diskSpaceOf(one).then(({ disk }) => disk, () => one))) // oxfmt-ignore
  return folders.filter((_, at) => disks.indexOf(disks[at]!) === at)
}

async function checkDisk(folder: string): Promise<Omit<Check, 'about'>> {
  const { freeBytes: free } = await diskSpaceOf(folder)
  const says = `${(free / GIGABYTE).toFixed(1)} GB are free in ${folder}.`
  if (free >= LOW_BYTES) return { mark: 'fine', says }
  if (free >= TOO_LOW_BYTES) return { mark: 'warning', says, advice: 'Make room soon.' }
  return { mark: 'failure', says, advice: 'Make room now: without it the database stops.' }
}

/** Reads the certificate that browsers get. It is read also when it is not valid, to say why. */
async function checkCertificate(url: string, checkMs: number): Promise<Omit<Check, 'about'>> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const { validTo, problem } = await new Promise<{ validTo: string; problem: string | undefined }>(
    (resolve, reject) => {
      const socket = connect({
        host,
        port: Number(port || 443),
        ...(isIP(host) === 0 && { servername: host }),
        rejectUnauthorized: false,
        timeout: checkMs,
      })
      socket.once('secureConnect', () => {
        const { authorizationError: error } = socket
        resolve({ validTo: socket.getPeerCertificate().valid_to, problem: error ? String(error) : undefined })
        socket.destroy()
      })
      socket.once('timeout', () => socket.destroy(new Error('no answer')))
      socket.once('error', reject)
    },
  )
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS)
  const advice = `Renew the certificate of ${hostname} at the proxy in front.`
  if (problem !== undefined)
    return { mark: 'failure', says: `Browsers refuse the certificate of ${hostname} (${problem}).`, advice }
  const says = `The certificate of ${hostname} is valid for ${days} more ${days === 1 ? 'day' : 'days'}.`
  return days < RENEWED_DAYS ? { mark: 'warning', says, advice } : { mark: 'fine', says }
}

async function checkClock(db: Db): Promise<Omit<Check, 'about'>> {
  const before = Date.now()
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const ours = (before + Date.now()) / 2
  const off = Math.round(Math.abs(rows[0]!.now.getTime() - ours) / 1000)
  if (off <= NOTICED_SECONDS) return { mark: 'fine', says: 'The clocks of this machine and of the database agree.' }
  return {
    mark: off > 300 ? 'failure' : 'warning',
    says: `The clocks of this machine and of the database differ by ${off} s.`,
    advice: 'Let the network set both clocks (on Linux: timedatectl set-ntp true).',
  }
}
