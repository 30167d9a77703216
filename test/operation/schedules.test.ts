import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { runOn } from '../support/databases.ts'
import { newDatabase, startTestShop } from '../support/shop.ts'
import { query } from '../stand-ins/processor.ts'

const [MINUTE, TEN_MINUTES] = ['* * * * *', '*/10 * * * *']

/** Every job that runs by the clock, as docs/operation.md tells it, and its cron in UTC. Backups and VIES, if set, have more. */
const SCHEDULES = {
  all_site_hosts: '17 3 * * *',
  backfill: MINUTE,
  fill_in: '7 3 * * *',
  find_forgotten_withdrawals: TEN_MINUTES,
  finish_order_moves: TEN_MINUTES,
  forget_keys: TEN_MINUTES,
  look_at_passes: MINUTE,
  payout_mails_due: MINUTE,
  payout_schedule: '37 4 * * *',
  read_accounts: MINUTE,
  read_settlements: TEN_MINUTES,
  reconciliation_nightly: '17 3 * * *',
  repair_parts: TEN_MINUTES,
  resume_fee_returns: '49 3 * * *',
  resume_refunds: '47 3 * * *',
  sweep_confirmations: TEN_MINUTES,
  sweep_email_changes: TEN_MINUTES,
  sweep_events: TEN_MINUTES,
  sweep_evidence: '41 4 * * *',
  sweep_images: '23 4 * * *',
  sweep_keys: TEN_MINUTES,
  sweep_limits: TEN_MINUTES,
  sweep_mailbox_codes: TEN_MINUTES,
  sweep_outbox: TEN_MINUTES,
  sweep_sessions: TEN_MINUTES,
  sweep_uploads: TEN_MINUTES,
  sweep_webhooks: TEN_MINUTES,
  sync_due: MINUTE,
  tell_off_sale: MINUTE,
  tell_recalled: MINUTE,
  tell_run: TEN_MINUTES,
  tell_sales: MINUTE,
  tell_waiting: TEN_MINUTES,
  watch_endpoints: TEN_MINUTES,
}

test('a start schedules every job that runs by the clock', async (t) => {
  const databaseUrl = await newDatabase(t)
  await runOn(databaseUrl, 'delete from pgboss.schedule')
  const shop = await startTestShop(t, { databaseUrl })
  const rows = await query<{ name: string; cron: string }>(shop.db, sql`select name, cron from pgboss.schedule`)
  assert.deepEqual(Object.fromEntries(rows.map(({ name, cron }) => [name, cron])), SCHEDULES)
})
