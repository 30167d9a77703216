import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { BankLine } from './files/bank-statement-line.ts'
import type { ReadStatement } from './files/bank-statement.ts'
import { type MovedPayout, type PayoutState, movePayouts } from './moves.ts'

/** The outcomes of a line. With the last four it has changed nothing, and a person must look. */
export const LINE_OUTCOMES = ['paid', 'failed', 'reversed', 'known_before', 'not_found', 'amount_differs', 'not_expected', 'other_account'] as const // oxfmt-ignore
export type LineOutcome = (typeof LINE_OUTCOMES)[number]

export interface AppliedLine {
  reference: string
  status: BankLine['status']
  amountMinor: number
  currency: string
  outcome: LineOutcome
  bookedOn: string
  /** The payout with this reference, as it was before. */
  payout: { id: string; amountMinor: number; currency: string } | undefined
}

export interface AppliedStatement {
  format: ReadStatement['format']
  lines: AppliedLine[]
  /** Lines without a reference of ours, such as the operator's own business. Nothing of them is kept. */
  others: number
  moved: Record<'paid' | 'failed' | 'reversed', MovedPayout[]>
}

const NO_REASON = 'The bank returned it.'

/** How many lines of each day (ISO 8601). */
type ByDay = Record<string, number>

interface Payout {
  id: string
  reference: string
  state: PayoutState
  isExported: boolean
  wasPaid: boolean
  /** The day on which its money left, and the day on which it came back before anybody knew that it had left: as statements said. */
  leftOn: string | null
  returnedOn: string | null
  /** How many payments, and how many returns, statements have of each day. */
  payments: ByDay
  returns: ByDay
  amountMinor: number
  currency: string
  /** In a SEPA file, which names the account that pays. */
  isSepa: boolean
}

/**
 * Moves payouts as a bank's statement says. Each file counts once, so a repeat is refused: `statement_already_read`. A line whose amount
 * or currency differs from the payout's changes nothing. It notes that payouts left before it notes that they came back, whatever
 * their order in the file. `paidFrom` is the IBAN that SEPA files are paid from: a statement of another account changes nothing about
 * their payouts.
 */
export async function applyStatement(
  tx: Tx,
  statement: ReadStatement,
  { by, paidFrom }: { by: string; paidFrom: string | undefined },
): Promise<AppliedStatement> {
  const { sha256, format, lines: ours, others } = statement
  const { rows: isNew } = await sql`
    insert into payout_statements (hash, format, uploaded_by, others) values (${sha256}, ${format}, ${by}, ${others})
    on conflict (hash) do nothing returning 1`.execute(tx)
  if (isNew.length === 0)
    throw new Refusal('statement_already_read', 'This file was read before. Nothing was changed now.')

  const payouts = await lockedPayouts(tx, ours.map(({ reference }) => reference)) // oxfmt-ignore
  const judged = judge(ours, payouts, paidFrom)
  const toMove = (...wanted: LineOutcome[]) =>
    [...judged].flatMap(([{ reference, reason = NO_REASON }, outcome]) =>
      wanted.includes(outcome) ? [{ id: payouts.get(reference)!.id, reason }] : [],
    )
  // the bank had some, although the operator has not marked their file as sent
  const unsent = new Set([...payouts.values()].filter(({ state }) => state === 'approved').map(({ id }) => id))
  await movePayouts(tx, 'send', toMove('failed').filter(({ id }) => unsent.has(id))) // oxfmt-ignore
  const moved = {
    paid: await movePayouts(tx, 'confirm', toMove('paid')),
    failed: await movePayouts(tx, 'fail', toMove('failed')),
    reversed: await movePayouts(tx, 'reverse', toMove('reversed')),
  }
  for (const outcome of ['paid', 'failed', 'reversed'] as const)
    assert.equal(moved[outcome].length, toMove(outcome).length, 'payouts are locked, and their states allow the move')
  const lines = ours.map((line) => appliedLine(line, judged.get(line)!, payouts.get(line.reference)))
  await keepLines(tx, sha256, lines)
  return { format, lines, others, moved }
}

/** Finds the outcome of each line. It changes no payout, but sees the effects of the lines before. */
function judge(
  ours: readonly BankLine[],
  payouts: ReadonlyMap<string, Payout>,
  paidFrom: string | undefined,
): Map<BankLine, LineOutcome> {
  const now = new Map([...payouts].map(([reference, payout]) => [reference, { ...payout }]))
  const outcomes = new Map<BankLine, LineOutcome>()
  const booked = new Set<string>()
  const here = new Map<string, ByDay>()
  for (const line of [...ours.filter(isBooked), ...ours.filter((one) => !isBooked(one))]) {
    const payout = now.get(line.reference)
    const isElsewhere = payout?.isSepa && paidFrom && line.account && line.account !== paidFrom
    if (!payout || isElsewhere) {
      outcomes.set(line, payout ? 'other_account' : 'not_found')
      continue
    }
    if (isOfAmount(line, payout)) count(line, payout, here)
    const outcome = outcomeOf(line, payout, booked)
    outcomes.set(line, outcome)
    // what is not expected does not stand for the payment itself, which can follow in the file
    if (isBooked(line) && outcome !== 'not_expected') booked.add(line.reference)
    if (outcome === 'paid' || outcome === 'failed' || outcome === 'reversed') payout.state = outcome
    if (outcome === 'paid') payout.wasPaid = true
  }
  return outcomes
}

/** Counts a line. Several statements can have the lines of a day, so the one that has the most of them counts. */
function count(line: BankLine, payout: Payout, here: Map<string, ByDay>): void {
  const what = isBooked(line) ? 'payments' : 'returns'
  const key = `${line.reference} ${what}`
  const inFile = here.get(key) ?? {}
  here.set(key, inFile)
  inFile[line.bookedOn] = (inFile[line.bookedOn] ?? 0) + 1
  payout[what] = {
    ...payout[what],
    [line.bookedOn]: Math.max(payout[what][line.bookedOn] ?? 0, inFile[line.bookedOn]!),
  }
}

const sumOf = (days: ByDay): number => Object.values(days).reduce((sum, one) => sum + one, 0)

const isOfAmount = (line: BankLine, payout: Payout): boolean =>
  line.amountMinor === payout.amountMinor && line.currency === payout.currency

const isBooked = ({ status }: BankLine): boolean => status === 'booked'

function outcomeOf(line: BankLine, payout: Payout, booked: ReadonlySet<string>): LineOutcome {
  const { state, isExported, wasPaid, leftOn, returnedOn } = payout
  if (!isOfAmount(line, payout)) return 'amount_differs'
  // money has left for a payout that no bank should know
  if (state === 'approved' && !isExported) return 'not_expected'
  if (isBooked(line)) {
    // a second time in one file: the bank has paid twice
    if (booked.has(line.reference)) return 'not_expected'
    // a payout leaves on one day: on another one the bank has paid again
    if (wasPaid || leftOn) return !leftOn || leftOn === line.bookedOn ? 'known_before' : 'not_expected'
    if (state !== 'failed') return 'paid'
    // the statement of the return was read first. Otherwise the operator has given it up, and the seller has the money in the balance again
    return returnedOn && line.bookedOn <= returnedOn ? 'known_before' : 'not_expected'
  }
  // the bank has paid twice and one payment came back, so the seller still has the other
  if (state === 'paid') return sumOf(payout.payments) > sumOf(payout.returns) ? 'not_expected' : 'reversed'
  return state === 'failed' || state === 'reversed' ? 'known_before' : 'failed'
}

async function lockedPayouts(tx: Tx, references: string[]): Promise<Map<string, Payout>> {
  if (references.length === 0) return new Map()
  await sql`select from payouts where reference = any(${references}) order by id for update`.execute(tx)
  // a statement of its own, after the lock: it sees the lines that another upload has just committed
  const { rows } = await sql<Payout>`
    select id, reference, state, file_id is not null as "isExported", paid_at is not null as "wasPaid",
      (select min(l.booked_on)::text from payout_statement_lines l
        where l.payout_id = payouts.id and l.outcome in ('paid', 'known_before')) as "leftOn",
      (select max(l.returned_on)::text from payout_statement_lines l
        where l.payout_id = payouts.id and l.outcome = 'failed') as "returnedOn",
      ${linesByDay('booked_on')} as payments, ${linesByDay('returned_on')} as returns,
      amount_minor as "amountMinor", currency,
      exists (select from payout_files f where f.id = file_id and f.format = 'sepa') as "isSepa"
    from payouts where reference = any(${references})`.execute(tx)
  return new Map(rows.map((payout) => [payout.reference, payout]))
}

const linesByDay = (column: 'booked_on' | 'returned_on') => sql`(
  select coalesce(jsonb_object_agg(day, most), '{}') from (
    select on_day::text as day, max(lines) as most from (
      select l.${sql.ref(column)} as on_day, count(*) as lines from payout_statement_lines l
      where l.payout_id = payouts.id and l.${sql.ref(column)} is not null and l.outcome not in ('amount_differs', 'other_account')
      group by l.${sql.ref(column)}, l.statement_hash) of_statement
    group by on_day) of_day)`

function appliedLine(line: BankLine, outcome: LineOutcome, payout: Payout | undefined): AppliedLine {
  const { reference, status, amountMinor, currency, bookedOn } = line
  const found = payout && { id: payout.id, amountMinor: payout.amountMinor, currency: payout.currency }
  return { reference, status, amountMinor, currency, bookedOn, outcome, payout: found }
}

async function keepLines(tx: Tx, hash: Buffer, lines: readonly AppliedLine[]): Promise<void> {
  await sql`
    insert into payout_statement_lines (statement_hash, position, reference, amount_minor, currency, outcome, payout_id,
      booked_on, returned_on)
    select ${hash}, n.position, n.reference, n.amount_minor, n.currency, n.outcome, n.payout_id,
      case when n.is_booked then n.on_day end, case when not n.is_booked then n.on_day end
    from unnest(${lines.map((_, at) => at + 1)}::int[], ${lines.map((one) => one.reference)}::text[],
      ${lines.map((one) => one.amountMinor)}::bigint[], ${lines.map((one) => one.currency)}::text[],
      ${lines.map((one) => one.outcome)}::text[], ${lines.map((one) => one.payout?.id ?? null)}::text[],
      ${lines.map((one) => one.bookedOn)}::date[], ${lines.map((one) => one.status === 'booked')}::boolean[])
      as n(position, reference, amount_minor, currency, outcome, payout_id, on_day, is_booked)`.execute(tx)
}
