import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { tellRun } from '../../src/operator/run-mails.ts'
import { periodOf, proposeOnSchedule } from '../../src/payouts/schedule.ts'
import { OPERATOR, operatorOf } from '../operator/support.ts'
import { query, times } from '../stand-ins/processor.ts'
import { atEnd } from '../support/ends.ts'
import { eventually, startTestShop } from '../support/shop.ts'
import { MANUAL, dueSeller, lineOf, newPaidSeller, runs } from './support.ts'

test('a week belongs to the year of its Thursday, and a month is one of UTC', () => {
  const weeks = [
    ['2026-11-23T00:00:00Z', '2026-W48'],
    ['2026-11-29T23:59:59Z', '2026-W48'],
    ['2026-11-30T00:00:00Z', '2026-W49'],
    ['2026-12-31T12:00:00Z', '2026-W53'],
    ['2027-01-03T12:00:00Z', '2026-W53'],
    ['2027-01-04T12:00:00Z', '2027-W01'],
    ['2024-12-30T12:00:00Z', '2025-W01'],
  ]
  for (const [at, week] of weeks) assert.equal(periodOf('weekly', new Date(at!)), week)
  assert.equal(periodOf('monthly', new Date('2026-11-30T23:59:59Z')), '2026-11')
})

test('a period gets one run, however many instances propose it, and none while nobody could be paid', async (t) => {
  const shop = await startTestShop(t, MANUAL)
  const database = { connectionString: shop.databaseUrl }
  const propose = (at: string) => proposeOnSchedule(database, shop.config.payouts, new Date(at))
  assert.equal(await propose('2026-11-23T04:37:00Z'), undefined)
  await (await newPaidSeller(shop)).sell(1900)
  // a seller without details is a line of a run, and no reason for one
  assert.equal(await propose('2026-11-24T04:37:00Z'), undefined)
  const seller = await dueSeller(shop)
  const made = (await times(5, () => propose('2026-11-25T04:37:00Z'))).filter((id) => id !== undefined)
  assert.equal(made.length, 1)
  assert.equal(await propose('2026-11-29T04:37:00Z'), undefined)
  const operator = await operatorOf(shop)
  const run = await runs(operator).get(made[0]!)
  assert.deepEqual([run.state, run.period, run.createdBy], ['proposed', '2026-W48', 'schedule'])
  assert.equal(lineOf(run, seller.sellerId).amount, 1862)
  assert.notEqual(await propose('2026-11-30T04:37:00Z'), undefined)
  const { matters } = (await operator.call('GET', '/api/operator/attention')).body
  assert.equal(matters.filter(({ what }: { what: string }) => what === 'payout_run').length, 2)
})

test('the operators get one mail about a run that waits, and at most one a day', async (t) => {
  const shop = await startTestShop(t, MANUAL)
  await dueSeller(shop)
  const database = { connectionString: shop.databaseUrl }
  const jobs = await startJobs(database, newLog('silent'))
  atEnd(t, () => jobs.stop())
  const tell = () => times(5, () => tellRun(shop.db, jobs, [OPERATOR]))
  const mails = async () => (await shop.mails(OPERATOR)).filter(({ subject }) => subject.includes('payout'))
  const enqueued = () => query(shop.db, sql`select 1 from pgboss.job where name = 'run_mail'`)
  await tell()
  assert.equal((await enqueued()).length, 0)
  await proposeOnSchedule(database, shop.config.payouts, new Date('2026-11-23T04:37:00Z'))
  await tell()
  const [mail] = await eventually(mails, (found) => found.length === 1)
  assert.match(mail!.subject, /^1 payout waits for your approval at /)
  assert.match(mail!.text, /\$18\.62\s+to 1 seller/)
  await proposeOnSchedule(database, shop.config.payouts, new Date('2026-11-30T04:37:00Z'))
  await tell()
  assert.equal((await enqueued()).length, 1, 'the day is not over')
  await sql`update operator_mails set sent_at = sent_at - interval '25 hours'`.execute(shop.db)
  await sql`update payout_runs set created_at = created_at - interval '1 hour'`.execute(shop.db)
  await tell()
  await eventually(mails, (found) => found.length === 2)
})
