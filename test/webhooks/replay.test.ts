import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gets, newEndpoint, signedInSeller, startReceiver } from '../support/receiver.ts'
import { newMailbox } from '../support/seller.ts'
import { eventually, sharedShop } from '../support/shop.ts'

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
