import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'

export const ACTIONS = [
  'seller_approved',
  'seller_approval_ended',
  'seller_suspended',
  'seller_resumed',
  'seller_quota_set',
  'seller_sessions_ended',
  'seller_keys_revoked',
  'order_accepted',
  'order_sent_back',
  'order_refunded',
  'receipt_resent',
  'file_recalled',
  'payout_run_proposed',
  'payout_run_approved',
  'payout_run_cancelled',
  'payout_left_out',
  'payout_taken_in',
  'payout_file_exported',
  'payout_run_sent',
  'payout_paid',
  'payout_failed',
  'payout_reversed',
  'payout_account_confirmed',
  'payout_statement_read',
  'seller_adjusted',
  'tax_rates_loaded',
] as const
export type Action = (typeof ACTIONS)[number]

/** The actor of a command on the machine itself. */
export const MACHINE = 'machine'

export interface LogRow {
  id: string
  at: Date
  actor: string
  action: Action
  subject: string
  detail: Record<string, unknown>
}

/** Writes an operator's action, in the transaction that does it: either both happen or neither. */
export async function note(
  tx: Tx,
  actor: string,
  action: Action,
  subject: string,
  detail: Record<string, unknown> = {},
): Promise<void> {
  await noteEach(tx, actor, action, [{ subject, detail }])
}

/** The same of many subjects, in their order and in one statement. */
export async function noteEach(
  tx: Tx,
  actor: string,
  action: Action,
  entries: readonly { subject: string; detail: Record<string, unknown> }[],
): Promise<void> {
  if (entries.length === 0) return
  await sql`
    insert into operator_actions (actor, action, subject, detail)
    select ${actor}, ${action}, n.subject, n.detail::jsonb
    from unnest(${entries.map(({ subject }) => subject)}::text[], ${entries.map(({ detail }) => JSON.stringify(detail))}::text[])
      with ordinality as n(subject, detail, at) order by n.at`.execute(tx)
}

/** The log from the newest entry on, of one order, seller or file if `subject` is given. */
export async function readLog(
  db: Db,
  { subject }: { subject?: string | undefined },
  { after, limit }: { after: string | undefined; limit: number },
): Promise<LogRow[]> {
  const { rows } = await sql<LogRow>`
    select id::text as id, at, actor, action, subject, detail from operator_actions
    where id < ${after ?? '9223372036854775807'}::bigint and (${subject ?? null}::text is null or subject = ${subject ?? null})
    order by operator_actions.id desc limit ${limit}`.execute(db)
  return rows
}
