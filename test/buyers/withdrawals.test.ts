import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { findForgotten } from '../../src/buyers/withdrawals/orders.ts'
import { shortNumber } from '../../src/kit/order-number.ts'
import { exactTimeText } from '../../src/words/say.ts'
import { OPERATOR, operatorOf, reviewedOrder } from '../operator/support.ts'
import { holdBank, query, times } from '../stand-ins/processor.ts'
import { newAddress, newBrowser, newMailbox } from '../support/seller.ts'
import { type Answer, assertProblem, eventually, sharedShop } from '../support/shop.ts'

// A buyer withdraws from a contract: the statement, its acknowledgement, and the views of the seller and the operator.

const shared = sharedShop({ env: { OPERATORS: OPERATOR, TRUST_PROXY: '1', LIMITS: 'withdrawal=10/3600' } })

let keys = 0
const newKey = (): string => `withdrawal-test-key-${(keys += 1)}`

interface Given {
  key?: string
  name?: string
  contract?: string
  email?: string
}

const state = (given: Given, from = newAddress()): Promise<Answer> =>
  shared().call(
    'POST',
    '/api/withdrawals',
    { key: newKey(), name: 'Bob Buyer', contract: 'the book', email: newMailbox(), ...given },
    { 'x-forwarded-for': from },
  )

const statements = async (email: string) =>
  (await query<{ count: number }>(shared().db, sql`select count(*)::int as count from withdrawals where email = ${email}`))[0]!.count // oxfmt-ignore

/** The mails to an address whose subject matches, when there are so many. */
async function mails(to: string, subject: RegExp, count: number) {
  const found = await eventually(
    async () => (await shared().mails(to)).filter((mail) => subject.test(mail.subject)),
    (all) => all.length >= count,
  )
  assert.equal(found.length, count)
  return found
}

const ACKNOWLEDGED = /^We received your withdrawal$/

/** The looking up of orders is over. */
const lookedUp = (withdrawalId: string) =>
  eventually(
    () => query<{ found: number }>(shared().db, sql`select found from withdrawal_lookups where withdrawal_id = ${withdrawalId}`), // oxfmt-ignore
    (rows) => rows.length === 1,
  ).then((rows) => rows[0]!.found)

async function newSeller() {
  const browser = newBrowser(shared(), { headers: { 'x-forwarded-for': newAddress() } })
  await browser.signInByCode(newMailbox())
  return browser
}

/** A seller, and a paid order of a buyer. */
async function sale() {
  const ann = await newSeller()
  const { body } = await ann.call('GET', '/api/auth/session')
  const sellerId = body.seller.id as string
  const email = newMailbox()
  const { orderId } = await shared().paid({ productId: await shared().product({ sellerId }), email })
  const detail = async () => (await ann.call('GET', `/api/orders/${orderId}`)).body
  const attention = async () =>
    (await ann.call('GET', '/api/attention')).body.items.filter(({ what }: { what: string }) => what === 'withdrawn')
  return { ann, email, orderId, detail, attention }
}

test('a statement is acknowledged by mail with its content and its time to the second', async () => {
  const email = newMailbox()
  const { status, body } = await state({
    email: ` ${email.toUpperCase()} `,
    name: ' Bob Buyer ',
    contract: 'A book, last week',
  })
  assert.equal(status, 201)
  assert.deepEqual([body.name, body.contract, body.email], ['Bob Buyer', 'A book, last week', email])
  assert.match(body.receivedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const [mail] = await mails(email, ACKNOWLEDGED, 1)
  const parts = ['I withdraw from the contract', 'Bob Buyer', 'A book, last week', body.withdrawalId]
  for (const part of [...parts, exactTimeText(new Date(body.receivedAt), 'en')])
    assert(mail!.text.includes(part), `${part} is in ${mail!.text}`)
})

test('the acknowledgement repeats a long statement whole, and no mail client makes links of it', async () => {
  const email = `${newMailbox().replace('@', `.${'x'.repeat(30)}@`)}`
  const contract = `two orders: ord_${'1'.repeat(26)} and ord_${'2'.repeat(26)}, ${'x'.repeat(300)}, see https://evil.example`
  const name = `Bob ${'B'.repeat(190)}`
  assert.equal((await state({ email, contract, name })).status, 201)
  const [mail] = await mails(email, ACKNOWLEDGED, 1)
  for (const body of [mail!.text, mail!.html])
    for (const part of [contract, name, email]) assert(body.replaceAll('\u200a', '').includes(part), `${part}: ${body}`)
  assert.doesNotMatch(mail!.text + mail!.html, /evil\.example|https:\/\/evil|@\w/)
})

test('a repeat with the same key is the same statement, also ten at once, and other words are refused', async () => {
  const given = { key: newKey(), email: newMailbox() }
  const answers = await times(10, () => state(given))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
  assert.equal(await statements(given.email), 1)
  assertProblem(await state({ ...given, contract: 'another book' }), 409, 'idempotency_key_reused')
  await mails(given.email, ACKNOWLEDGED, 1)
})

test('the answer is the same with and without an order, for its buyer and for a stranger', async () => {
  const { email, orderId } = await sale()
  const shapes = new Set<string>()
  for (const given of [
    { contract: orderId, email },
    { contract: orderId },
    { contract: `ord_${'0'.repeat(26)}` },
    {},
  ]) {
    const { status, body } = await state(given)
    shapes.add(`${status} ${Object.keys(body).join()}`)
  }
  assert.deepEqual([...shapes], ['201 withdrawalId,receivedAt,name,contract,email'])
})

test('a statement that cannot be read is refused with a stable code, and nothing is kept', async () => {
  const email = newMailbox()
  for (const wrong of [
    { name: '' },
    { name: '  ' },
    { name: 'B\u0000b' },
    { name: 'x'.repeat(201) },
    { contract: '' },
    { contract: 'a\nb' },
    { contract: 'x'.repeat(501) },
    { email: 'bob' },
    { key: 'short' },
    { key: 'with spaces, and long enough' },
  ])
    assertProblem(await state({ email, ...wrong }), 400, 'validation_failed')
  assertProblem(await shared().call('POST', '/api/withdrawals', {}), 400, 'validation_failed')
  assertProblem(await state({ email, contract: '4242 4242 4242 4242' }), 400, 'card_number_refused')
  assert.equal(await statements(email), 0)
})

test('statements are limited for a network, and a repeat counts nothing', async () => {
  const [network, key, email] = [newAddress(), newKey(), newMailbox()]
  for (let n = 0; n < 10; n++) assert.equal((await state(n === 0 ? { key, email } : {}, network)).status, 201)
  assertProblem(await state({}, network), 429, 'rate_limited')
  assert.equal((await state({ key, email }, network)).status, 201)
  assert.equal(await statements(email), 1)
})

test('beyond the limit of its mailbox a statement is taken, and only its mail is held back', async () => {
  const { email, orderId, detail } = await sale()
  for (let n = 0; n < 10; n++) assert.equal((await state({ email }, newAddress())).status, 201)
  await mails(email, ACKNOWLEDGED, 10)
  const given = { email, contract: orderId, key: newKey() }
  const { status, body } = await state(given)
  assert.deepEqual([status, body.email, body.contract], [201, email, orderId])
  assert.deepEqual((await state(given)).body, body, 'a repeat is the same statement')
  assert.equal(await statements(email), 11)
  assert.equal(await lookedUp(body.withdrawalId), 1)
  const shown = (await detail()).withdrawals
  assert(shown.some(({ withdrawalId, named }: any) => withdrawalId === body.withdrawalId && named))
  const mailed = await query<{ count: number }>(
    shared().db,
    sql`select count(*)::int as count from pgboss.job where name = 'withdrawal_mail' and data->>'id' = ${body.withdrawalId}`,
  )
  assert.deepEqual(mailed, [{ count: 0 }])
  await mails(email, ACKNOWLEDGED, 10)
})

test('what a network may not state uses up nothing of a mailbox', async () => {
  const [network, email] = [newAddress(), newMailbox()]
  for (let n = 0; n < 10; n++) assert.equal((await state({}, network)).status, 201)
  for (let n = 0; n < 10; n++) assertProblem(await state({ email }, network), 429, 'rate_limited')
  assert.equal((await state({ email })).status, 201)
  await mails(email, ACKNOWLEDGED, 1)
})

test('many statements about one order are one mail and one event for its seller, until nothing is left to do', async () => {
  const { ann, email, orderId, detail, attention } = await sale()
  const seller = (await ann.call('GET', '/api/auth/session')).body.seller.email
  const stated = async (given: Given) => lookedUp((await state({ contract: orderId, ...given })).body.withdrawalId)
  // a statement of another address, of which the seller has no mail, does not silence the buyer's
  await stated({})
  for (let n = 0; n < 3; n++) assert.equal(await stated({ email }), 1)
  const events = async () =>
    (await ann.call('GET', '/api/events')).body.items.filter(
      ({ type, data }: any) => type === 'order.withdrawn' && data.order.orderId === orderId,
    ).length
  assert.equal(await events(), 1)
  assert.equal((await detail()).withdrawals.length, 4)
  assert.equal((await attention()).length, 1)
  await mails(seller, /^A buyer withdraws/, 1)
  await ann.call('POST', `/api/orders/${orderId}/withdrawals/done`, {})
  await stated({ email })
  assert.equal(await events(), 2)
  await mails(seller, /^A buyer withdraws/, 2)
})

test('the seller sees a statement with the number and the address of an order, hears of it once, and refunds', async () => {
  const { ann, email, orderId, detail, attention } = await sale()
  const { body } = await state({ email, contract: `Order ${orderId.toUpperCase()}, please` })
  assert.equal(await lookedUp(body.withdrawalId), 1)
  const [shown] = (await detail()).withdrawals
  assert.deepEqual(
    [shown.named, shown.hasAddress, shown.daysAfterPayment, shown.name, shown.doneAt],
    [true, true, 0, 'Bob Buyer', null],
  )
  assert.deepEqual((await attention()).map((one: { orderId: string }) => one.orderId), [orderId]) // oxfmt-ignore
  const { items } = (await ann.call('GET', '/api/events')).body
  assert.equal(items.filter(({ type, data }: any) => type === 'order.withdrawn' && data.order.orderId === orderId).length, 1) // oxfmt-ignore
  const seller = (await ann.call('GET', '/api/auth/session')).body.seller.email
  await mails(seller, /^A buyer withdraws/, 1)
  assert.equal((await ann.call('POST', `/api/orders/${orderId}/refunds`, {})).status, 201)
  await eventually(attention, (open) => open.length === 0)
})

test('the list shows a withdrawal with its first statement and the order’s address, the oldest first', async () => {
  const { ann, email, orderId, attention } = await sale()
  const { seller } = (await ann.call('GET', '/api/auth/session')).body
  const later = await shared().paid({ productId: await shared().product({ sellerId: seller.id }), email })
  const stated = async (given: Given): Promise<string> => {
    const { withdrawalId } = (await state(given)).body
    await lookedUp(withdrawalId)
    return withdrawalId
  }
  const first = await stated({ email, contract: orderId })
  await stated({ email, contract: later.orderId })
  await stated({ email: `zz-${newMailbox()}`, contract: orderId })
  const shown = (await attention()) as { orderId: string; email: string; at: string }[]
  assert.deepEqual(shown.map((one) => [one.orderId, one.email]), [[orderId, email], [later.orderId, email]]) // oxfmt-ignore
  const [{ at }] = (await query<{ at: Date }>(shared().db, sql`select received_at as at from withdrawals where id = ${first}`)) as [{ at: Date }] // oxfmt-ignore
  assert.equal(shown[0]!.at, at.toISOString())
})

test('a statement before the order is paid waits at this order, and the seller sees it once it is paid', async () => {
  const shop = shared()
  const { ann, email, orderId: other, attention } = await sale()
  const { body: session } = await ann.call('GET', '/api/auth/session')
  const seller = session.seller as { id: string; email: string }
  const detailOf = async (orderId: string) => (await ann.call('GET', `/api/orders/${orderId}`)).body
  const productId = await shop.product({ sellerId: seller.id })
  const slow = await shop.checkout({ productId, email })
  const release = await holdBank(shop, slow)
  await shop.confirm(slow, 'delayed')
  await eventually(
    () => detailOf(slow.orderId),
    ({ status }) => status === 'processing',
  )
  const { body } = await state({ email, contract: `Order ${shortNumber(slow.orderId)}` })
  assert.equal(await lookedUp(body.withdrawalId), 1)
  assert.deepEqual((await detailOf(other)).withdrawals, [], 'no other order of the address')
  const [mail] = await mails(seller.email, /^A buyer withdraws/, 1)
  assert.match(mail!.text.replaceAll(/\s+/g, ' '), /nothing to refund now/)
  assert.deepEqual(await attention(), [])
  await release()
  await eventually(attention, (open) => open.length === 1)
  const order = await detailOf(slow.orderId)
  assert.deepEqual([order.status, order.withdrawals.length], ['paid', 1])

  const reviewed = await reviewedOrder(shop, productId)
  assert.equal(await lookedUp((await state({ contract: reviewed })).body.withdrawalId), 1)
  assert.equal((await detailOf(reviewed)).withdrawals.length, 1)
  assert.deepEqual((await attention()).map((one: { orderId: string }) => one.orderId), [slow.orderId]) // oxfmt-ignore
})

test('the seller says that nothing is left to do', async () => {
  const { ann, email, orderId, detail, attention } = await sale()
  await lookedUp((await state({ email, contract: orderId })).body.withdrawalId)
  const done = `/api/orders/${orderId}/withdrawals/done`
  const stranger = await newSeller()
  assertProblem(await stranger.call('POST', done, {}), 404, 'order_not_found')
  assertProblem(await newBrowser(shared()).call('POST', done, {}), 401, 'not_signed_in')
  assertProblem(await ann.call('POST', '/api/orders/ord_x/withdrawals/done', {}), 404, 'order_not_found')
  assert.deepEqual((await ann.call('POST', done, {})).body, { changed: true })
  assert.deepEqual((await ann.call('POST', done, {})).body, { changed: false })
  assert.deepEqual(await attention(), [])
  assert.notEqual((await detail()).withdrawals[0].doneAt, null)
})

test('a statement with the number of an order and another address is marked as unsure, and moves nothing by itself', async () => {
  const { ann, orderId, detail } = await sale()
  const { body } = await state({ contract: orderId })
  assert.equal(await lookedUp(body.withdrawalId), 1)
  const order = await detail()
  assert.deepEqual([order.status, order.withdrawals[0].hasAddress], ['paid', false])
  const { items } = (await ann.call('GET', '/api/events')).body
  assert.equal(items.some(({ type }: { type: string }) => type === 'order.withdrawn'), false) // oxfmt-ignore
  const seller = (await ann.call('GET', '/api/auth/session')).body.seller.email
  await mails(seller, /^A buyer withdraws/, 0)
})

test('the short number of an order names it, with its address only', async () => {
  const { email, orderId, detail } = await sale()
  const contract = `Order ${shortNumber(orderId)}`
  assert.equal(await lookedUp((await state({ email, contract })).body.withdrawalId), 1)
  assert.equal((await detail()).withdrawals[0].named, true)
  assert.equal(await lookedUp((await state({ contract })).body.withdrawalId), 0)
})

test('a statement without a number shows at the orders of its address, and one that matches nothing at the operator’s', async () => {
  const { email, orderId, detail } = await sale()
  const { body } = await state({ email, contract: 'the book of last week' })
  assert.equal(await lookedUp(body.withdrawalId), 1)
  assert.deepEqual((await detail()).withdrawals.map(({ named }: { named: boolean }) => named), [false]) // oxfmt-ignore
  const name = `Nobody ${orderId.slice(-6)}`
  const lost = await state({ name, contract: 'something' })
  assert.equal(await lookedUp(lost.body.withdrawalId), 0)
  const operator = await operatorOf(shared())
  const { matters } = (await operator.call('GET', '/api/operator/attention')).body
  const own = matters.filter(({ says }: { says: string }) => says.startsWith(name))
  assert.deepEqual(own.map(({ what }: { what: string }) => what), ['withdrawal_unmatched']) // oxfmt-ignore
})

test('a statement is never changed, and one whose job was lost is looked up later, once', async () => {
  const { email, orderId, detail } = await sale()
  const { body } = await state({ email, contract: orderId })
  await lookedUp(body.withdrawalId)
  await assert.rejects(sql`update withdrawals set name = 'X' where id = ${body.withdrawalId}`.execute(shared().db))
  // as after a restart long after the jobs of a day were given up
  await sql`delete from withdrawal_lookups where withdrawal_id = ${body.withdrawalId}`.execute(shared().db)
  await sql`delete from withdrawal_orders where withdrawal_id = ${body.withdrawalId}`.execute(shared().db)
  await sql`alter table withdrawals disable trigger withdrawals_append_only`.execute(shared().db)
  await sql`update withdrawals set received_at = now() - interval '2 hours' where id = ${body.withdrawalId}`.execute(shared().db) // oxfmt-ignore
  await sql`alter table withdrawals enable trigger withdrawals_append_only`.execute(shared().db)
  await findForgotten(shared().db, shared().jobs)
  await findForgotten(shared().db, shared().jobs)
  await lookedUp(body.withdrawalId)
  assert.equal((await detail()).withdrawals.length, 1)
})

test('a receipt leads to the page, with the number of the order', async () => {
  const { email, orderId } = await sale()
  const [receipt] = await mails(email, /receipt/i, 1)
  assert(receipt!.text.includes(`/withdraw/?order=${orderId}`), receipt!.text)
})
