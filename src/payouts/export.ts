import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { newId } from '../kit/ids.ts'
import type { TextSeal } from '../kit/sealed-text.ts'
import { isSuspended } from '../sellers/standing.ts'
import { type Destination, openDestination } from './destination.ts'
import type { Payment } from './files/payment.ts'

export const FILE_FORMATS = ['sepa', 'csv'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

/** A bank file to be written. */
export interface NewFile {
  messageId: string
  createdAt: Date
  currency: string
  payouts: readonly Payment[]
}

/** Writes the bytes of a file. `sepa` is absent where the settings name no account to pay from. */
export interface FileWriters {
  sepa?: ((file: NewFile) => Promise<string>) | undefined
  csv: (file: NewFile) => Promise<string>
}

export interface ExportedFile {
  id: string
  name: string
  format: FileFormat
  content: string
  payouts: number
  amountMinor: number
  /** An earlier export has made it. The bytes are the same. */
  isRepeat: boolean
}

export interface WantedFile {
  runId: string
  currency: string
  format?: FileFormat | undefined
  /** Gives only a file that an earlier export has made. */
  onlyMade?: boolean
}

export interface ExportParts {
  seal: TextSeal
  writers: FileWriters
  /** The IBAN that SEPA files are paid from. */
  paidFrom?: string | undefined
}

/**
 * Gives a bank file of a run: the same bytes each time. The first export makes it of the payouts that are approved, and of none that is
 * in a file already, so no payout is in two files. Without a format it is `sepa` for euros to IBANs, if the settings name an account to
 * pay from, and `csv` for the rest. Refuses `run_not_found`, `run_not_approved`, `nothing_to_export`, `file_made_before`, and with
 * `onlyMade` `run_not_exported`.
 */
export async function exportFile(
  tx: Tx,
  { seal, writers }: ExportParts,
  { runId, currency, format, onlyMade = false, by }: WantedFile & { by: string },
): Promise<ExportedFile> {
  // simultaneous exports make the file one after the other
  const { rows: runs } = await sql<{ state: string; approvedAt: Date }>`
    select state, approved_at as "approvedAt" from payout_runs where id = ${runId} for no key update`.execute(tx)
  if (!runs[0]) throw new Refusal('run_not_found', 'There is no such run.')
  if (runs[0].state !== 'approved')
    throw new Refusal('run_not_approved', `The run is ${runs[0].state}, so it has no payouts.`)
  const wanted = format ?? (await usualFormat(tx, runId, currency, writers))
  const made = await findFile(tx, seal, runId, currency, wanted)
  if (made && onlyMade) return made
  if (onlyMade) throw new Refusal('run_not_exported', 'This file was not made yet.')

  const payouts = await waitingPayouts(tx, runId, currency, wanted, writers)
  // otherwise the operator would get a file that pays others, and the bank could pay those a second time
  if (made && payouts.length > 0) throw new Refusal('file_made_before', madeWithout(payouts.length))
  if (made) return made
  const write = writers[wanted]
  if (payouts.length === 0 || !write)
    throw new Refusal('nothing_to_export', `No payout of this run in ${currency} goes into such a file.`)
  const messageId = `${runId.replace('_', '').toUpperCase()}${currency}${wanted === 'csv' ? 'C' : ''}`
  const content = await write({
    messageId,
    createdAt: runs[0].approvedAt,
    currency,
    payouts: payouts.map(({ sealed, ...payout }) => ({ ...payout, currency, destination: opened(seal, sealed) })),
  })
  const amountMinor = payouts.reduce((sum, payout) => sum + payout.amountMinor, 0)
  const id = newId('pof')
  await sql`
    insert into payout_files (id, run_id, currency, format, message_id, payouts, amount_minor, content, exported_by)
    values (${id}, ${runId}, ${currency}, ${wanted}, ${messageId}, ${payouts.length}, ${amountMinor}, ${seal.seal(content)}, ${by})`.execute(
    tx,
  )
  await sql`update payouts set file_id = ${id} where id = any(${payouts.map((payout) => payout.id)})`.execute(tx)
  const name = nameOf(runId, currency, wanted)
  return { id, name, format: wanted, content, payouts: payouts.length, amountMinor, isRepeat: false }
}

interface WaitingPayout {
  id: string
  reference: string
  amountMinor: number
  sealed: Buffer
}

/** The largest amount of a SEPA credit transfer: 999,999,999.99. */
const LARGEST_SEPA_MINOR = 99_999_999_999

/** Whether a payout goes into the SEPA file: by its destination, and only where the settings name an account to pay from. */
const bySepa = (writers: FileWriters) => sql<boolean>`
  (p.currency = 'EUR' and p.destination_kind = 'iban' and p.amount_minor <= ${LARGEST_SEPA_MINOR} and ${writers.sepa !== undefined})`

async function usualFormat(tx: Tx, runId: string, currency: string, writers: FileWriters): Promise<FileFormat> {
  const { rows } = await sql<{ format: FileFormat }>`
    select coalesce(f.format, case when ${bySepa(writers)} then 'sepa' else 'csv' end) as format
    from payouts p left join payout_files f on f.id = p.file_id
    where p.run_id = ${runId} and p.currency = ${currency} and (p.file_id is not null or p.state = 'approved')
    order by 1 desc limit 1`.execute(tx)
  return rows[0]?.format ?? 'csv'
}

async function findFile(
  tx: Tx,
  seal: TextSeal,
  runId: string,
  currency: string,
  format: FileFormat,
): Promise<ExportedFile | undefined> {
  const { rows } = await sql<{ id: string; payouts: number; amountMinor: number; sealed: Buffer }>`
    select id, payouts, amount_minor as "amountMinor", content as sealed from payout_files
    where run_id = ${runId} and currency = ${currency} and format = ${format}`.execute(tx)
  if (!rows[0]) return undefined
  const { sealed, ...file } = rows[0]
  const content = seal.open(sealed)
  if (!content) throw new Refusal('secret_missing', NO_SECRET)
  return { ...file, name: nameOf(runId, currency, format), format, content: content.text, isRepeat: true }
}

async function waitingPayouts(
  tx: Tx,
  runId: string,
  currency: string,
  format: FileFormat,
  writers: FileWriters,
): Promise<WaitingPayout[]> {
  const { rows } = await sql<WaitingPayout>`
    select p.id, p.reference, p.amount_minor as "amountMinor", p.destination as sealed from payouts p
    where p.run_id = ${runId} and p.currency = ${currency} and p.state = 'approved' and p.file_id is null
      and ${bySepa(writers)} = ${format === 'sepa'}
    order by p.id for no key update`.execute(tx)
  return rows
}

const NO_SECRET =
  'The service’s present SECRET does not open this. Set the earlier secret behind the present one, separated by a comma.'

function opened(seal: TextSeal, sealed: Buffer): Destination {
  const destination = openDestination(seal, sealed)
  if (!destination) throw new Refusal('secret_missing', NO_SECRET)
  return destination
}

/** Payouts change their file only when the account to pay from is removed: those of the SEPA file then belong to the CSV. */
const madeWithout = (payouts: number): string =>
  `This file was made before, and ${payouts === 1 ? 'a payout that waits is' : `${payouts} payouts that wait are`} not in it: PAYOUT_FROM_NAME and PAYOUT_FROM_IBAN were removed since. Set them again and restart the service, and the rest goes into a file of its own. Or mark what waits as failed, and the next run pays it.`

/** The name of the file at the operator's. */
const nameOf = (runId: string, currency: string, format: FileFormat): string =>
  `payouts-${runId}-${currency}.${format === 'sepa' ? 'xml' : 'csv'}`

export interface RunFile {
  currency: string
  format: FileFormat
  payouts: number
  amountMinor: number
  /** How many of its payouts are approved and go to shops that were suspended since. The file pays them all the same. */
  toSuspended: number
  /** Null: it was not exported yet. */
  exportedAt: Date | null
}

/** The bank files of a run: those that were exported, and those that its other payouts go into. */
export async function filesOf(tx: Db | Tx, runId: string, writers: FileWriters): Promise<RunFile[]> {
  const { rows } = await sql<RunFile>`
    select f.currency, f.format, f.payouts, f.amount_minor as "amountMinor",
      (select count(*)::int from payouts p join sellers s on s.id = p.seller_id
        where p.file_id = f.id and p.state = 'approved' and ${isSuspended}) as "toSuspended",
      f.exported_at as "exportedAt"
    from payout_files f where f.run_id = ${runId}
    union all
    select p.currency, case when ${bySepa(writers)} then 'sepa' else 'csv' end, count(*)::int, sum(p.amount_minor)::bigint,
      count(*) filter (where ${isSuspended})::int, null
    from payouts p join sellers s on s.id = p.seller_id
    where p.run_id = ${runId} and p.state = 'approved' and p.file_id is null group by 1, 2
    order by 1, 2 desc, 6`.execute(tx)
  return rows
}
