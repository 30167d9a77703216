import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { logOf, operatorOf } from '../operator/support.ts'
import { query } from '../stand-ins/processor.ts'
import { startDatabaseProxy } from '../support/service.ts'
import { sharedShop, temporaryFolder } from '../support/shop.ts'
import { MANUAL, dueSeller, newPaidSeller, payoutsCommand } from './support.ts'

// `npm run payouts`, killed with -9 at each commit: just before it, and when it is done and the process has not heard of it. Then the
// operator repeats the command, as docs/payouts.md says.

const PAYER = { PAYOUT_FROM_NAME: 'Example GmbH', PAYOUT_FROM_IBAN: 'DE02120300000000202051' }
const shop = sharedShop({ env: { ...MANUAL.env, ...PAYER } })

/** How many payouts of a run there are in each state, in a file or not, and how many files. */
async function booksOf(runId: string) {
  const [row] = await query<Record<'approved' | 'inFile' | 'sent' | 'paid' | 'files' | 'entries', number>>(
    shop().db,
    sql`
      select count(*) filter (where state = 'approved')::int as approved, count(file_id)::int as "inFile",
        count(*) filter (where state = 'sent')::int as sent, count(*) filter (where state = 'paid')::int as paid,
        (select count(*)::int from payout_files where run_id = ${runId}) as files,
        (select count(*)::int from transfers where kind = 'payout' and cause in (select id from payouts where run_id = ${runId})) as entries
      from payouts where run_id = ${runId}`,
  )
  return row!
}
const runIds = async (): Promise<string[]> =>
  (await query<{ id: string }>(shop().db, sql`select id from payout_runs order by created_at`)).map(({ id }) => id)

test('kill -9 at any commit of propose, approve, export, mark and statement: repeated, each pays once and loses nothing', async (t) => {
  const [american, european] = [await dueSeller(shop()), await newPaidSeller(shop())]
  await european.sell(5000, 'EUR')
  await european.details('EUR')
  const proxy = await startDatabaseProxy(t, shop().databaseUrl)
  const killed = async (args: string[], { commit, isDone }: { commit: number; isDone: boolean }): Promise<void> => {
    const stopped = proxy.stopCommit(commit, isDone)
    const { child, ended } = payoutsCommand(shop(), args, { ...PAYER, DATABASE_URL: proxy.url })
    const end = await Promise.race([stopped, ended])
    assert(!end, `it has ended by itself: ${JSON.stringify(end)}`)
    child.kill('SIGKILL')
    assert.deepEqual(await ended, { status: null, out: '', err: '' }, 'it had said nothing')
    proxy.pass()
  }
  const repeated = (...args: string[]) => payoutsCommand(shop(), args, PAYER).ended
  const before = { commit: 1, isDone: false }
  const after = { commit: 1, isDone: true }

  await killed(['propose'], before)
  assert.deepEqual(await runIds(), [])
  await killed(['propose'], after)
  assert.equal((await repeated('propose')).status, 0)
  // two runs propose the same money
  const [first = '', second = '', ...more] = await runIds()
  assert(second && more.length === 0)

  const none = { approved: 0, inFile: 0, sent: 0, paid: 0, files: 0, entries: 0 }
  await killed(['approve', first], before)
  assert.deepEqual(await booksOf(first), none)
  assert.equal((await american.balance()).available, 1862)
  await killed(['approve', first], after)
  assert.deepEqual(await booksOf(first), { ...none, approved: 2, entries: 2 })
  const approvedBefore = await repeated('approve', first)
  assert.deepEqual([approvedBefore.status, approvedBefore.err], [0, ''])
  assert.match(approvedBefore.out, new RegExp(`^${first}  approved `))
  assert.equal((await repeated('approve', second)).status, 0)
  assert.deepEqual(await booksOf(second), none)

  const folder = await temporaryFolder(t)
  const files = () => fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name), 'utf8'))
  await killed(['export', first, folder], before)
  assert.deepEqual(await booksOf(first), { ...none, approved: 2, entries: 2 })
  await killed(['export', first, folder], after)
  // in a file, which the operator does not have yet
  assert.deepEqual(await booksOf(first), { ...none, approved: 2, entries: 2, inFile: 1, files: 1 })
  assert.deepEqual(files(), [])
  assert.equal((await repeated('mark', first, 'sent')).status, 1, 'a payout is in no file yet')
  await killed(['export', first, folder], { commit: 2, isDone: true })
  assert.equal(files().length, 1)
  assert.equal((await repeated('export', first, folder)).status, 0)
  const references = (await query<{ reference: string }>(shop().db, sql`select reference from payouts`)).map(({ reference }) => reference) // oxfmt-ignore
  const content = files().join('\n')
  assert.equal(files().length, 2)
  for (const reference of references) {
    const payments = content.match(new RegExp(`<EndToEndId>${reference}<|^"?${reference}\\b`, 'gm'))
    assert.equal(payments?.length, 1, 'each payout is there once')
  }

  const exported = { ...none, entries: 2, inFile: 2, files: 2 }
  await killed(['mark', first, 'sent'], before)
  assert.deepEqual(await booksOf(first), { ...exported, approved: 2 })
  await killed(['mark', first, 'sent'], after)
  assert.deepEqual(await booksOf(first), { ...exported, sent: 2 })
  assert.equal((await repeated('mark', first, 'sent')).out, '0 payouts are marked as sent.\n')

  const statement = path.join(folder, 'statement.csv')
  const payouts = await query<{ reference: string; amount: string; currency: string }>(
    shop().db,
    sql`select reference, (amount_minor / 100.0)::numeric(12, 2)::text as amount, currency from payouts`,
  )
  const lines = payouts.map(({ reference, amount, currency }) => `${reference},${amount},${currency},booked,2026-11-24`)
  fs.writeFileSync(statement, ['reference,amount,currency,status,bookedOn', ...lines, ''].join('\n'))
  await killed(['statement', statement], before)
  assert.deepEqual(await booksOf(first), { ...exported, sent: 2 })
  await killed(['statement', statement], after)
  assert.deepEqual(await booksOf(first), { ...exported, paid: 2 })
  const readBefore = await repeated('statement', statement)
  assert.deepEqual([readBefore.status, readBefore.err], [0, ''])
  assert.match(readBefore.out, /^This file was read before\./)

  assert.deepEqual(await shop().db.transaction().execute((tx) => trialBalance(tx)), []) // oxfmt-ignore
  assert.equal((await american.balance()).balance, 0)
  assert.equal((await european.balance('EUR')).balance, 0)
  const told = await query(shop().db, sql`
    select payout_id, what from untold_payouts union all select data->>'payoutId', data->>'what' from pgboss.job where name = 'payout_mail'`) // oxfmt-ignore
  assert.equal(told.length, 2, 'each seller hears once that the payout is on its way')
  const log = (await logOf(await operatorOf(shop()), first)).map(({ action }) => action).toReversed()
  const [proposed, approved, ...rest] = log
  assert.deepEqual([proposed, approved, rest.at(-1)], ['payout_run_proposed', 'payout_run_approved', 'payout_run_sent'])
  assert.deepEqual(new Set(rest.slice(0, -1)), new Set(['payout_file_exported']))
})
