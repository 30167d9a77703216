// npm run payouts -- COMMAND …    takes an operator's actions of /operator/#/payouts on the machine; the log names the machine
// Ends with 0: done, also if it was so before; 1: refused; 2: it could not be done.
import fs from 'node:fs'
import path from 'node:path'
import { connect } from '../src/kit/database.ts'
import { Refusal } from '../src/kit/errors.ts'
import { isId } from '../src/kit/ids.ts'
import { formatMoney } from '../src/kit/money.ts'
import { MACHINE } from '../src/operator/log.ts'
import * as work from '../src/operator/payouts.ts'
import { sellerIdOf } from '../src/operator/sellers.ts'
import { filesOf } from '../src/payouts/export.ts'
import { type RunRow, findRun, lineCount, linesOf, listRuns } from '../src/payouts/run-views.ts'
import { exportParts } from '../src/payouts/writers.ts'
import { type CommandCall, type Commands, runCommand } from './run-command.ts'

const USAGE = `npm run payouts -- COMMAND, where COMMAND is one of
  runs                          the newest runs
  propose                       proposes payouts to all sellers; it reserves nothing
  show RUN                      who gets how much, and why others do not
  approve RUN                   makes the payouts, of what can still be paid now
  leave-out RUN SELLER          waits with a seller, by id or mailbox; take-in RUN SELLER undoes it
  cancel RUN                    cancels a run that waits
  export RUN FOLDER             writes the bank files of a run; the same each time
  mark RUN sent                 the bank has the files
  mark PAYOUT paid              the bank confirms the payout
  mark PAYOUT failed REASON     the bank refused it; the money goes back to the balance
  mark PAYOUT reversed REASON   it came back after it had arrived
  pay-again PAYOUT              its account is right after all: the next run pays there again
  statement FILE                reads what the bank says, a camt.053 file or a CSV; each file once`
const MOST_SHOWN = 20

type Command = (parts: work.PayoutWork, first: string, second: string, third?: string) => Promise<string[]>

const COMMANDS: Commands<Command> = {
  runs: [0, 0, async ({ db }) => (await listRuns(db, { after: undefined, limit: MOST_SHOWN })).map(runLine)],
  propose: [0, 0, async (parts) => show(parts, await work.proposeAsOperator(parts, MACHINE))],
  show: [1, 1, (parts, runId) => show(parts, runId)],
  approve: [1, 1, approve],
  'leave-out': [2, 2, (parts, runId, seller) => leaveOut(parts, runId, seller, true)],
  'take-in': [2, 2, (parts, runId, seller) => leaveOut(parts, runId, seller, false)],
  'pay-again': [
    1,
    1,
    async (parts, id) => [(await work.payAgainAsOperator(parts, MACHINE, id)) ? 'Done.' : 'It was so before.'],
  ],
  cancel: [
    1,
    1,
    async (parts, runId) => {
      await unlessSo(parts, runId, 'cancelled', work.cancelAsOperator(parts, MACHINE, runId))
      return ['The run is cancelled.']
    },
  ],
  export: [2, 2, exportFiles],
  mark: [2, 3, mark],
  statement: [1, 1, readFile],
}

await runCommand(COMMANDS, USAGE, run)

async function run(does: Command, { config, url, given }: CommandCall): Promise<string[]> {
  const connection = { connectionString: url }
  const { db, close } = connect(connection, { connections: 2 })
  try {
    const parts = { db, database: connection, rules: config.payouts, ...exportParts(config) }
    return await does(parts, given[0] ?? '', given[1] ?? '', given[2])
  } finally {
    await close()
  }
}

function runLine({ id, state, createdAt, createdBy, sums }: RunRow): string {
  const parts = sums.map(({ currency, proposed, proposedMinor, blocked, payouts, payoutsMinor }) => {
    const [count, minor] = state === 'approved' ? [payouts, payoutsMinor] : [proposed, proposedMinor]
    return `${formatMoney(minor, currency)} to ${count}${blocked > 0 ? ` (${blocked} not paid)` : ''}`
  })
  return `${id}  ${state.padEnd(9)}  ${createdAt.toISOString().slice(0, 10)} by ${createdBy}  ${parts.join(', ')}`
}

async function show({ db, writers }: work.PayoutWork, runId: string): Promise<string[]> {
  const row = await findRun(db, runId)
  const shown = await linesOf(db, runId)
  const lines = shown.map((line) => {
    const suspended = line.payout?.isToSuspended ? '  the shop is suspended' : ''
    const payout = line.payout && `${line.payout.id}  ${line.payout.state}  ${line.destination}${suspended}`
    const why = line.blocked ?? (row.state === 'approved' ? 'no longer due at the approval' : line.destination)
    const amount = formatMoney(line.payout?.amountMinor ?? line.amountMinor, line.currency)
    const debts = line.owes.map((debt) => formatMoney(debt.amountMinor, debt.currency))
    const owes = debts.length > 0 ? `  owes ${debts.join(' and ')}` : ''
    return `${amount.padStart(14)}  ${line.sellerEmail}  ${payout ?? why}${owes}`
  })
  const files = (await filesOf(db, runId, writers)).map(
    ({ currency, format, payouts, amountMinor, toSuspended, exportedAt }) =>
      `file ${currency} ${format}: ${payouts} payouts, ${formatMoney(amountMinor, currency)}, ${exportedAt ? `exported ${exportedAt.toISOString()}` : 'not exported yet'}${suspendedWords(toSuspended)}`,
  )
  const cut = shown.length < lineCount(row) ? [`The first ${shown.length} of ${lineCount(row)} lines.`] : []
  return [runLine(row), ...lines, ...cut, ...files]
}

/** An operator may not want the file to pay these. */
function suspendedWords(count: number): string {
  return count > 0 ? `, with ${count} ${count === 1 ? 'payout to a suspended shop' : 'payouts to suspended shops'}` : ''
}

/** A command that is repeated, because its process was killed after the change, has done its work. */
async function unlessSo(
  parts: work.PayoutWork,
  runId: string,
  state: RunRow['state'],
  change: Promise<unknown>,
): Promise<void> {
  try {
    await change
  } catch (error) {
    const isOver = error instanceof Refusal && error.code === 'run_not_proposed'
    if (!isOver || (await findRun(parts.db, runId)).state !== state) throw error
  }
}

async function approve(parts: work.PayoutWork, runId: string): Promise<string[]> {
  await unlessSo(parts, runId, 'approved', work.approveAsOperator(parts, MACHINE, { runId }))
  return show(parts, runId)
}

/** All currencies of a seller. */
async function leaveOut(parts: work.PayoutWork, runId: string, seller: string, isOut: boolean): Promise<string[]> {
  const { id } = await findRun(parts.db, runId)
  // read by the seller: the list of all lines ends somewhere, and the approval pays those after it too
  const lines = (await linesOf(parts.db, id, await sellerIdOf(parts.db, seller))).filter(
    ({ blocked }) => blocked === null || blocked === 'left_out',
  )
  if (lines.length === 0) throw new Refusal('run_line_not_found', 'The run would not pay this seller.')
  for (const { sellerId, currency } of lines)
    await work.leaveOutAsOperator(parts, MACHINE, { runId, sellerId, currency, isOut })
  return show(parts, runId)
}

/** Each file is written under a name of its own, and only for its owner: it has names and account numbers. */
async function exportFiles(parts: work.PayoutWork, runId: string, folder: string): Promise<string[]> {
  const wanted = await filesOf(parts.db, (await findRun(parts.db, runId)).id, parts.writers)
  const said: string[] = []
  for (const { currency, format, toSuspended, exportedAt } of wanted) {
    const onlyMade = exportedAt !== null
    const { name: file, content, payouts, amountMinor, isRepeat } = await work.exportAsOperator(parts, MACHINE, { runId, currency, format, onlyMade }) // oxfmt-ignore
    const target = path.join(folder, file)
    writeWhole(target, content)
    said.push(`${target}: ${payouts} payouts, ${formatMoney(amountMinor, currency)}${isRepeat ? ', the same file as before' : ''}${suspendedWords(toSuspended)}`) // oxfmt-ignore
  }
  if (said.length === 0) throw new Refusal('nothing_to_export', 'This run has no payouts to export.')
  return said
}

/** Moves the file to its name when it is whole: a bank takes half of a CSV too, if the process is killed while it writes. */
function writeWhole(target: string, content: string): void {
  const unfinished = `${target}.unfinished`
  // one of a process that was killed may be readable by others
  fs.rmSync(unfinished, { force: true })
  fs.writeFileSync(unfinished, content, { mode: 0o600, flag: 'wx' })
  fs.renameSync(unfinished, target)
}

async function mark(parts: work.PayoutWork, id: string, word: string, reason?: string): Promise<string[]> {
  if (isId('run', id) && word === 'sent' && reason === undefined) {
    const sent = await work.sendAsOperator(parts, MACHINE, { runId: id })
    return [`${sent} ${sent === 1 ? 'payout is' : 'payouts are'} marked as sent.`]
  }
  const isFailure = word === 'failed' || word === 'reversed'
  if (!isId('po', id) || (!isFailure && word !== 'paid') || isFailure !== (reason !== undefined))
    throw new Refusal(
      'validation_failed',
      'Use mark RUN sent, mark PAYOUT paid, or mark PAYOUT failed|reversed REASON.',
    )
  if (reason !== undefined && (reason.trim() === '' || reason.length > 500))
    throw new Refusal('validation_failed', 'REASON has 1 to 500 characters. The seller reads it.')
  const isChanged = await work.markAsOperator(parts, MACHINE, { mark: word, id, reason })
  return [isChanged ? 'Done.' : 'It was so before.']
}

/** Names each line that has changed nothing, because a person must look at it. */
async function readFile(parts: work.PayoutWork, file: string): Promise<string[]> {
  let read: Awaited<ReturnType<typeof work.readStatementAsOperator>>
  try {
    read = await work.readStatementAsOperator(parts, MACHINE, fs.readFileSync(file))
  } catch (error) {
    if (error instanceof Refusal && error.code === 'statement_already_read') return [error.message]
    throw error
  }
  const { lines, others, moved } = read
  const known = lines.filter(({ outcome }) => outcome === 'known_before').length
  const odd = lines.filter(({ outcome }) => /^(?:not_found|amount_differs|not_expected|other_account)$/.test(outcome))
  return [
    `${moved.paid.length} paid, ${moved.failed.length} failed, ${moved.reversed.length} came back, ${known} known before, ${odd.length} to look at, ${others} other lines.`,
    ...odd.map(({ reference, status, amountMinor, currency, outcome, payout }) => {
      const expected = payout ? `, the payout is ${formatMoney(payout.amountMinor, payout.currency)}` : ''
      return `${outcome}: ${reference} ${status} ${formatMoney(amountMinor, currency)}${expected}`
    }),
  ]
}
