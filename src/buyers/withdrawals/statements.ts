import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import type { Jobs } from '../../kit/jobs.ts'
import type { Locale } from '../../kit/locales.ts'
import { type Limit, countOneThenOther, refuseBeyond } from '../../kit/limits.ts'
import type { NewWithdrawal, Withdrawal } from './schema.ts'

export interface WithdrawalLimits {
  /** Statements from one network, and mails that acknowledge statements to one mailbox. */
  withdrawal?: Limit
}

interface Parts {
  db: Db
  jobs: Jobs
  limits: WithdrawalLimits
}

const TOO_MANY =
  'Too many statements came from your network. Please wait, or write to the seller: an e-mail works just as well as this form.'

/**
 * Takes a statement of withdrawal. It looks at no order, so neither its answer nor its time shows whether one exists. The statement, its
 * acknowledgement and the job that looks for the order are written in one transaction. Beyond the limit of the mailbox the statement
 * counts all the same, and only its mail is not sent. Refuses `rate_limited` for the network, and `idempotency_key_reused` for another
 * statement with the same key.
 */
export async function withdraw(
  { db, jobs, limits: { withdrawal: limit } }: Parts,
  { key, locale, ...statement }: NewWithdrawal & { network: string; locale: Locale },
): Promise<Withdrawal> {
  const { network, name, contract, email } = statement
  const requestKey = createHash('sha256').update(key).digest()
  const before = await find(db, requestKey)
  if (before) return repeated(before, statement)
  const isMailed = limit ? await countStatement(db, { network, email }, limit) : true
  const made = await inTransaction(db, async (tx) => {
    const { rows } = await sql<Row>`
      insert into withdrawals (id, request_key, name, email, contract)
      values (${newId('wdr')}, ${requestKey}, ${name.trim()}, ${email}, ${contract.trim()})
      on conflict (request_key) do nothing returning ${COLUMNS}`.execute(tx)
    if (!rows[0]) return undefined
    const data = { id: rows[0].id }
    if (isMailed) await jobs.add(tx, 'withdrawal_mail', [{ data: { ...data, locale } }])
    await jobs.add(tx, 'find_withdrawn', [{ data }])
    return rows[0]
  })
  // a simultaneous request with this key was faster
  return made ? viewOf(made) : repeated((await find(db, requestKey))!, statement)
}

/**
 * Counts a statement, and tells whether its mail may be sent. Strangers can name the buyer's mailbox, so its limit refuses no statement.
 * A refused network does not use up the mailbox's limit. Refuses `rate_limited`.
 */
async function countStatement(
  db: Db,
  { network, email }: { network: string; email: string },
  limit: Limit,
): Promise<boolean> {
  const [ofNetwork, ofMailbox] = await countOneThenOther(
    db,
    { key: `withdrawal from ${network}`, limit },
    { key: `withdrawal of ${email}`, limit },
  )
  refuseBeyond([ofNetwork!], TOO_MANY)
  return ofMailbox!.within
}

export interface Row {
  id: string
  name: string
  email: string
  contract: string
  receivedAt: Date
}

export const COLUMNS = sql`id, name, email, contract, received_at as "receivedAt"`

async function find(db: Db, requestKey: Buffer): Promise<Row | undefined> {
  const { rows } = await sql<Row>`select ${COLUMNS} from withdrawals where request_key = ${requestKey}`.execute(db)
  return rows[0]
}

function repeated(row: Row, { name, contract, email }: Omit<NewWithdrawal, 'key'>): Withdrawal {
  if (row.name === name.trim() && row.contract === contract.trim() && row.email === email) return viewOf(row)
  throw new Refusal('idempotency_key_reused', 'This key belongs to another statement.')
}

const viewOf = ({ id, receivedAt, ...row }: Row): Withdrawal => ({
  withdrawalId: id,
  receivedAt: toTheSecond(receivedAt),
  ...row,
})

/** 2026-11-24T12:00:05Z: the acknowledgement has to name the time to the second. */
const toTheSecond = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`
