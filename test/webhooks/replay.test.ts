import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { gets, newEndpoint, signedInSeller, startReceiver } from '../support/receiver.ts'
import { makeKey, programWith } from '../support/keys.ts'
import { newMailbox } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop } from '../support/shop.ts'

const shared = sharedShop()

test('a receiver that is back gets at once, on request, what waits for a later try, and nothing twice', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  let isDown = true
  const receiver = await startReceiver(t, (_request, response, { event }) => {
    const isRefused = isDown && event.type === 'order.paid'
    // the receiver asks for an hour, so the next try does not come by itself
    response.writeHead(isRefused ? 500 : 204, isRefused ? { 'retry-after': '3600' } : {}).end()
  })
  const { id } = await newEndpoint(ann, receiver.url)
  const path = `/api/webhook-endpoints/${id}`
  for (const type of ['endpoint.test', 'order.paid', 'order.paid']) {
    const { body } = await ann.call('POST', `${path}/test`, { type })
    await eventually(
      () => ann.call('GET', `${path}/deliveries/${body.eventIds[0]}`),
      (answer) => answer.body.tries === 1,
    )
  }
  isDown = false
  const replayed = await ann.call('POST', `${path}/replay`, { since: '2026-01-01' })
  assert.deepEqual([replayed.status, replayed.body], [202, { count: 2 }])
  await gets(receiver, 'order.paid', 4)
  assert.equal(new Set(receiver.seen('order.paid').map((one) => one.id)).size, 2)
  assert.equal(receiver.seen('endpoint.test').length, 1)
  await eventually(
    () => ann.call('GET', `${path}/deliveries?status=delivered`),
    ({ body }) => body.items.length === 3,
  )
  const again = await ann.call('POST', `${path}/replay`, { since: '2026-01-01' })
  assert.deepEqual(again.body, { count: 0 })
})

test('a receiver that has asked for a day gets a test and a replay at once, and the endpoint says until when it waits', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(
    t,
    (_request, response) => void response.writeHead(503, { 'retry-after': '86400' }).end(),
  )
  const { id } = await newEndpoint(ann, receiver.url)
  const path = `/api/webhook-endpoints/${id}`
  const heldUntil = async () => (await ann.call('GET', path)).body.heldUntil
  const { body } = await ann.call('POST', `${path}/test`, {})
  const ways: [string, object?][] = [
    [`${path}/deliveries/${body.eventIds[0]}/replay`],
    [`${path}/test`, {}],
    [`${path}/replay`, { since: '2026-01-01' }],
  ]
  for (const [at, way] of ways.entries()) {
    const held = await eventually(heldUntil, (until) => until !== undefined)
    assert(Date.parse(held) > Date.now() + 86_000_000, held)
    assert.equal((await ann.call('POST', ...way)).status, 202)
    await gets(receiver, 'endpoint.test', at + 2)
  }
  await eventually(heldUntil, (until) => until !== undefined)
  receiver.answer = (_request, response) => void response.writeHead(204).end()
  await ann.call('POST', `${path}/replay`, { since: '2026-01-01' })
  await eventually(
    () => ann.call('GET', `${path}/deliveries?status=delivered`),
    (answer) => answer.body.items.length === 2,
  )
  assert.equal(await heldUntil(), undefined)
})

test('the log of a delivery keeps and shows its last 50 tries, whatever an earlier release has kept', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t)
  const { id } = await newEndpoint(ann, receiver.url)
  const { body } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const path = `/api/webhook-endpoints/${id}/deliveries/${body.eventIds[0]}`
  const delivered = (tries: number) =>
    eventually(
      () => ann.call('GET', path),
      (answer) => answer.body.status === 'delivered' && answer.body.tries === tries,
    )
  await delivered(1)
  await sql`
    insert into webhook_tries (endpoint_id, event_id, number, at, took_ms, status)
    select endpoint_id, event_id, n, at, took_ms, status from webhook_tries, generate_series(2, 120) n where endpoint_id = ${id}`.execute(shop.db) // oxfmt-ignore
  await sql`update webhook_deliveries set tries = 120 where endpoint_id = ${id}`.execute(shop.db)
  const numbers = async (tries: number) =>
    (await delivered(tries)).body.log.map((one: { number: number }) => one.number)
  const last = (tries: number) => Array.from({ length: 50 }, (_, at) => tries - at)
  assert.deepEqual(await numbers(120), last(120))
  await ann.call('POST', `${path}/replay`)
  assert.deepEqual(await numbers(121), last(121))
  const { rows } = await sql`select from webhook_tries where endpoint_id = ${id}`.execute(shop.db)
  assert.equal(rows.length, 50)
})

test('a seller can have only so much sent by hand in a day, and a stolen key uses up only the count of keys', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const { secret } = await makeKey(ann, ['webhooks:write'])
  const program = programWith(shop, secret)
  const receiver = await startReceiver(t)
  const paths = [await newEndpoint(ann, receiver.url), await newEndpoint(ann, receiver.url)].map(
    ({ id }) => `/api/webhook-endpoints/${id}/test`,
  )
  for (const caller of [program, ann]) {
    assert.equal((await caller.call('POST', paths[0]!, {})).status, 202)
    await sql`update limits set count = 2000 where key like 'sent by hand a day %'`.execute(shop.db)
    for (const path of paths) {
      const refused = await caller.call('POST', path, {})
      assertProblem(refused, 429, 'rate_limited')
      assert(Number(refused.headers.get('retry-after')) > 3600)
    }
  }
})
