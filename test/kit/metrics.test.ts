import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { TryLater } from '../../src/kit/jobs.ts'
import type { Sample } from '../../src/kit/measure.ts'
import { startMailServer } from '../stand-ins/mail-server.ts'
import { OPTIONS, add, newWorld, states } from '../support/jobs-world.ts'
import { type TestShop, eventually, startTestShop } from '../support/shop.ts'

/** The address of a mail server that is down: nothing listens at this port. */
const NOWHERE = 'smtp://127.0.0.1:1'

/** The values of /metrics, by name with labels. */
async function scraped(shop: TestShop): Promise<Map<string, number>> {
  const { body } = await shop.call<string>('GET', '/metrics')
  const lines = body.split('\n').filter((line) => line.startsWith('till_'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}
const until = (shop: TestShop, name: string, wanted: (value: number) => boolean) =>
  eventually(
    () => scraped(shop),
    (found) => wanted(found.get(name) ?? Number.NaN),
  )

test('with the mail server down, the metrics show how many mails wait, since when, and how often they failed', async (t) => {
  const shop = await startTestShop(t, { env: { SMTP_URL: NOWHERE } })
  const productId = await shop.product({ priceMinor: 0 })
  for (let n = 0; n < 3; n++) await shop.checkout({ productId, email: `bob${n}@example.com` })
  await until(shop, 'till_mails_total{kind="mail",outcome="failed"}', (count) => count >= 3)
  await eventually(
    () =>
      sql`update pgboss.job set created_on = now() - interval '1 hour' where name = 'mail' returning 1`.execute(
        shop.db,
      ),
    ({ rows }) => rows.length === 3,
  )
  const numbers = await until(shop, 'till_job_runs_total{queue="mail",outcome="failed"}', (count) => count >= 3)
  assert.equal(numbers.get('till_jobs_waiting{queue="mail"}')! + numbers.get('till_jobs_running{queue="mail"}')!, 3)
  assert(numbers.get('till_jobs_oldest_seconds{queue="mail"}')! >= 3600)
  assert.deepEqual([numbers.get('till_jobs_waiting{queue="refund"}'), numbers.get('till_jobs_oldest_seconds{queue="refund"}')], [0, 0]) // oxfmt-ignore
})

test('metrics count sent and refused mails, the lag of syncs, and free connections and disk space', async (t) => {
  const server = await startMailServer(t, {
    onRcptTo: ({ address }, _session, done) =>
      address === 'gone@example.com'
        ? done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }))
        : done(),
  })
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url } })
  for (const kind of ['mail', 'code'])
    assert.equal((await scraped(shop)).get(`till_mails_total{kind="${kind}",outcome="refused"}`), 0, kind)
  const productId = await shop.product({ priceMinor: 0 })
  for (const email of ['bob@example.com', 'gone@example.com']) await shop.checkout({ productId, email })
  await until(shop, 'till_mails_total{kind="mail",outcome="sent"}', (count) => count === 1)
  const numbers = await until(shop, 'till_mails_total{kind="mail",outcome="refused"}', (count) => count === 1)
  const pool = (state: string) => numbers.get(`till_database_connections{pool="main",state="${state}"}`)!
  assert(pool('used') + pool('idle') > 0)
  // the questions of a scrape itself do not count
  for (const name of ['main', 'reserved'])
    await until(shop, `till_database_connections{pool="${name}",state="waiting"}`, (waiting) => waiting === 0)
  for (const folder of ['data', 'files']) {
    const [free, size] = ['free', 'size'].map((what) => numbers.get(`till_disk_${what}_bytes{folder="${folder}"}`)!)
    assert(free! > 0 && size! >= free!, folder)
  }

  const { orderId } = await shop.checkout()
  assert.equal((await scraped(shop)).get('till_sync_lag_seconds'), 0)
  await sql`update orders set due_at = now() - interval '10 minutes' where id = ${orderId}`.execute(shop.db)
  assert((await scraped(shop)).get('till_sync_lag_seconds')! >= 600)
})

test('the lag of the backfill is that of the processors in the settings: no other list is read any more', async (t) => {
  const shop = await startTestShop(t, { env: { PROCESSORS: 'sandbox' } })
  await sql`
    insert into processor_cursors (processor, seen_until, due_at)
    select name, now() - interval '2 hours', now() + interval '1 hour' from unnest(array['sandbox', 'stripe']) name
    on conflict (processor) do update set seen_until = excluded.seen_until, due_at = excluded.due_at`.execute(shop.db)
  const lags = [...(await scraped(shop))].filter(([name]) => name.startsWith('till_backfill_lag_seconds'))
  assert.deepEqual(
    lags.map(([name]) => name),
    ['till_backfill_lag_seconds{processor="sandbox"}'],
  )
  assert(lags[0]![1] >= 7200)
})

test('each queue shows 0 jobs given up from its start, and a failed last try counts as one; a schedule has no last try', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  const runs = async (queue: string) => {
    const { read } = jobs.measures!.find(({ name }) => name === 'till_job_runs_total')!
    const samples = ((await read()) as Sample[]).filter(({ labels }) => labels['queue'] === queue)
    return Object.fromEntries(samples.map(({ labels, value }) => [labels['outcome'], value]))
  }
  const options = { ...OPTIONS, retries: 2, retryDelaySeconds: 0, retryDelayMaxSeconds: 1 }
  await jobs.on('failing', options, async () => {
    throw new Error('never')
  })
  await jobs.on('too_early', options, async () => {
    throw new TryLater('always')
  })
  await jobs.every('0 0 1 1 *', 'scheduled', async () => {
    throw new Error('this time')
  })
  const queues = ['failing', 'too_early', 'scheduled']
  for (const queue of queues) assert.deepEqual(await runs(queue), { dropped: 0 }, queue)
  for (const queue of queues) await add(world, jobs, queue)
  const ended = await eventually(
    async () => Promise.all(queues.map((queue) => states(world, queue))),
    (all) => all.flat().every((state) => state === 'failed'),
  )
  assert.deepEqual(ended, [['failed'], ['failed'], ['failed']])
  const counted = [
    { failed: 2, dropped: 1 },
    { failed: 2, dropped: 1 },
    { failed: 1, dropped: 0 },
  ]
  await eventually(
    () => Promise.all(queues.map(runs)),
    (found) => isDeepStrictEqual(found, counted),
  )
})
