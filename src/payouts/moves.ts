import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { payoutBackTransfer } from '../ledger/payout-transfers.ts'
import { post } from '../ledger/post.ts'
import { tellSellers } from './mails.ts'

export const PAYOUT_STATES = ['approved', 'sent', 'paid', 'failed', 'reversed'] as const
export type PayoutState = (typeof PAYOUT_STATES)[number]

/** Every way a payout may move. Other moves cannot happen. */
const MOVES = {
  // its file has gone to the bank
  send: { to: 'sent', guard: sql`p.state = 'approved' and p.file_id is not null`, sets: sql`sent_at = now()` },
  // the bank may answer before the operator has said that the file was sent
  confirm: {
    to: 'paid',
    guard: sql`(p.state = 'sent' or (p.state = 'approved' and p.file_id is not null))`,
    sets: sql`paid_at = now(), sent_at = coalesce(p.sent_at, now())`,
  },
  // A payout in a file that may still be sent cannot fail: its money would go out twice.
  fail: {
    to: 'failed',
    guard: sql`(p.state = 'sent' or (p.state = 'approved' and p.file_id is null))`,
    sets: sql`ended_at = now(), failure = n.reason`,
  },
  reverse: { to: 'reversed', guard: sql`p.state = 'paid'`, sets: sql`ended_at = now(), failure = n.reason` },
} as const satisfies Record<string, { to: PayoutState; guard: RawBuilder<unknown>; sets: RawBuilder<unknown> }>
export type PayoutMove = keyof typeof MOVES

export interface MovedPayout {
  id: string
  sellerId: string
  currency: string
  amountMinor: number
}

/** A payout to move, and the reason: the bank's words, for a failure or a reversal. */
export interface ToMove {
  id: string
  reason?: string | undefined
  /** The state that the operator saw. A payout that has another one by now does not move. */
  seen?: PayoutState | undefined
}

/**
 * Moves payouts and books the money that goes back to sellers, in one transaction. Returns those that have moved. The others are not
 * there, or their state does not allow it: a repeat, or a lost race.
 */
export async function movePayouts(tx: Tx, move: PayoutMove, wanted: readonly ToMove[]): Promise<MovedPayout[]> {
  if (wanted.length === 0) return []
  const { to, guard, sets } = MOVES[move]
  const { rows } = await sql<MovedPayout>`
    with n as (
      select * from unnest(${wanted.map(({ id }) => id)}::text[], ${wanted.map(({ reason }) => reason ?? null)}::text[],
        ${wanted.map(({ seen }) => seen ?? null)}::text[]) as n(id, reason, seen)),
    locked as (select p.id from payouts p where p.id in (select id from n) order by p.id for update)
    update payouts p set state = ${to}, ${sets}
    from n join locked l on l.id = n.id
    where p.id = n.id and ${guard} and p.state = coalesce(n.seen, p.state)
    returning p.id, p.seller_id as "sellerId", p.currency, p.amount_minor as "amountMinor"`.execute(tx)
  // The seller hears of all but a confirmation: the money is in the account then.
  if (move !== 'confirm') await tellSellers(tx, MOVES[move].to, rows.map(({ id }) => id)) // oxfmt-ignore
  if (move === 'fail') await post(tx, rows.map((payout) => payoutBackTransfer('payout_failed', payout))) // oxfmt-ignore
  if (move === 'reverse') await post(tx, rows.map((payout) => payoutBackTransfer('payout_reversed', payout))) // oxfmt-ignore
  return rows
}

/** Moves one payout. Undefined: it was so before. Refuses `payout_not_found` and `payout_not_movable`. */
export async function movePayout(tx: Tx, move: PayoutMove, wanted: ToMove): Promise<MovedPayout | undefined> {
  const [moved] = await movePayouts(tx, move, [wanted])
  if (moved) return moved
  const { rows } = await sql<{ state: PayoutState; isExported: boolean }>`
    select state, file_id is not null as "isExported" from payouts where id = ${wanted.id}`.execute(tx)
  const payout = rows[0]
  if (!payout) throw new Refusal('payout_not_found', 'There is no such payout.')
  if (payout.state === MOVES[move].to) return undefined
  if (wanted.seen && wanted.seen !== payout.state)
    throw new Refusal('payout_not_movable', `The payout is ${payout.state} by now. Look at it again first.`)
  throw new Refusal('payout_not_movable', whyNot(move, payout))
}

function whyNot(move: PayoutMove, { state, isExported }: { state: PayoutState; isExported: boolean }): string {
  if (state === 'approved' && move === 'fail' && isExported)
    return 'The payout is in a bank file. Mark the run as sent first; if the file was not sent, the payout is still to be paid.'
  if (state === 'approved' && !isExported) return 'The payout is in no bank file yet. Export the run first.'
  if (move === 'reverse' && state === 'sent') return 'The payout is not confirmed yet, so it fails.'
  if (move === 'fail' && state === 'paid') return 'The payout was confirmed, so it is reversed.'
  return `The payout is ${state}.`
}

/**
 * Marks the payouts of a run that are in a bank file as sent, all or those of one currency. Refuses `run_not_found`, and
 * `run_not_exported` when a payout waits that is in no file.
 */
export async function sendRun(tx: Tx, runId: string, currency?: string): Promise<MovedPayout[]> {
  const { rows } = await sql<{ id: string | null; isExported: boolean }>`
    select p.id, p.file_id is not null as "isExported" from payout_runs r
    left join payouts p on p.run_id = r.id and p.state = 'approved'
      and (${currency ?? null}::text is null or p.currency = ${currency ?? null})
    where r.id = ${runId}`.execute(tx)
  if (rows.length === 0) throw new Refusal('run_not_found', 'There is no such run.')
  const waiting = rows.filter((row): row is typeof row & { id: string } => row.id !== null)
  if (waiting.some(({ isExported }) => !isExported))
    throw new Refusal('run_not_exported', 'Not every payout is in a bank file yet. Export each file of the run first.')
  return movePayouts(tx, 'send', waiting)
}
