import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { gets, manyEvents, newEndpoint, signedInSeller, startReceiver } from '../support/receiver.ts'
import { eventually, startTestShop } from '../support/shop.ts'

/** A receiver that hangs does so for the whole test. */
const PATIENT = { deadlines: { deliveryTryMs: 1_800_000 } }

test('two instances send each event once, with at most four tries of an endpoint under way', async (t) => {
  const one = await startTestShop(t)
  const two = await startTestShop(t, { databaseUrl: one.databaseUrl })
  const ann = await signedInSeller(one)
  let [underWay, most] = [0, 0]
  const receiver = await startReceiver(t, (_request, response) => {
    most = Math.max(most, ++underWay)
    setTimeout(() => {
      underWay--
      response.writeHead(204).end()
    }, 5)
  })
  await newEndpoint(ann, receiver.url)
  await Promise.all([manyEvents(one, 150), manyEvents(two, 150)])
  await gets(receiver, 'order.email_changed', 300)
  const left = async () =>
    (await sql<{ count: number }>`select count(*)::int as count from webhook_deliveries where state <> 'delivered'`.execute(one.db)).rows[0]!.count // oxfmt-ignore
  await eventually(left, (count) => count === 0)
  assert.equal(receiver.received.length, 300)
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 300)
  assert(most <= 4, `${most} at once`)
})

test('what a killed process had under way is sent again by another, with its id', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  const receiver = await startReceiver(t)
  const { id } = await newEndpoint(ann, receiver.url)
  // the process that has the lease is gone; it had begun to send and has written nothing
  await sql`update webhook_endpoints set sender = 'a process that is gone', leased_until = now() + interval '1 hour'
    where id = ${id}`.execute(shop.db)
  const another = await startReceiver(t)
  await newEndpoint(ann, another.url)
  await manyEvents(shop, 3)
  const { rows } = await sql<{ id: string }>`
    select event_id as id from webhook_deliveries where endpoint_id = ${id} order by event_id`.execute(shop.db)
  // one look takes all endpoints that nobody has leased, so this one was passed over
  await gets(another, 'order.email_changed', 3)
  assert.equal(receiver.received.length, 0, 'the lease still holds')
  await sql`update webhook_endpoints set leased_until = now() where id = ${id}`.execute(shop.db)
  await gets(receiver, 'order.email_changed', 3)
  assert.deepEqual(receiver.received.map((one) => one.id).sort(), rows.map((row) => row.id).sort())
})

test('a process that has lost its lease while it sent writes no second try over the other’s', async (t) => {
  const shop = await startTestShop(t, PATIENT)
  const ann = await signedInSeller(shop)
  let answer: (() => void) | undefined
  const receiver = await startReceiver(t, (_request, response) => {
    if (answer) return void response.writeHead(204).end()
    answer = () => response.writeHead(500).end()
  })
  const { id } = await newEndpoint(ann, receiver.url)
  const { body } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  await gets(receiver, 'endpoint.test')
  // somebody else takes over, and sends it with success, before the first process gets its answer
  const other = await startTestShop(t, { databaseUrl: shop.databaseUrl })
  await sql`update webhook_endpoints set sender = null, leased_until = now() where id = ${id}`.execute(shop.db)
  const path = `/api/webhook-endpoints/${id}/deliveries/${body.eventIds[0]}`
  await eventually(
    () => ann.call('GET', path),
    (found) => found.body.status === 'delivered',
  )
  answer!()
  await other.close()
  await shop.close()
  const { rows } = await sql<{ state: string; tries: number; log: number }>`
    select state, tries, (select count(*)::int from webhook_tries) as log from webhook_deliveries`.execute(
    (await startTestShop(t, { databaseUrl: shop.databaseUrl })).db,
  )
  assert.deepEqual(rows, [{ state: 'delivered', tries: 1, log: 1 }])
})

test('a receiver that hangs takes nothing from the others, and the service stops while it hangs', async (t) => {
  const shop = await startTestShop(t, PATIENT)
  const ann = await signedInSeller(shop)
  const hanging = await startReceiver(t, () => {})
  const working = await startReceiver(t)
  for (let n = 0; n < 5; n++) await newEndpoint(ann, hanging.url)
  await newEndpoint(ann, working.url)
  await manyEvents(shop, 100)
  await gets(working, 'order.email_changed', 100)
  assert(hanging.received.length <= 5 * 4)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
    where e.url = ${hanging.url} and d.state = 'waiting'`.execute(shop.db)
  assert.equal(rows[0]!.count, 500, 'nothing of it is lost')
  await shop.close(0)
})
