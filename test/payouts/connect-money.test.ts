import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { CompiledQuery, sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { newId } from '../../src/kit/ids.ts'
import { resumeFeeReturns } from '../../src/payments/refunds/return-fee.ts'
import { type ConnectShop, sharedConnectShop } from '../support/connect-shop.ts'
import { eventually } from '../support/shop.ts'
import { intentOf } from '../support/stripe-shop.ts'

// Money that goes back from a seller's own account, and the notifications about it.

const all = sharedConnectShop()
beforeEach(() => all().server.works())

type Seller = Awaited<ReturnType<ConnectShop['selling']>>

const refund = async (seller: Seller, order: Created, amount: number) => {
  const { status, body } = await seller.browser.call('POST', `/api/orders/${order.orderId}/refunds`, { amount })
  assert.equal(status, 201, JSON.stringify(body))
}

/** The jobs that return parts of an order's fee and have not ended. */
const feeJobs = async ({ orderId }: Created): Promise<{ state: string }[]> =>
  (
    await sql<{ state: string }>`
      select state from pgboss.job where name = 'return_fee' and data->>'orderId' = ${orderId} and state <> 'completed'`.execute(
      all().shop.db,
    )
  ).rows

/** Runs the job of each night. */
async function tonight(): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    insert into pgboss.job (name, data) values ('resume_fee_returns', '{}') returning id`.execute(all().shop.db)
  await sql`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'resume_fee_returns')`.execute(all().shop.db) // oxfmt-ignore
  await eventually(
    async () => (await sql<{ state: string }>`select state from pgboss.job where id = ${rows[0]!.id}`.execute(all().shop.db)).rows, // oxfmt-ignore
    ([job]) => job?.state === 'completed',
  )
}

test('refunds in parts return exactly the fee that the books return, however Stripe would round', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  // of 38: 12.66 is 13, then 25.34 is 25, then all
  for (const [amount, gone, fee] of [
    [633, 633, 13],
    [634, 1267, 25],
    [633, 1900, 38],
  ] as const) {
    await refund(seller, order, amount)
    await all().refundedMinor(order.orderId, gone)
    await all().feeBack(order, fee)
  }
  assert.equal(await all().balanceOf(`direct:${seller.id}`), 0)
  assert.deepEqual(await all().differences(), [])
})

test('a price in dinars is sold with a fee to the third decimal, and refunds in parts return it', async () => {
  const seller = await all().selling()
  const productId = await all().shop.product({ sellerId: seller.id, currency: 'KWD', priceMinor: 1230 })
  const order = await all().paid({ ...seller, productId })
  const fee = all().connect.fees.at(-1)!
  assert.deepEqual([fee['charge'], fee['amount'], fee['currency']], [all().chargeOf(order), 25, 'kwd'])
  await refund(seller, order, 610)
  await all().feeBack(order, 12)
  await refund(seller, order, 620)
  await all().feeBack(order, 25)
  assert.equal(await all().balanceOf(`direct:${seller.id}`), 0)
  assert.deepEqual(await all().differences(), [])
})

test('a price in ariary, of which Stripe has no hundredths, returns whole ones of the fee, and all of it in the end', async () => {
  const seller = await all().selling()
  const productId = await all().shop.product({ sellerId: seller.id, currency: 'MGA', priceMinor: 500_000 })
  const order = await all().paid({ ...seller, productId })
  // 2 % of 1,333 ariary is 26.66, and then 53.32
  for (const [amount, gone, fee] of [
    [133_300, 133_300, 26],
    [133_300, 266_600, 53],
    [233_400, 500_000, 100],
  ] as const) {
    await refund(seller, order, amount)
    await all().refundedMinor(order.orderId, gone)
    await all().feeBack(order, fee)
  }
  await eventually(() => feeJobs(order), (left) => left.length === 0) // oxfmt-ignore
})

test('a price in ariary whose fee is whole can also be paid with a code', async () => {
  const seller = await all().selling()
  const productId = await all().shop.product({ sellerId: seller.id, currency: 'MGA', priceMinor: 195_000 })
  // 33 % are 643.50 ariary: 2 % of the rest must be whole too
  for (const [off, amount, fee] of [
    [{ percentOff: 33 }, 1350, 27],
    [{ amountOff: 12_300, currency: 'MGA' }, 1850, 37],
  ] as const) {
    const code = `SUMMER-${amount}`
    assert.equal((await seller.browser.call('POST', '/api/discounts', { code, ...off })).status, 201)
    const email = 'bob@example.com'
    const { body, status } = await all().shop.call('POST', '/api/checkout', { productId, email, discountCode: code })
    assert.equal(status, 201, JSON.stringify(body))
    const intent = seller.bank.find(seller.bank.paymentIntents, 'payment_intent', intentOf(body))
    assert.deepEqual([intent['amount'], intent['application_fee_amount']], [amount, fee])
  }
})

test('a refund in the seller’s dashboard returns its part of the fee too', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  seller.bank.refundInDashboard(intentOf(order), 950)
  await all().refundedMinor(order.orderId, 950)
  await all().feeBack(order, 19)
  assert.equal(await all().balanceOf(`direct:${seller.id}`), 931)
  assert.deepEqual(await all().differences(), [])
})

test('the part of a fee goes back once, when its answer is lost and its key is forgotten', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  all().server.fail('done then 500', { match: ({ path, method }) => method === 'POST' && path.endsWith('/refunds') && path.startsWith('/v1/application_fees') }) // oxfmt-ignore
  await refund(seller, order, 950)
  await all().feeBack(order, 19)
  all().server.forgetKeys()
  await eventually(async () => feeJobs(order), (left) => left.length === 0) // oxfmt-ignore
  await all().feeBack(order, 19)
})

test('a part of a fee goes back once, when another job returns it after this one has read the list', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  const stripe = (await all().openAll()).get(seller.name)!
  const part = { key: `part-of-${order.orderId}`, captureId: all().chargeOf(order), amountMinor: 19, totalMinor: 30, currency: 'USD' } // oxfmt-ignore
  await stripe.returnFee!(part)
  const isList = ({ path, method }: { path: string; method: string }) =>
    method === 'GET' && /^\/v1\/application_fees\/\w+\/refunds$/.test(path)
  all().server.fail({ answer: (list) => ({ ...list, data: [] }) }, { match: isList })
  await stripe.returnFee!(part)
  await all().feeBack(order, 19)
  // a key whose first request was refused, and made nothing, is followed by another one
  const next = { ...part, key: `next-of-${order.orderId}` }
  all().server.fail('500', { match: ({ path, method }) => method === 'POST' && path.endsWith('/refunds') })
  await assert.rejects(stripe.returnFee!({ ...next, totalMinor: 25 }))
  await stripe.returnFee!(next)
  await all().feeBack(order, 30)
})

test('a part of a fee that Stripe has not taken yet goes back once Stripe has taken it', async () => {
  const seller = await all().selling()
  seller.bank.takesFeesLater = true
  const order = await all().paid(seller)
  await refund(seller, order, 950)
  await all().refundedMinor(order.orderId, 950)
  const looks = () => all().server.calls.filter(({ path }) => path === `/v1/charges/${all().chargeOf(order)}`).length
  await eventually(async () => (await all().hurry('return_fee', order.orderId), looks()), (count) => count > 1) // oxfmt-ignore
  seller.bank.takeFee(seller.bank.charges.find(({ id }) => id === all().chargeOf(order))!)
  await eventually(async () => (await all().hurry('return_fee', order.orderId), feeJobs(order)), (left) => left.length === 0) // oxfmt-ignore
  await all().feeBack(order, 19)
})

test('a part of a fee whose account gives no access for a while goes back when it does again', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  const isFee = ({ path }: { path: string }) => path.startsWith('/v1/application_fees')
  all().server.fail('503 html', { times: 99, match: isFee })
  seller.bank.refundInDashboard(intentOf(order), 950)
  const asked = (status: number, match: (call: { path: string }) => boolean) =>
    eventually(
      async () => (
        await all().hurry('return_fee', order.orderId),
        all().server.calls.filter((call) => match(call) && call.status === status).length
      ),
      (many) => many > 0,
    )
  const before = all().server.calls.length
  await asked(503, isFee)
  all().connect.revoke(seller.account)
  // a try that has read the charge already still fails, so the job cannot end before an answer without access
  await asked(
    403,
    (call) => all().server.calls.indexOf(call as never) >= before && call.path.startsWith('/v1/charges/'),
  )
  all().server.works()
  const [job] = await eventually(() => feeJobs(order), ([one]) => one?.state !== 'active') // oxfmt-ignore
  assert.equal(job?.state, 'retry')
  all().connect.restore(seller.account)
  await eventually(async () => (await all().hurry('return_fee', order.orderId), feeJobs(order)), (left) => left.length === 0) // oxfmt-ignore
  await all().feeBack(order, 19)
})

test('an account that is back gets the parts of fees whose jobs ended meanwhile, and each once', async () => {
  const seller = await all().selling()
  const [order, other] = [await all().paid(seller), await all().paid(seller)]
  await refund(seller, other, 950)
  await all().feeBack(other, 19)
  all().server.fail('503 html', { times: 99, match: ({ path }) => path.startsWith('/v1/application_fees') })
  seller.bank.refundInDashboard(intentOf(order), 950)
  await all().refundedMinor(order.orderId, 950)
  all().connect.revoke(seller.account)
  await all().awaits(seller.id, true)
  await eventually(
    () => feeJobs(order),
    ([job]) => job?.state === 'retry',
  )
  // two weeks of tries are over
  await sql`delete from pgboss.job where name = 'return_fee' and data->>'orderId' = ${order.orderId}`.execute(
    all().shop.db,
  )
  all().server.works()
  all().connect.restore(seller.account)
  await Promise.all([all().readDue(), all().readDue()])
  await all().feeBack(order, 19)
  await eventually(
    async () => [...(await feeJobs(order)), ...(await feeJobs(other))],
    (left) => left.length === 0,
  )
  const fees = new Set([order, other].map((one) => all().chargeOf(one)))
  const ids = new Set(
    all()
      .connect.fees.filter((fee) => fees.has(fee['charge']))
      .map((fee) => fee['id']),
  )
  assert.equal(all().connect.feeRefunds.filter(({ fee }) => ids.has(fee)).length, 2)

  // an account that was there all the time gets none
  const jobs = async () => (await sql`select from pgboss.job where name = 'return_fee'`.execute(all().shop.db)).rows.length // oxfmt-ignore
  const before = await jobs()
  await all().readDue()
  assert.equal(await jobs(), before)
})

test('a part of a fee whose tries have ended is tried again each night, and one that is back is asked about no more', async () => {
  const seller = await all().selling()
  const [order, other] = [await all().paid(seller), await all().paid(seller)]
  await refund(seller, other, 950)
  await all().feeBack(other, 19)
  await eventually(() => feeJobs(other), (left) => left.length === 0) // oxfmt-ignore
  const isFee = ({ path }: { path: string }) => path.startsWith('/v1/application_fees')
  all().server.fail('503 html', { times: 999, match: isFee })
  await refund(seller, order, 950)
  await all().refundedMinor(order.orderId, 950)
  await eventually(() => feeJobs(order), ([job]) => job?.state === 'retry') // oxfmt-ignore

  // it does not get a second job beside one that still tries
  await tonight()
  assert.equal((await feeJobs(order)).length, 1)
  await sql`update pgboss.job set state = 'failed' where name = 'return_fee' and data->>'orderId' = ${order.orderId}`.execute(all().shop.db) // oxfmt-ignore
  const before = all().server.calls.length
  await tonight()
  await eventually(() => feeJobs(order), (found) => found.some(({ state }) => state === 'retry')) // oxfmt-ignore
  all().server.works()
  await eventually(async () => (await all().hurry('return_fee', order.orderId), feeJobs(order)), (left) => left.every(({ state }) => state === 'failed')) // oxfmt-ignore
  await all().feeBack(order, 19)
  const charges = () => all().server.calls.slice(before).map(({ path }) => path.match(/^\/v1\/charges\/(\w+)/)?.[1]) // oxfmt-ignore
  assert(charges().includes(all().chargeOf(order)))
  assert(!charges().includes(all().chargeOf(other)))
  const asked = charges().length
  await tonight()
  assert.equal((await feeJobs(order)).length, 1)
  assert.equal(charges().length, asked)
})

test('what is owed is read for each order by an index, and not all that is owed at all', async () => {
  const asked: { sql: string; parameters: readonly unknown[] }[] = []
  const { db } = all().shop
  const spy = db.withPlugin({
    transformQuery({ node, queryId }) {
      asked.push(db.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await spy.transaction().execute((tx) => resumeFeeReturns(tx, all().shop.jobs))
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>(
    CompiledQuery.raw(`explain ${asked[0]!.sql}`, [...asked[0]!.parameters]),
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.match(plan, /Index Cond: \(order_id = t\.order_id\)/)
  assert.doesNotMatch(plan, /Seq Scan/)
})

test('a part of a fee that Stripe does not take stops no other part', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  all().server.fail('503 html', { times: 99, match: ({ path }) => path.startsWith('/v1/application_fees') })
  await refund(seller, order, 500)
  await refund(seller, order, 300)
  await all().refundedMinor(order.orderId, 800)
  const { rows } = await sql<{ cause: string; amountMinor: number }>`
    select cause, amount_minor as "amountMinor" from transfers where order_id = ${order.orderId} and kind = 'fee_refund' order by 1`.execute(all().shop.db) // oxfmt-ignore
  const [first, second] = rows
  all().server.works()
  const key = createHash('sha256').update(first!.cause).digest('hex').slice(0, 40)
  all().server.fail('503 html', { times: 99, match: (call) => call.idempotencyKey === key })
  await all().hurry('return_fee', order.orderId)
  await all().feeBack(order, second!.amountMinor)
  all().server.works()
  await eventually(async () => (await all().hurry('return_fee', order.orderId), feeJobs(order)), (left) => left.length === 0) // oxfmt-ignore
  await all().feeBack(order, 16)
})

test('a refund that fails before its part of the fee is back returns none', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  all().server.fail('503 html', { times: 99, match: ({ path }) => path.startsWith('/v1/application_fees') })
  const { id } = seller.bank.refundInDashboard(intentOf(order))
  await all().refundedMinor(order.orderId, 1900)
  seller.bank.failRefund(id)
  await all().refundedMinor(order.orderId, 0)
  all().server.works()
  await eventually(async () => (await all().hurry('return_fee', order.orderId), feeJobs(order)), (left) => left.length === 0) // oxfmt-ignore
  await all().feeBack(order, 0)
})

test('a refund that fails after its part of the fee is back leaves that part for the next refund', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  const { id } = seller.bank.refundInDashboard(intentOf(order))
  await all().feeBack(order, 38)
  seller.bank.failRefund(id)
  await all().refundedMinor(order.orderId, 0)
  await refund(seller, order, 1900)
  await all().refundedMinor(order.orderId, 1900)
  await all().feeBack(order, 38)
  assert.equal(await all().balanceOf(`direct:${seller.id}`), 0)
})

test('a lost dispute takes the money from the seller’s account and returns the fee; nothing is owed', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  const dispute = seller.bank.openDispute(intentOf(order))
  await all().shop.until(order.orderId, ({ status }) => status === 'disputed')
  seller.bank.closeDispute(dispute['id'], 'lost')
  await all().shop.until(order.orderId, ({ status }) => status === 'charged_back')
  await all().feeBack(order, 38)
  assert.equal(await all().balanceOf(`direct:${seller.id}`), 0)
  assert.equal(await all().balanceOf(`seller:${seller.id}`), 0)
  assert.deepEqual(await all().differences(), [])
})

/** An attempt that ended was paid all the same. */
async function paidAgain(seller: Seller, order: Created) {
  const again = seller.bank.createIntent({
    amount: '1900',
    application_fee_amount: '38',
    currency: 'usd',
    automatic_payment_methods: { enabled: 'true' },
    metadata: { order_id: order.orderId },
  })
  await sql`
    insert into payments (id, order_id, processor, processor_payment_id, state)
    values (${newId('pay')}, ${order.orderId}, ${seller.name}, ${again['id']}, 'canceled')`.execute(all().shop.db)
  seller.bank.confirm(again['id'])
  return { id: String(again['id']), clientSecret: String(again['client_secret']) }
}

test('a second capture goes back with all of its fee', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  const second = await paidAgain(seller, order)
  await eventually(
    async () => seller.bank.refunds.length,
    (refunds) => refunds === 1,
  )
  await all().feeBack(second, 38)
  await all().feeBack(order, 0)
  await eventually(all().differences, (found) => found.length === 0)
})

test('a second capture that the seller sends back in the dashboard returns all of its fee, and once', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  seller.bank.refusesRefunds = true
  const second = await paidAgain(seller, order)
  await eventually(
    async () =>
      all().server.calls.filter(
        ({ method, path, account }) => method === 'POST' && path === '/v1/refunds' && account === seller.account,
      ).length,
    (asked) => asked > 0,
  )
  seller.bank.refusesRefunds = false
  seller.bank.refundInDashboard(second.id, 900)
  seller.bank.refundInDashboard(second.id)
  await all().feeBack(second, 38)
  await all().server.delivered()
  await all().feeBack(order, 0)
  assert.equal(all().connect.feeRefunds.filter(({ fee }) => fee === all().connect.fees.at(-1)!['id']).length, 1)
  await eventually(all().differences, (found) => found.length === 0)
})

test('what another account says about a payment never counts', async () => {
  const [seller, thief] = [await all().selling(), await all().selling()]
  const order = await all().shop.checkout({ productId: seller.productId })
  const id = intentOf(order)
  // the same object, reported by another account: also in a payment that names our order there
  const forged = thief.bank.createIntent({
    amount: '1900',
    currency: 'usd',
    automatic_payment_methods: { enabled: 'true' },
    metadata: { order_id: order.orderId, attempt_id: 'pay_00000000000000000000000002' },
  })
  thief.bank.confirm(forged['id'])
  const told = thief.bank.events.at(-1)!
  const object = { ...told['data'].object, id }
  await all().server.send({ ...told, id: 'evt_forged1', account: thief.account, data: { object } })
  await all().server.send({ ...told, id: 'evt_forged2', data: { object } })
  await all().server.send({ ...told, id: 'evt_forged3', account: 'acct_stranger', data: { object } })
  await all().server.delivered()
  const answers = all().server.deliveries.filter((one) => one.id.startsWith('evt_forged'))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.equal((await all().shop.status(order.orderId, 'bob@example.com', true)).paid, false)
  assert.deepEqual(await all().shop.transfers(order.orderId), [])
})

test('notifications that come late, twice and out of order settle once; lost ones are found', async () => {
  const seller = await all().selling()
  const order = await all().shop.checkout({ productId: seller.productId })
  all().server.knobs.notify = 'held'
  seller.bank.confirm(intentOf(order))
  seller.bank.refundInDashboard(intentOf(order), 950)
  await all().server.release({ reversed: true, times: 2 })
  await all().refundedMinor(order.orderId, 950)
  all().server.knobs.notify = 'never'
  const lost = await all().shop.checkout({ productId: seller.productId })
  seller.bank.confirm(intentOf(lost))
  await sql`update processor_cursors set due_at = now(), seen_until = now() - interval '1 hour'`.execute(all().shop.db)
  await all().shop.backfill()
  // the first cursor of an account begins when it is first read
  await sql`update processor_cursors set due_at = now(), seen_until = now() - interval '1 hour'`.execute(all().shop.db)
  await all().shop.backfill()
  all().server.knobs.notify = 'now'
  await all().shop.until(lost.orderId, ({ paid }) => paid)
  assert.deepEqual((await all().shop.transfers(order.orderId)).map(({ kind }) => kind).sort(), ['fee', 'fee_refund', 'refund', 'sale']) // oxfmt-ignore
  await eventually(all().differences, (found) => found.length === 0)
})

test('an account that gives no access any more sells nothing, and its orders keep it', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  all().connect.revoke(seller.account)
  await all().awaits(seller.id, true)
  const view = (await seller.browser.call('GET', '/api/payouts/account')).body
  assert.deepEqual([view.state, view.blocksSales], ['none', true])
  const { rows } = await sql<{ account: string }>`
    select connected_account as account from orders where id = ${order.orderId}`.execute(all().shop.db)
  assert.equal(rows[0]!.account, seller.name)
  assert.equal((await all().shop.status(order.orderId, 'bob@example.com')).paid, true)

  // a wrong key of the service looks the same, so the account is there again when it answers again
  all().connect.restore(seller.account)
  await all().readDue()
  await all().awaits(seller.id, false)
  assert.equal((await seller.browser.call('GET', '/api/payouts/account')).body.state, 'active')
})

test('a seller who has ended the access opens another account, and the first one never comes back beside it', async () => {
  const seller = await all().selling()
  all().connect.revoke(seller.account)
  await all().awaits(seller.id, true)
  assert.equal((await seller.browser.call('POST', '/api/payouts/account')).status, 200)
  const second = String(all().connect.links.at(-1)!['account'])
  assert.notEqual(second, seller.account)
  all().connect.restore(seller.account)
  await all().readDue()
  assert.equal((await seller.browser.call('GET', '/api/payouts/account')).body.state, 'open')
  all().connect.stand(second, 'active')
  await all().awaits(seller.id, false)
  const order = await all().shop.checkout({ productId: seller.productId })
  assert.equal((order as { account?: string }).account, second)
})
