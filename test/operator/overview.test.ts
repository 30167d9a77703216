import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { lastBackup } from '../../src/operator/backup.ts'
import { type Check, checkMachine } from '../../src/operator/machine.ts'
import { mattersOf } from '../../src/operator/matters.ts'
import { sellsOnTrial } from '../../src/processors/settings.ts'
import type { Browser } from '../support/seller.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'
import { assertProblem, eventually, sharedShop, startTestShop, temporaryFolder } from '../support/shop.ts'
import { OPERATOR, operatorOf, reviewedOrder, sellerOf } from './support.ts'

const shop = sharedShop({ env: { OPERATORS: OPERATOR } })
let ann: Browser
before(async () => {
  ann = await operatorOf(shop())
})

const matters = async (browser = ann) => (await browser.call('GET', '/api/operator/attention')).body.matters
const of = async (what: string) => (await matters()).filter((one: { what: string }) => one.what === what)

test('volume, fees and conversion are summed by currency and by day, over all sellers', async (t) => {
  const own = await startTestShop(t, { env: { OPERATORS: OPERATOR } })
  const operator = await operatorOf(own)
  const read = async (days: string) => (await operator.call('GET', `/api/operator/statistics?days=${days}`)).body
  assert.deepEqual((await read('30')).items, [])
  const [one, other] = [await sellerOf(own, 1900), await sellerOf(own, 5050)]
  const first = await own.paid({ productId: one.productId })
  await own.paid({ productId: other.productId })
  await own.checkout({ productId: one.productId })
  await own.paid({ productId: await own.product({ currency: 'JPY', priceMinor: 500 }) })
  // free orders are no sales
  await own.checkout({ productId: await own.product({ priceMinor: 0 }) })
  const refund = await operator.call('POST', `/api/operator/orders/${first.orderId}/refunds`, {})
  assert.equal(refund.status, 201)
  await own.until(first.orderId, ({ status }) => status === 'refunded')
  await sql`update orders set created_at = created_at - interval '40 days', paid_at = paid_at - interval '40 days' where currency = 'JPY'`.execute(own.db) // oxfmt-ignore

  const { items, from, to, ...month } = await read('30')
  assert.deepEqual(month, { days: 30, interval: 'day' })
  const [dollars, yen] = items
  const { buckets, ...sums } = dollars
  // the fee of 101 stays, and that of 38 went back
  assert.deepEqual(sums, { currency: 'USD', created: 3, converted: 2, paid: 2, volume: 6950, fees: 101 })
  assert.equal(buckets.length, 30)
  assert.equal(buckets[0].at, from)
  assert(buckets.at(-1).at <= to)
  const total = (name: string) =>
    buckets.reduce((sum: number, bucket: Record<string, number>) => sum + bucket[name]!, 0)
  assert.deepEqual(['created', 'converted', 'paid', 'volume', 'fees'].map(total), [3, 2, 2, 6950, 101])
  // the ledger booked the fee today
  assert.deepEqual([yen.currency, yen.paid, yen.volume, yen.fees], ['JPY', 0, 0, 10])

  const year = await read('365')
  assert.deepEqual([year.interval, year.items.map(({ currency, volume }: any) => [currency, volume])], ['week', [['USD', 6950], ['JPY', 500]]]) // oxfmt-ignore
  assert([53, 54].includes(year.items[0].buckets.length), String(year.items[0].buckets.length))
  assert.equal((await read('7')).items[0].buckets.length, 7)
  for (const days of ['0', '8', 'all'])
    assertProblem(await operator.call('GET', `/api/operator/statistics?days=${days}`), 400, 'validation_failed')
})

test('an order that waits for a decision, a dispute and a failed refund each lead to the order', async () => {
  const { productId } = await sellerOf(shop())
  const reviewed = await reviewedOrder(shop(), productId)
  const disputed = await shop().paid({ productId })
  const refunded = await shop().paid({ productId })
  const { rows } = await sql<{ id: string }>`
    select processor_capture_id as id from captures where order_id = ${disputed.orderId}`.execute(shop().db)
  await sql`
    insert into disputes (processor, processor_dispute_id, processor_capture_id, order_id, amount_minor, state, respond_by)
    values ('sandbox', 'dp_1', ${rows[0]!.id}, ${disputed.orderId}, 1900, 'open', '2031-05-06T07:00:00Z')`.execute(
    shop().db,
  )
  await ann.call('POST', `/api/operator/orders/${refunded.orderId}/refunds`, {})
  await eventually(
    async () => (await sql<{ state: string }>`select state from refunds where order_id = ${refunded.orderId}`.execute(shop().db)).rows, // oxfmt-ignore
    ([row]) => row?.state === 'succeeded',
  )
  await sql`update refunds set state = 'failed' where order_id = ${refunded.orderId}`.execute(shop().db)

  const review = (await of('needs_review')).find(({ view }: any) => view === `/orders/${reviewed}`)
  assert.match(review.says, /\$18\.99.*\$19\.00/)
  assert.match(review.advice, /Accept.*send it back/)
  // the bank has taken that money meanwhile, so there is nothing to decide any more
  await sql`
    insert into disputes (processor, processor_dispute_id, processor_capture_id, order_id, amount_minor, state)
    select processor, 'dp_2', processor_capture_id, order_id, amount_minor, 'lost' from captures where order_id = ${reviewed}`.execute(
    shop().db,
  )
  assert(!(await of('needs_review')).some(({ view }: any) => view === `/orders/${reviewed}`))
  // it went back in the dashboard as well, and a second payment of the order waits
  await sql`
    insert into disputes (processor, processor_dispute_id, processor_capture_id, order_id, amount_minor, state)
    select processor, 'dp_3', processor_capture_id, order_id, amount_minor, 'lost' from captures where order_id = ${reviewed}`.execute(
    shop().db,
  )
  await sql`
    insert into captures (processor, processor_capture_id, payment_id, order_id, purpose, amount_minor, currency, rail, captured_at)
    select processor, 'second_of_two', payment_id, order_id, purpose, 900, currency, rail, captured_at from captures
    where order_id = ${reviewed}`.execute(shop().db)
  const second = (await of('needs_review')).find(({ view }: any) => view === `/orders/${reviewed}`)
  assert.match(second.says, /\$9\.00/)
  const [dispute] = await of('disputed')
  assert.deepEqual([dispute.view, dispute.at], [`/orders/${disputed.orderId}`, '2031-05-06T07:00:00.000Z'])
  assert.match(dispute.says, /\$19\.00.*2031-05-06/)
  const [refund] = await of('refund_failed')
  assert.equal(refund.view, `/orders/${refunded.orderId}`)
  const order = (await ann.call('GET', `/api/operator/orders/${disputed.orderId}`)).body
  assert.equal(order.payments[0].disputes[0].respondBy, '2031-05-06T07:00:00.000Z')
})

test('silence of a processor, differences of the books, given-up mails and waiting sellers are named', async (t) => {
  const own = await startTestShop(t, { env: { OPERATORS: OPERATOR, SIGNUP: 'approval' } })
  const operator = await operatorOf(own)
  const named = async () => (await matters(operator)).map(({ what }: { what: string }) => what)
  assert.deepEqual(await named(), [])
  await own.paid()
  assert.deepEqual(await named(), [])
  await sql`update processor_events set received_at = now() - interval '25 hours'`.execute(own.db)
  assert.deepEqual(await named(), ['webhook_silence'])
  await sql`insert into proofs (differences, not_asked) values (2, 0)`.execute(own.db)
  await sellerOf(own)
  await sql`
    insert into pgboss.job (name, data, state, completed_on) values ('mail', '{}', 'failed', now())`.execute(own.db)
  assert.deepEqual(await named(), ['reconciliation', 'webhook_silence', 'mail_failed', 'sellers_waiting'])
  const { rows: queues } = await sql<{ name: string }>`
    insert into pgboss.job (name, data, state, completed_on)
    select name, '{}', 'failed', now() from pgboss.queue
    where name ~ 'mail|notice|code' and name !~ '^mail$|^sweep_|_due$' returning name`.execute(own.db)
  assert(queues.length > 12)
  const mails = (await matters(operator)).find(({ what }: { what: string }) => what === 'mail_failed')
  assert.match(mails.says, new RegExp(`^${queues.length + 1} mails were given up`))
  for (const { says, advice } of await matters(operator)) assert(says.length > 10 && advice.length > 10)
  await sql`update proofs set differences = 0, at = now() - interval '3 days'`.execute(own.db)
  assert((await named()).includes('reconciliation'), 'the books were not reconciled for days')
  await sql`insert into proofs (differences, not_asked) values (0, 0)`.execute(own.db)
  assert(!(await named()).includes('reconciliation'))
})

test('a public service whose payments are tests says so, and a private one does not', async (t) => {
  const { shop: own } = await startStripeShop(t, { env: { OPERATORS: OPERATOR } })
  const settings = { processors: ['stripe'], stripe: { secretKey: 'sk_test_1' }, razorpay: undefined }
  const named = async (of: Parameters<typeof sellsOnTrial>[0]) =>
    (await mattersOf(own.db, { isOnTrial: sellsOnTrial(of) })).map(({ what }) => what)
  assert.deepEqual(await named({ ...settings, isPublic: true }), ['test_payments'])
  assert.deepEqual(await named({ ...settings, isPublic: false }), [])
  assert.deepEqual(await named({ ...settings, isPublic: true, stripe: { secretKey: 'sk_live_1' } }), [])
  assert.deepEqual(await named({ ...settings, isPublic: true, processors: [] }), [])
})

test('a processor whose events only the backfill has found is silent until a notification comes', async (t) => {
  const { shop: own, server, bank } = await startStripeShop(t, { env: { OPERATORS: OPERATOR } })
  const operator = await operatorOf(own)
  const silent = async () => (await matters(operator)).filter(({ what }: any) => what === 'webhook_silence')
  server.knobs.notify = 'held'
  const order = await own.checkout()
  bank.confirm(intentOf(order))
  await sql`
    insert into processor_cursors values ('stripe', now() - interval '1 hour', now())
    on conflict (processor) do update set seen_until = excluded.seen_until, due_at = now()`.execute(own.db)
  await own.backfill()
  // the service's own clock may have begun the backfill
  const found = await eventually(
    async () => (await sql<{ backfilled: boolean }>`select backfilled from processor_events`.execute(own.db)).rows,
    (rows) => rows.length > 0,
  )
  assert(found.every(({ backfilled }) => backfilled))
  await own.until(order.orderId, ({ status }) => status === 'paid')
  const [matter] = await silent()
  assert.match(matter.says, /^stripe takes money and has sent no notification about a payment: /)
  assert.equal(matter.at, null)
  // the webhook works again, and brings what the backfill has found
  await server.release()
  assert.deepEqual(await silent(), [])
})

test('a processor is silent while its notifications name no payment, and not while a job reads their payments', async (t) => {
  const { shop: own, server, bank } = await startStripeShop(t, { env: { OPERATORS: OPERATOR } })
  const operator = await operatorOf(own)
  const silent = async () => (await matters(operator)).filter(({ what }: any) => what === 'webhook_silence')
  server.knobs.notify = 'never'
  const order = await own.checkout()
  bank.confirm(intentOf(order))
  assert.equal((await own.status(order.orderId, 'bob@example.com', true)).status, 'paid')
  // what a destination of Stripe with thin payloads sends
  const object = { object: 'v2.core.event', related_object: { id: intentOf(order), type: 'payment_intent' } }
  await server.send({ id: 'evt_test_thin', type: 'v1.payment_intent.succeeded', ...object })
  const { rows: thin } = await sql`select outcome from processor_events`.execute(own.db)
  assert.deepEqual(thin, [{ outcome: 'ignored' }])
  const [matter] = await silent()
  assert.match(matter.says, /^stripe takes money and has sent no notification about a payment: /)
  // the processor is too busy to be asked about the payment
  server.fail('429', { match: ({ method }) => method === 'GET' })
  await server.send(bank.events.find(({ type }) => type === 'payment_intent.succeeded')!)
  assert.deepEqual(
    server.deliveries.map(({ status }) => status),
    [200, 200],
  )
  assert.deepEqual(await silent(), [])
})

test('the machine’s checks name the disk and the clock; of an own server’s backups only the last drill is known', async () => {
  const read = async () => (await ann.call('GET', '/api/operator/attention')).body.checks as Check[]
  const checks = await read()
  const marks = checks.map(({ about, mark }) => [about, mark])
  assert.deepEqual(
    checks.filter(({ about }) => about === 'backup'),
    [],
    'BACKUP_URL is refused with DATABASE_URL',
  )
  const noted = (problem: string | null) =>
    sql`insert into backup_runs (kind, started_at, problem) values ('drill', now(), ${problem})`.execute(shop().db)
  await noted('the books differ in 2 places')
  const [failed] = await read()
  assert.deepEqual([failed!.about, failed!.mark], ['backup', 'failure'])
  assert.match(failed!.says, /^The restore drill of \S+ failed: the books differ in 2 places$/)
  await noted(null)
  assert.equal((await read())[0]!.mark, 'fine')
  assert(marks.some(([about]) => about === 'disk'))
  assert.deepEqual(marks.at(-1), ['clock', 'fine'])
})

test('a check that hangs or fails becomes a warning, and hides no other', async (t) => {
  const { db } = shop()
  const folder = await temporaryFolder(t)
  const base = { db, folders: [folder], addresses: [], backup: async () => undefined, checkMs: 10_000 }
  const marks = async (machine: Parameters<typeof checkMachine>[0]) =>
    (await checkMachine(machine)).map(({ about, mark }) => `${about} ${mark}`)
  assert.deepEqual((await checkMachine(base))[0], { about: 'backup', mark: 'warning', says: 'No backup is set up.', advice: 'Set BACKUP_URL: see docs/backup.md.' }) // oxfmt-ignore
  const disk = (await marks(base))[1]!
  assert.deepEqual(await marks({ ...base, backup: async () => null }), [disk, 'clock fine'])
  assert.match(disk, /^disk /)
  assert.deepEqual(await marks({ ...base, backup: () => new Promise(() => {}) }), ['backup warning', disk, 'clock fine']) // oxfmt-ignore
  assert.deepEqual(await marks({ ...base, backup: async () => ({ mark: 'fine', says: 'An hour old.' }) }), ['backup fine', disk, 'clock fine']) // oxfmt-ignore
  assert.deepEqual(await marks({ ...base, folders: [`${folder}/none`] }), ['backup warning', 'disk warning', 'clock fine']) // oxfmt-ignore
  assert.deepEqual(await marks({ ...base, backup: () => Promise.reject(new Error('away')) }), ['backup warning', disk, 'clock fine']) // oxfmt-ignore
  // nobody listens on this port
  assert.deepEqual(await marks({ ...base, addresses: ['https://127.0.0.1:1'] }), ['backup warning', disk, 'certificate warning', 'clock fine']) // oxfmt-ignore
})

test('a disk that does not answer becomes a warning', async (t) => {
  t.mock.method(fs, 'stat', () => new Promise(() => {}))
  t.mock.method(fs, 'statfs', () => new Promise(() => {}))
  const { db } = shop()
  const backup = async () => ({ mark: 'fine', says: 'An hour old.' }) as const
  const checks = await checkMachine({ db, folders: ['/srv/a'], addresses: [], backup, checkMs: 300 })
  const disk = checks.filter(({ about }) => about === 'disk')
  assert.deepEqual(disk.map(({ mark, says }) => [mark, says]), [['warning', 'This could not be checked: no answer in 0.3 s']]) // oxfmt-ignore
})

test('the age of the last backup counts, and what failed since', async (t) => {
  const { db } = await startTestShop(t)
  const add = (kind: string, hoursAgo: number, problem: string | null) =>
    sql`insert into backup_runs (kind, started_at, finished_at, problem) values (${kind}, now(), now() - make_interval(hours => ${hoursAgo}), ${problem})`.execute(db) // oxfmt-ignore
  const mark = async () => (await lastBackup(db)).mark
  assert.equal(await mark(), 'warning')
  // while the clock was ahead
  await add('base', -100, null)
  await add('base', 40, null)
  assert.equal(await mark(), 'failure', 'a night went by without one')
  await add('base', 2, null)
  assert.deepEqual(await lastBackup(db), { mark: 'fine', says: 'The last backup is 2 hours old.' })
  await add('drill', 1, 'the key is another one')
  assert.match((await lastBackup(db)).says, /restore was tried and failed: the key is another one/)
  await add('base', 0, 'the bucket is away')
  assert.match((await lastBackup(db)).says, /2 hours old\. A problem since then: the bucket is away/)
})
