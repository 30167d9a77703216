import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { connect } from '../../src/kit/database.ts'
import { holdBank } from '../stand-ins/processor.ts'
import { assistantWith } from '../support/assistant.ts'
import { makeKey, programWith, signedInAnn } from '../support/keys.ts'
import { newBrowser } from '../support/seller.ts'
import { type Ends, assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'

const shared = sharedShop()
/** Only reading. To propose needs no more. */
const SCOPES = ['products:read', 'orders:read', 'discounts:read', 'keys:read']

async function prepared(t: Ends, shop = shared()) {
  const ann = await signedInAnn(shop)
  const key = await makeKey(ann, SCOPES, { name: 'My assistant' })
  const productId = await shop.product({ name: 'The Quiet Handbook' })
  const { orderId } = await shop.paid({ productId })
  const { call } = await assistantWith(t, shop, key.secret)
  const ask = async (name: string, given: Record<string, unknown>) => (await call(name, given)).said
  /** Proposes, and returns the id in the link. */
  const propose = async (name: string, given: Record<string, unknown>): Promise<string> => {
    const said = await ask(name, given)
    assert.equal(said.status, 'confirmation_required', JSON.stringify(said))
    const [, id] = /^http:\/\/shop\.test\/shop\/#\/confirm\/(cnf_\w+)$/.exec(said.url) ?? []
    assert(id, said.url)
    return id
  }
  const at = (id: string, what = '') => `/api/confirmations/${id}${what && `/${what}`}`
  const look = (id: string, browser = ann) => browser.call('GET', at(id))
  const confirm = (id: string, browser = ann) => browser.call('POST', at(id, 'confirm'))
  const refunds = async (): Promise<number[]> =>
    (await ann.call('GET', `/api/orders/${orderId}/refunds`)).body.items.map(({ amount }: { amount: number }) => amount)
  return { shop, ann, key, productId, orderId, ask, propose, look, confirm, refunds, at }
}

test('a refund is only proposed, shows what it does, and is made once, whoever confirms how often at the same moment', async (t) => {
  const { propose, look, confirm, refunds, orderId, ann } = await prepared(t)
  const id = await propose('refund_order', { orderId, amount: 500, reason: 'A chapter was missing.' })
  assert.deepEqual(await refunds(), [])
  const { body } = await look(id)
  assert.deepEqual([body.state, body.title, body.key.name, body.status], ['open', 'Refund $5.00 to the buyer', 'My assistant', null]) // oxfmt-ignore
  assert.deepEqual(Object.fromEntries(body.shown.map(({ label, value }: any) => [label, value])), {
    Order: orderId,
    Product: 'The Quiet Handbook',
    Buyer: 'bob@example.com',
    Paid: '$19.00',
    'Refunded so far': '$0.00',
    'Goes back now': '$5.00',
    'Your note': 'A chapter was missing.',
  })
  const answers = await Promise.all([1, 2, 3, 4].map(() => confirm(id)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 410, 410, 410])
  assert.equal(answers.find(({ status }) => status === 200)!.body.status, 201)
  assert.deepEqual(await refunds(), [500])
  assertProblem(await confirm(id), 410, 'confirmation_over')
  assertProblem(await ann.call('POST', `/api/confirmations/${id}/decline`), 410, 'confirmation_over')
  assert.deepEqual([(await look(id)).body.state, (await look(id)).body.status], ['confirmed', 201])
  assert.deepEqual(await refunds(), [500])
})

test('a refund of all that is left names its sum, and a refusal of the route is told', async (t) => {
  const { propose, look, confirm, refunds, orderId, ask } = await prepared(t)
  const [first, second] = [await propose('refund_order', { orderId }), await propose('refund_order', { orderId })]
  assert.equal((await look(first)).body.title, 'Refund $19.00 to the buyer')
  assert.equal((await confirm(first)).body.status, 201)
  const { status, body } = await confirm(second)
  assert.equal(status, 200)
  assert.equal(body.status, 409)
  assert(['refund_too_large', 'order_not_refundable'].includes(body.code), body.code)
  assert.equal((await look(second)).body.status, 409)
  assert.deepEqual(await refunds(), [1900])
  assert.equal((await ask('refund_order', { orderId: `ord_${'0'.repeat(26)}` })).code, 'order_not_found')
})

test('a refund that is on its way is shown, and is not proposed again', async (t) => {
  const { propose, look, confirm, ask, shop, productId } = await prepared(t)
  const order = await shop.checkout({ productId })
  const { orderId } = order
  await shop.confirm(order, 'slow_refund')
  await shop.until(orderId, ({ paid }) => paid)
  await holdBank(shop, order)
  assert.equal((await confirm(await propose('refund_order', { orderId, amount: 500 }))).body.status, 201)
  const { body } = await look(await propose('refund_order', { orderId }))
  assert.equal(body.title, 'Refund $14.00 to the buyer')
  const shown = Object.fromEntries(body.shown.map(({ label, value }: any) => [label, value]))
  assert.deepEqual([shown['Refunded so far'], shown['On its way to the buyer']], ['$0.00', '$5.00'])
  assert.equal((await ask('refund_order', { orderId, amount: 1500 })).code, 'refund_too_large')
})

test('nobody else confirms it: another seller, the key itself, a browser without a session, a late sign-in', async (t) => {
  const { shop, propose, look, confirm, refunds, orderId, key, at, ann } = await prepared(t)
  const id = await propose('refund_order', { orderId, amount: 500 })
  const eve = newBrowser(shop)
  await eve.signInByCode()
  assertProblem(await look(id, eve), 404, 'confirmation_not_found')
  assertProblem(await confirm(id, eve), 404, 'confirmation_not_found')
  assertProblem(await eve.call('POST', at(id, 'decline')), 404, 'confirmation_not_found')
  assertProblem(await confirm(id, newBrowser(shop)), 401, 'not_signed_in')
  const headers = { authorization: `Bearer ${key.secret}` }
  for (const [method, address] of [
    ['POST', at(id, 'confirm')],
    ['POST', at(id, 'decline')],
  ] as const)
    // oxfmt-ignore
    assert.equal((await shop.call(method, address, undefined, headers)).status, 403, `${method} ${address}`)
  assertProblem(await ann.call('POST', at(id, 'confirm'), undefined, { origin: 'https://evil.example' }), 403, 'origin_not_allowed') // oxfmt-ignore
  await sql`update sessions set created_at = now() - interval '11 minutes'`.execute(shop.db)
  assertProblem(await confirm(id), 403, 'recent_sign_in_required')
  assert.equal((await look(id)).body.state, 'open')
  assert.deepEqual(await refunds(), [])
})

test('what has expired, was declined, or came from a key that has ended is never done', async (t) => {
  const { shop, propose, look, confirm, refunds, orderId, ann, key, at } = await prepared(t)
  const [late, unwanted, orphan] = [
    await propose('refund_order', { orderId, amount: 100 }),
    await propose('refund_order', { orderId, amount: 200 }),
    await propose('refund_order', { orderId, amount: 300 }),
  ]
  await sql`update confirmations set expires_at = now() where id = ${late}`.execute(shop.db)
  assert.equal((await ann.call('POST', at(unwanted, 'decline'))).status, 204)
  await ann.call('DELETE', `/api/keys/${key.id}`)
  for (const [id, state] of [
    [late, 'expired'],
    [unwanted, 'declined'],
    [orphan, 'void'],
  ] as const) {
    assertProblem(await confirm(id), 410, 'confirmation_over')
    assert.equal((await look(id)).body.state, state)
  }
  assert.deepEqual(await refunds(), [])
})

test('a process that ends between the decision and the request has done it at most once, and the page says so', async (t) => {
  const { shop, propose, look, confirm, refunds, orderId } = await prepared(t)
  const id = await propose('refund_order', { orderId, amount: 100 })
  await sql`update confirmations set decision = 'confirmed', decided_at = now() where id = ${id}`.execute(shop.db)
  const { body } = await look(id)
  assert.deepEqual([body.state, body.status], ['confirmed', null])
  assertProblem(await confirm(id), 410, 'confirmation_over')
  assert.deepEqual(await refunds(), [])
})

test('the end of the service refuses a confirmation and a tool under way, does nothing, and leaves the proposal open', async (t) => {
  const own = await startTestShop(t)
  const { propose, confirm, orderId, ask } = await prepared(t, own)
  const id = await propose('refund_order', { orderId, amount: 100 })
  const { db, close } = connect({ connectionString: own.databaseUrl }, { connections: 2, patient: true }) // oxfmt-ignore
  t.after(close)
  const [locked, closing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = db.transaction().execute(async (tx) => {
    // the decision reads whether the key still lives, and the tool reads who calls
    await sql`lock table api_keys`.execute(tx)
    locked.resolve()
    await closing.promise
  })
  await locked.promise
  const answers = Promise.all([confirm(id), ask('list_products', {})])
  const waiting = async () => (await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db)).rows.length // oxfmt-ignore
  await eventually(waiting, (count) => count === 2)
  const closed = own.close(120_000)
  await eventually(() => fetch(`${own.url}/healthz`).catch(() => undefined), (answer) => answer === undefined) // oxfmt-ignore
  closing.resolve()
  await holding
  const [confirmed, said] = await answers
  assertProblem(confirmed, 503, 'shutting_down')
  assert.equal(said.code, 'shutting_down')
  await closed
  const { rows } = await sql`select decision, decided_at as at, status from confirmations where id = ${id}`.execute(db)
  assert.deepEqual(rows, [{ decision: null, at: null, status: null }])
  const ann = await signedInAnn(await startTestShop(t, { databaseUrl: own.databaseUrl }))
  assert.equal((await ann.call('POST', `/api/confirmations/${id}/confirm`)).body.status, 201)
})

test('a change of a product shows before and after, and is void when the product has changed meanwhile', async (t) => {
  const { propose, look, confirm, productId, ann, ask } = await prepared(t)
  const [id, stale] = [
    await propose('change_product', { productId, amount: 2400 }),
    await propose('change_product', { productId, name: 'Another name' }),
  ]
  const { body } = await look(id)
  assert.deepEqual(body.shown[1], { label: 'Price', value: '$24.00', before: '$19.00' })
  const price = async () => (await ann.call('GET', `/api/products/${productId}`)).body.amount
  assert.equal(await price(), 1900)
  assert.equal((await confirm(id)).body.status, 200)
  assert.equal(await price(), 2400)
  const answer = (await confirm(stale)).body
  assert.deepEqual([answer.status, answer.code], [412, 'changed_meanwhile'])
  assert.equal((await ann.call('GET', `/api/products/${productId}`)).body.name, 'The Quiet Handbook')
  assert.equal((await ask('change_product', { productId, amount: 2400 })).code, 'validation_failed')
})

test('a new key is made by the seller, who alone sees its secret', async (t) => {
  const { shop, propose, look, confirm, ann, ask } = await prepared(t)
  const id = await propose('create_key', { name: 'Refunds', scopes: ['orders:read', 'refunds:write'] })
  const labels = Object.fromEntries((await look(id)).body.shown.map(({ label, value }: any) => [label, value]))
  assert.deepEqual(labels, { Name: 'Refunds', 'May do': 'orders:read, refunds:write', 'Only for': 'all of your products', Until: '90 days from now' }) // oxfmt-ignore
  const { body } = await confirm(id)
  assert.match(body.secret, /^till_test_/)
  const headers = { authorization: `Bearer ${body.secret}` }
  assert.equal((await shop.call('GET', '/api/orders', undefined, headers)).status, 200)
  const { rows } = await sql<{ text: string }>`select c::text as text from confirmations c`.execute(shop.db)
  assert(rows.every(({ text }) => !text.includes(body.secret)))
  assert.equal((await ann.call('GET', '/api/keys')).body.items[0].name, 'Refunds')
  assert.equal((await ask('create_key', { name: 'x', scopes: ['everything:write'] })).code, 'validation_failed')
})

test('the seller gets the secret of a new key also when its outcome cannot be noted', async (t) => {
  const own = await startTestShop(t)
  const { propose, look, confirm } = await prepared(t, own)
  const id = await propose('create_key', { name: 'Refunds', scopes: ['orders:read'] })
  await sql`alter table confirmations add constraint takes_no_outcome check (status is null)`.execute(own.db)
  const { status, body } = await confirm(id)
  assert.deepEqual([status, body.status], [200, 201])
  assert.match(body.secret, /^till_test_/)
  const { state, status: noted } = (await look(id)).body
  assert.deepEqual([state, noted], ['confirmed', null])
})

test('a discount code is only proposed', async (t) => {
  const { propose, look, confirm, ann } = await prepared(t)
  const code = `SPRING-${Date.now().toString(36)}`
  const id = await propose('create_discount', { code, amountOff: 300, currency: 'USD' })
  const { shown } = (await look(id)).body
  assert.deepEqual(shown.find(({ label }: any) => label === 'Amount off').value, '$3.00')
  const codes = async () => (await ann.call('GET', '/api/discounts')).body.items.map((one: any) => one.code)
  assert(!(await codes()).includes(code))
  assert.equal((await confirm(id)).body.status, 201)
  assert((await codes()).includes(code))
})

test('a program cannot bury the seller under proposals', async (t) => {
  const { shop, ask, orderId, ann } = await prepared(t)
  const { body: session } = await ann.call('GET', '/api/auth/session')
  await sql`delete from confirmations where seller_id = ${session.seller.id}`.execute(shop.db)
  const said = await Promise.all(Array.from({ length: 24 }, () => ask('refund_order', { orderId, amount: 1 })))
  assert.equal(said.filter(({ code }) => code === 'too_many_confirmations').length, 4)
})

test('the proposals of a key that has ended leave room for those of another key', async (t) => {
  const { shop, ask, orderId, ann, key } = await prepared(t)
  const { body: session } = await ann.call('GET', '/api/auth/session')
  await sql`delete from confirmations where seller_id = ${session.seller.id}`.execute(shop.db)
  await Promise.all(Array.from({ length: 20 }, () => ask('refund_order', { orderId, amount: 1 })))
  const other = await makeKey(ann, SCOPES)
  const { call } = await assistantWith(t, shop, other.secret)
  const propose = async () => (await call('refund_order', { orderId, amount: 1 })).said
  assert.equal((await propose()).code, 'too_many_confirmations')
  await ann.call('DELETE', `/api/keys/${key.id}`)
  assert.equal((await propose()).status, 'confirmation_required')
})

test('the assistant that asks is told what the seller has decided, and no other key is', async (t) => {
  const { shop, ann, ask, propose, confirm, at, orderId, productId } = await prepared(t)
  // those of the other tests are over
  await sql`delete from confirmations`.execute(shop.db)
  const state = async (confirmationId: string) => (await ask('get_proposal', { confirmationId })).state
  const [declined, confirmed] = [
    await propose('refund_order', { orderId, amount: 100 }),
    await propose('change_product', { productId, name: 'The Loud Handbook' }),
  ]
  assert.equal(await state(declined), 'open')
  assert.equal((await ann.call('POST', at(declined, 'decline'))).status, 204)
  assert.equal((await confirm(confirmed)).body.status, 200)
  assert.deepEqual([await state(declined), await state(confirmed)], ['declined', 'confirmed'])
  assert.equal((await ask('get_proposal', { confirmationId: confirmed })).status, 200)

  const other = programWith(shop, (await makeKey(ann, SCOPES)).secret)
  assertProblem(await other.call('GET', at(declined)), 404, 'confirmation_not_found')
  const blind = programWith(shop, (await makeKey(ann, ['webhooks:read'])).secret)
  assertProblem(await blind.call('GET', at(declined)), 403, 'insufficient_scope')
  const eve = newBrowser(shop)
  await eve.signInByCode()
  const stranger = programWith(shop, (await makeKey(eve, SCOPES)).secret)
  assertProblem(await stranger.call('GET', at(declined)), 404, 'confirmation_not_found')
})
