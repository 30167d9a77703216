import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { gets, newEndpoint, signedInSeller, startReceiver, verify } from '../support/receiver.ts'
import { newMailbox } from '../support/seller.ts'
import { type TestShop, assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'

const shared = sharedShop()
/** Makes the waiting deliveries of an endpoint due now. */
const dueNow = (shop: TestShop, endpointId: string) =>
  sql`update webhook_deliveries set due_at = now() where endpoint_id = ${endpointId} and state = 'waiting'`.execute(
    shop.db,
  )
const failingFor = (shop: TestShop, endpointId: string, hours: number) =>
  sql`update webhook_endpoints set failing_since = now() - make_interval(hours => ${hours}::int), held_until = '-infinity' where id = ${endpointId}`.execute(shop.db) // oxfmt-ignore

test('a failed delivery is tried again with its id and a new signature, and its log has every try', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t, (_request, response) => void response.writeHead(500).end('down\0'))
  const { id, secret } = await newEndpoint(ann, receiver.url)
  const { body: test } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const path = `/api/webhook-endpoints/${id}/deliveries/${test.eventIds[0]}`
  const waiting = await eventually(
    () => ann.call('GET', path),
    ({ body }) => body.tries >= 1,
  )
  assert.equal(waiting.body.status, 'waiting')
  assert(Date.parse(waiting.body.nextTryAt) > Date.parse(waiting.body.lastTry.at))
  assert.deepEqual([waiting.body.lastTry.status, waiting.body.lastTry.error], [500, 'status'])
  assert.equal(waiting.body.log[0].answer, 'down\uFFFD')
  assert.equal((await ann.call('GET', `/api/webhook-endpoints/${id}`)).body.status, 'failing')
  receiver.answer = (_request, response) => void response.writeHead(204).end()
  await dueNow(shop, id)
  const done = await eventually(
    () => ann.call('GET', path),
    ({ body }) => body.status === 'delivered',
  )
  const [first, ...others] = receiver.seen('endpoint.test')
  assert(others.length > 0 && others.every((one) => one.id === first!.id))
  for (const one of [first, ...others]) verify(secret, one!)
  assert.deepEqual(first!.event, { ...first!.event, id: first!.id, type: 'endpoint.test', test: true })
  const numbers = done.body.log.map((one: { number: number }) => one.number)
  assert.deepEqual(
    numbers,
    Array.from({ length: numbers.length }, (_, at) => numbers.length - at),
  )
  assert.equal(done.body.event.id, first!.id)
  await eventually(
    () => ann.call('GET', `/api/webhook-endpoints/${id}`),
    ({ body }) => body.status === 'active',
  )
})

test('after the tenth failure a delivery has failed, also where others arrive, and a replay sends it again', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t, (_request, response) => void response.writeHead(302, { location: '/' }).end())
  const { id } = await newEndpoint(ann, receiver.url)
  const { body: test } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const path = `/api/webhook-endpoints/${id}/deliveries/${test.eventIds[0]}`
  for (let tries = 1; tries <= 10; tries++) {
    await eventually(
      () => ann.call('GET', path),
      ({ body }) => body.tries >= tries,
    )
    await dueNow(shop, id)
  }
  const failed = await ann.call('GET', path)
  assert.deepEqual([failed.body.status, failed.body.nextTryAt, failed.body.log.length], ['failed', undefined, 10])
  receiver.answer = (_request, response) => void response.writeHead(200).end()
  const endpoint = async () => (await ann.call('GET', `/api/webhook-endpoints/${id}`)).body
  await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const working = await eventually(endpoint, ({ status }) => status === 'active')
  assert.deepEqual([working.waiting, working.failed], [0, 1])
  const { body } = await ann.call('POST', `/api/webhook-endpoints/${id}/replay`, { since: '2026-01-01' })
  assert.deepEqual(body, { count: 1 })
  await eventually(
    () => ann.call('GET', path),
    (answer) => answer.body.status === 'delivered',
  )
  assert.equal(new Set(receiver.received.map((one) => one.id)).size, 2)
  // one by one, also events that were delivered
  assert.equal((await ann.call('POST', `${path}/replay`)).status, 202)
  await gets(receiver, 'endpoint.test', 13)
})

test('everything since a time is sent again, also what came before the endpoint, of its types alone', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  const receiver = await startReceiver(t)
  const productId = await shop.product()
  const before = await shop.paid({ productId })
  await ann.call('DELETE', `/api/products/${productId}`)
  const { id } = await newEndpoint(ann, receiver.url, ['order.paid'])
  const after = await shop.paid()
  await gets(receiver, 'order.paid')
  await eventually(
    () => ann.call('GET', `/api/webhook-endpoints/${id}/deliveries`),
    ({ body }) => body.items[0]?.status === 'delivered',
  )
  const replay = (body: object) => ann.call('POST', `/api/webhook-endpoints/${id}/replay`, body)
  assert.deepEqual((await replay({ since: '2026-01-01', status: 'all' })).body, { count: 2 })
  const seen = await gets(receiver, 'order.paid', 3)
  const orders = seen.map(({ event }) => (event.data as { order: { orderId: string } }).order.orderId)
  assert.deepEqual(orders.toSorted(), [before.orderId, after.orderId, after.orderId].toSorted())
  assert.equal(new Set(seen.map((one) => one.id)).size, 2)
  assert.equal(receiver.received.length, 3)
  // nothing has failed, and nothing has happened since a moment ago
  assert.deepEqual((await replay({ since: '2026-01-01' })).body, { count: 0 })
  const last = Date.parse(seen.at(-1)!.event.timestamp)
  await eventually(
    async () => Date.now(),
    (now) => now > last + 1,
  )
  assert.deepEqual((await replay({ since: new Date().toISOString(), status: 'all' })).body, { count: 0 })
})

test('a rotation that is made twice, because its answer was lost, leaves every secret that a receiver can have', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t)
  const { id, secret: first } = await newEndpoint(ann, receiver.url)
  const rotate = async (overlapHours: number): Promise<string> =>
    (await ann.call('POST', `/api/webhook-endpoints/${id}/secret`, { overlapHours })).body.secret
  const signers = async (secrets: string[]) => {
    const { body } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
    const sent = await eventually(
      async () => receiver.received.find((one) => one.id === body.eventIds[0]),
      (one) => one !== undefined,
    )
    assert.equal(String(sent!.headers['webhook-signature']).split(' ').length, secrets.length)
    for (const secret of secrets) verify(secret, sent!)
  }
  const [second, third] = [await rotate(24), await rotate(24)]
  await signers([third, second, first])
  // an earlier program that runs beside this one ends the old secret, and knows of no other
  await sql`update webhook_endpoints set old_secret = null, old_secret_until = null where id = ${id}`.execute(shop.db)
  await signers([third])
  const fourth = await rotate(24)
  await signers([fourth, third])
  // those whose time is over do not come back with the next rotation
  await sql`update webhook_endpoints set old_secret_until = now() where id = ${id}`.execute(shop.db)
  const fifth = await rotate(24)
  await signers([fifth, fourth])
  const sixth = await rotate(24)
  await signers([sixth, fifth, fourth])
  await signers([await rotate(0)])
})

test('during a rotation both secrets sign, afterwards the new one alone', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t)
  const { id, secret: old } = await newEndpoint(ann, receiver.url)
  const { body } = await ann.call('POST', `/api/webhook-endpoints/${id}/secret`, { overlapHours: 1 })
  assert(Date.parse(body.oldSecretUntil) > Date.now() && body.secret !== old)
  await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const [both] = await gets(receiver, 'endpoint.test')
  for (const secret of [old, body.secret]) verify(secret, both!)
  const { body: last } = await ann.call('POST', `/api/webhook-endpoints/${id}/secret`, { overlapHours: 0 })
  assert.equal(last.oldSecretUntil, undefined)
  await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const [, alone] = await gets(receiver, 'endpoint.test', 2)
  verify(last.secret, alone!)
  for (const secret of [old, body.secret]) assert.throws(() => verify(secret, alone!))
})

test('secrets are encrypted, and follow the service’s secret when the operator replaces it', async (t) => {
  const receiver = await startReceiver(t)
  const first = await startTestShop(t)
  const ann = await signedInSeller(first)
  const { id, secret } = await newEndpoint(ann, receiver.url)
  const stored = async () =>
    (await sql<{ secret: Buffer }>`select secret from webhook_endpoints where id = ${id}`.execute(first.db)).rows[0]!
      .secret
  const before = await stored()
  assert(!before.includes(Buffer.from(secret.slice(6), 'base64')) && !before.toString('latin1').includes(secret))
  // one is stored as the present secret, and each older one in its own place
  const rotate = async () => (await ann.call('POST', `/api/webhook-endpoints/${id}/secret`, {})).body.secret as string
  const secrets = [secret, await rotate(), await rotate()]
  const rotated = await stored()
  const newer = 'another secret of the tests that is long enough'
  const second = await startTestShop(t, {
    databaseUrl: first.databaseUrl,
    env: { SECRET: `${newer},${first.config.secrets[0]}` },
  })
  assert.notDeepEqual(await stored(), rotated)
  await first.close()
  await second.close()
  const third = await startTestShop(t, { databaseUrl: first.databaseUrl, env: { SECRET: newer } })
  const bob = await signedInSeller(third)
  await bob.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const [received] = await gets(receiver, 'endpoint.test')
  for (const one of secrets) verify(one, received!)
})

test('410 pauses an endpoint; events are recorded all the same, and are delivered when it is resumed', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  const receiver = await startReceiver(t, (_request, response) => void response.writeHead(410).end())
  const { id } = await newEndpoint(ann, receiver.url, ['order.paid', 'endpoint.test'])
  await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const paused = await eventually(() => ann.call('GET', `/api/webhook-endpoints/${id}`), ({ body }) => body.status === 'paused') // oxfmt-ignore
  assert.equal(paused.body.pausedBecause, 'gone')
  receiver.answer = (_request, response) => void response.writeHead(204).end()
  const { orderId } = await shop.paid()
  await Promise.all([shop.watchEndpoints(), shop.watchEndpoints()])
  await shop.watchEndpoints()
  const mails = await eventually(() => shop.mails('ann@shop.test'), (all) => all.some(({ subject }) => /410 Gone/.test(subject))) // oxfmt-ignore
  assert.equal(mails.filter(({ subject }) => /Your endpoint/.test(subject)).length, 1)
  assert.match(
    mails.find(({ subject }) => /410 Gone/.test(subject))!.text,
    new RegExp(`/shop/#/developers/endpoints/${id}`),
  )
  assert.equal(receiver.seen('order.paid').length, 0)
  // a new address is not called before the endpoint is resumed, so there is no mail about it
  const moved = await startReceiver(t)
  await ann.call('PATCH', `/api/webhook-endpoints/${id}`, { url: moved.url })
  assert.equal((await sql`select from webhook_endpoints where id = ${id} and mails_sent > 0`.execute(shop.db)).rows.length, 1) // oxfmt-ignore
  await ann.call('PATCH', `/api/webhook-endpoints/${id}`, { url: receiver.url })
  assert.equal((await ann.call('GET', `/api/webhook-endpoints/${id}`)).body.waiting, 2)
  assert.equal((await ann.call('POST', `/api/webhook-endpoints/${id}/resume`)).body.status, 'active')
  const [received] = await gets(receiver, 'order.paid')
  assert.equal((received!.event.data as { order: { orderId: string } }).order.orderId, orderId)
  assert.equal((await gets(receiver, 'endpoint.test', 2)).length, 2)
})

test('the seller gets a mail after an hour, a day and three days of failures; then the endpoint is paused', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  const receiver = await startReceiver(t, (_request, response) => void response.writeHead(503).end())
  const { id } = await newEndpoint(ann, receiver.url)
  await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const endpoint = async () => (await ann.call('GET', `/api/webhook-endpoints/${id}`)).body
  await eventually(endpoint, ({ status }) => status === 'failing')
  const subjects = async () => (await shop.mails('ann@shop.test')).map(({ subject }) => subject).filter((one) => /Your endpoint/.test(one)) // oxfmt-ignore
  await shop.watchEndpoints()
  assert.deepEqual(await subjects(), [])
  // nothing is tried while the seller is locked out, so nothing fails
  await failingFor(shop, id, 73)
  await sql`update sellers set disabled_at = now() where email = 'ann@shop.test'`.execute(shop.db)
  await shop.watchEndpoints()
  const { rows } = await sql`
    select mails_sent, paused, failing_since > now() - interval '1 hour' as "isYoung" from webhook_endpoints where id = ${id}`.execute(shop.db) // oxfmt-ignore
  assert.deepEqual(rows, [{ mails_sent: 0, paused: null, isYoung: true }])
  await sql`update sellers set disabled_at = null where email = 'ann@shop.test'`.execute(shop.db)
  for (const [hours, words] of [
    [2, 'for an hour'],
    [25, 'for a day'],
    [73, 'for three days'],
  ] as const) {
    await failingFor(shop, id, hours)
    await Promise.all([shop.watchEndpoints(), shop.watchEndpoints()])
    // the last try, which the watch makes due, pauses it
    if (hours > 72) await eventually(endpoint, ({ status }) => status === 'paused')
    await Promise.all([shop.watchEndpoints(), shop.watchEndpoints()])
    await eventually(subjects, (all) => all.some((one) => one.includes(words)))
    assert.equal((await endpoint()).status, hours < 72 ? 'failing' : 'paused')
  }
  assert.equal((await subjects()).length, 3)
  assert.equal((await endpoint()).pausedBecause, 'failing')
  // a success later begins everything anew
  receiver.answer = (_request, response) => void response.writeHead(204).end()
  await ann.call('POST', `/api/webhook-endpoints/${id}/resume`)
  await eventually(endpoint, ({ status, waiting }) => status === 'active' && waiting === 0)
})

test('an endpoint is tried once more after three days of failures, and is not paused if the receiver is back', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  // no try comes by itself while the test changes what the database holds
  const later = { 'retry-after': '86400' }
  const receiver = await startReceiver(t, (_request, response) => void response.writeHead(500, later).end())
  const { id } = await newEndpoint(ann, receiver.url)
  const { body } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const endpoint = async () => (await ann.call('GET', `/api/webhook-endpoints/${id}`)).body
  await eventually(endpoint, ({ status }) => status === 'failing')
  // the ninth try has failed, and the tenth is due in a day
  await sql`update webhook_deliveries set step = 9, due_at = now() + interval '1 day' where endpoint_id = ${id}`.execute(shop.db) // oxfmt-ignore
  await failingFor(shop, id, 73)
  receiver.answer = (_request, response) => void response.writeHead(204).end()
  await shop.watchEndpoints()
  const working = await eventually(endpoint, ({ status }) => status !== 'failing')
  assert.deepEqual([working.status, working.waiting], ['active', 0])
  const { body: delivery } = await ann.call('GET', `/api/webhook-endpoints/${id}/deliveries/${body.eventIds[0]}`)
  assert.equal(delivery.status, 'delivered')
  // one that fails and has nothing to try is paused
  receiver.answer = (_request, response) => void response.writeHead(500, later).end()
  await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  await eventually(endpoint, ({ status }) => status === 'failing')
  await sql`update webhook_deliveries set state = 'failed', due_at = null where endpoint_id = ${id} and state = 'waiting'`.execute(shop.db) // oxfmt-ignore
  await failingFor(shop, id, 73)
  await shop.watchEndpoints()
  assert.equal((await endpoint()).pausedBecause, 'failing')
})

test('a resumed endpoint begins every delivery of its outage anew, also one whose tries were used up', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t, (_request, response) => void response.writeHead(503).end())
  const { id } = await newEndpoint(ann, receiver.url)
  const send = async () => (await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})).body.eventIds[0] as string
  const at = async (eventId: string) =>
    (await ann.call('GET', `/api/webhook-endpoints/${id}/deliveries/${eventId}`)).body
  const [before, during, late] = [await send(), await send(), await send()]
  for (const one of [before, during, late]) {
    await eventually(
      () => at(one),
      ({ tries }) => tries >= 1,
    )
    await dueNow(shop, id)
  }
  // three days later: two have had all their tries, one of them before the outage began; one waits for its last try, which is due
  await sql`update webhook_endpoints set paused = 'failing', paused_at = now(), failing_since = now() where id = ${id}`.execute(shop.db) // oxfmt-ignore
  await sql`update webhook_tries set at = now() - interval '1 hour' where event_id in (${before}, ${late})`.execute(
    shop.db,
  )
  await sql`update webhook_tries set at = now() + interval '1 hour' where event_id = ${during}`.execute(shop.db)
  await sql`update webhook_deliveries set state = 'failed', step = 10, due_at = null where event_id in (${before}, ${during})`.execute(shop.db) // oxfmt-ignore
  await sql`update webhook_deliveries set step = 9, due_at = now() - interval '1 hour' where event_id = ${late}`.execute(shop.db) // oxfmt-ignore
  const tries = (await at(late)).tries
  await Promise.all([1, 2].map(() => ann.call('POST', `/api/webhook-endpoints/${id}/resume`)))
  const again = await eventually(
    () => at(late),
    (one) => one.tries > tries,
  )
  assert.equal(again.status, 'waiting')
  receiver.answer = (_request, response) => void response.writeHead(204).end()
  await sql`update webhook_endpoints set held_until = '-infinity' where id = ${id}`.execute(shop.db)
  for (const one of [late, during])
    await eventually(
      async () => {
        await dueNow(shop, id)
        return at(one)
      },
      ({ status }) => status === 'delivered',
    )
  assert.equal((await at(before)).status, 'failed')
})

test('a resumed endpoint begins also an old event anew whose last try fell into the outage', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t, (_request, response) => void response.writeHead(503).end())
  const { id } = await newEndpoint(ann, receiver.url)
  const path = `/api/webhook-endpoints/${id}/deliveries`
  const { eventIds } = (await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})).body
  await eventually(
    () => ann.call('GET', `${path}/${eventIds[0]}`),
    ({ body }) => body.tries >= 1,
  )
  // the event is 20 days old, a replay sent it again during the outage, and all tries were in vain
  const old = newId('evt', Date.now() - 20 * 86_400_000)
  await sql`update webhook_endpoints set paused = 'failing', paused_at = now(), failing_since = now() - interval '3 days' where id = ${id}`.execute(shop.db) // oxfmt-ignore
  await sql`update events set id = ${old} where id = ${eventIds[0]}`.execute(shop.db)
  await sql`update webhook_tries set event_id = ${old} where endpoint_id = ${id}`.execute(shop.db)
  await sql`update webhook_deliveries set event_id = ${old}, state = 'failed', step = 10, due_at = null where endpoint_id = ${id}`.execute(shop.db) // oxfmt-ignore
  receiver.answer = (_request, response) => void response.writeHead(204).end()
  assert.equal((await ann.call('POST', `/api/webhook-endpoints/${id}/resume`)).status, 200)
  await eventually(
    () => ann.call('GET', `${path}/${old}`),
    ({ body }) => body.status === 'delivered',
  )
})

test('a receiver that asks for a pause gets it, whatever else is due', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(
    t,
    (_request, response) => void response.writeHead(429, { 'retry-after': '3000' }).end(),
  )
  const { id } = await newEndpoint(ann, receiver.url)
  const { body: test } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const path = `/api/webhook-endpoints/${id}/deliveries/${test.eventIds[0]}`
  const { body } = await eventually(
    () => ann.call('GET', path),
    (answer) => answer.body.tries === 1,
  )
  assert(Date.parse(body.nextTryAt) - Date.parse(body.lastTry.at) > 2_900_000)
  const { rows } = await sql<{ isHeld: boolean }>`
    select held_until > now() + interval '2900 seconds' as "isHeld" from webhook_endpoints where id = ${id}`.execute(
    shop.db,
  )
  assert(rows[0]!.isHeld)
})

test('weather: a test comes twice with one id, or out of order', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t)
  const { id } = await newEndpoint(ann, receiver.url, ['file.recalled'])
  await ann.call('POST', `/api/webhook-endpoints/${id}/test`, { type: 'order.refunded', weather: 'twice' })
  const [one, two] = await gets(receiver, 'order.refunded', 2)
  assert.deepEqual([one!.id, one!.body], [two!.id, two!.body])
  assert.equal((one!.event.data as { order: { status: string } }).order.status, 'refunded')
  const { body } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {
    type: 'order.paid',
    weather: 'reordered',
  })
  const seen = await gets(receiver, 'order.paid', 2)
  const sequences = body.eventIds.map(
    (one: string) => (seen.find(({ id: of }) => of === one)!.event.data as { sequence: number }).sequence,
  )
  assert.deepEqual(sequences, [1, 2])
  const { rows } = await sql<{ id: string }>`
    select d.event_id as id from webhook_deliveries d where d.endpoint_id = ${id} and d.event_id = any(${body.eventIds})
    order by d.delivered_at`.execute(shop.db)
  assert.equal(rows.length, 2)
  const late = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {
    type: 'product.published',
    weather: 'late',
  })
  const { body: waiting } = await ann.call('GET', `/api/webhook-endpoints/${id}/deliveries/${late.body.eventIds[0]}`)
  assert(Date.parse(waiting.nextTryAt) - Date.parse(waiting.createdAt) > 29_000)
  // every type can be tried
  const { body: api } = await shop.call('GET', '/api/openapi.json')
  for (const type of api.components.schemas.Event.properties.type.enum) {
    assert.equal((await ann.call('POST', `/api/webhook-endpoints/${id}/test`, { type })).status, 202, type)
    await gets(receiver, type)
  }
})

test('another seller’s endpoint is not found, and a shop has at most ten', async (t) => {
  const shop = shared()
  const [ann, bob] = [await signedInSeller(shop, newMailbox()), await signedInSeller(shop, newMailbox())]
  const receiver = await startReceiver(t)
  const { id } = await newEndpoint(ann, receiver.url)
  const { body: test } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const path = `/api/webhook-endpoints/${id}`
  const calls: [string, string, object?][] = [
    ['GET', path], ['PATCH', path, { events: ['*'] }], ['DELETE', path], ['POST', `${path}/secret`, {}], ['POST', `${path}/resume`],
    ['POST', `${path}/test`, {}], ['POST', `${path}/replay`, { since: '2026-11-01' }], ['GET', `${path}/deliveries`],
    ['GET', `${path}/deliveries/${test.eventIds[0]}`], ['POST', `${path}/deliveries/${test.eventIds[0]}/replay`],
  ] // oxfmt-ignore
  for (const call of calls) assertProblem(await bob.call(...call), 404, 'webhook_endpoint_not_found')
  const made = await Promise.all(
    Array.from({ length: 12 }, () =>
      ann.call('POST', '/api/webhook-endpoints', { url: receiver.url, events: ['order.paid'] }),
    ),
  )
  assert.equal(made.filter(({ status }) => status === 201).length, 9)
  for (const answer of made) if (answer.status !== 201) assertProblem(answer, 409, 'too_many_endpoints')
  assert.equal((await ann.call('DELETE', path)).status, 204)
  for (const call of calls) assertProblem(await ann.call(...call), 404, 'webhook_endpoint_not_found')
  await newEndpoint(ann, receiver.url)
})

test('a seller can have only so much sent to an endpoint by hand, in all ways and at all instances', async (t) => {
  const shop = await startTestShop(t)
  const two = await startTestShop(t, { databaseUrl: shop.databaseUrl })
  const email = newMailbox()
  const [ann, annAtTwo] = [await signedInSeller(shop, email), await signedInSeller(two, email)]
  const bob = await signedInSeller(shop, newMailbox())
  const { id } = await newEndpoint(ann, (await startReceiver(t)).url)
  const path = `/api/webhook-endpoints/${id}`
  const { body } = await ann.call('POST', `${path}/test`, {})
  const ways: [string, object?][] = [
    [`${path}/test`, {}],
    [`${path}/replay`, { since: '2026-01-01' }],
    [`${path}/deliveries/${body.eventIds[0]}/replay`],
  ]
  // the minute must not end during this test
  await sql`update limits set until = now() + interval '1 hour' where key like 'sent by hand %'`.execute(shop.db)
  for (let n = 0; n < 61; n++) {
    assertProblem(await shop.call('POST', ...ways[0]!), 401, 'not_signed_in')
    const { status } = await bob.call('POST', ...ways[0]!)
    assert(status === 404 || status === 429, String(status))
  }
  for (let n = 1; n < 60; n++) {
    const answer = await (n % 2 ? ann : annAtTwo).call('POST', ...ways[n % 3]!)
    assert.equal(answer.status, 202, `${n}: ${JSON.stringify(answer.body)}`)
  }
  for (const seller of [ann, annAtTwo])
    for (const way of ways) assertProblem(await seller.call('POST', ...way), 429, 'rate_limited')
})

test('a seller can have many deliveries sent to an endpoint again only so often, and an empty replay does not count', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const receiver = await startReceiver(t)
  const [{ id }, { id: other }] = [await newEndpoint(ann, receiver.url), await newEndpoint(ann, receiver.url)]
  const { body } = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, {})
  const delivered = () =>
    eventually(
      () => ann.call('GET', `/api/webhook-endpoints/${id}/deliveries/${body.eventIds[0]}`),
      (answer) => answer.body.status === 'delivered',
    )
  await delivered()
  const replay = (status: string, endpointId = id) =>
    ann.call('POST', `/api/webhook-endpoints/${endpointId}/replay`, { since: '2026-01-01', status })
  for (let n = 1; n <= 6; n++) assert.deepEqual((await replay('failed')).body, { count: 0 })
  const { body: product } = await ann.call('POST', '/api/products', { name: 'A draft', amount: 100, currency: 'USD' })
  assert.equal((await ann.call('DELETE', `/api/products/${product.id}`)).status, 204)
  for (let n = 1; n <= 5; n++) {
    const answer = await replay('all')
    assert.deepEqual([answer.status, answer.body.count > 0], [202, true], `${n}: ${JSON.stringify(answer.body)}`)
  }
  for (const status of ['all', 'failed']) {
    const refused = await replay(status)
    assertProblem(refused, 429, 'rate_limited')
    // the hour, and not the minute of the messages by hand
    assert(Number(refused.headers.get('retry-after')) > 60)
  }
  assert.equal((await replay('all', other)).status, 202)
  // one by one is another count
  const one = `/api/webhook-endpoints/${id}/deliveries/${body.eventIds[0]}/replay`
  assert.equal((await ann.call('POST', one)).status, 202)
})

test('wrong endpoints are refused, and changes need a recent sign-in', async () => {
  const shop = shared()
  const email = newMailbox()
  const ann = await signedInSeller(shop, email)
  const url = 'https://shop.example/hook'
  for (const body of [
    {},
    { url },
    { events: ['*'] },
    { url, events: [] },
    { url, events: ['order.lost'] },
    { url: 'mailto:a@b.c', events: ['*'] },
    { url: 'https://a b/', events: ['*'] },
    { url, events: ['*'], description: 'x'.repeat(201) },
  ])
    // oxfmt-ignore
    assertProblem(await ann.call('POST', '/api/webhook-endpoints', body), 400, 'validation_failed')
  for (const wrong of [
    'http://shop.example/',
    'https://10.0.0.8/',
    'https://169.254.169.254/',
    'https://user@shop.example/',
  ])
    assertProblem(
      await ann.call('POST', '/api/webhook-endpoints', { url: wrong, events: ['*'] }),
      422,
      'url_not_allowed',
    )
  const { id } = await newEndpoint(ann, url, ['order.paid', 'order.paid'])
  assert.deepEqual((await ann.call('GET', `/api/webhook-endpoints/${id}`)).body.events, ['order.paid'])
  assertProblem(await ann.call('PATCH', `/api/webhook-endpoints/${id}`, { url: 'https://127.1.1.1:1/x' + 'y'.repeat(3000) }), 400, 'validation_failed') // oxfmt-ignore
  const changed = await ann.call('PATCH', `/api/webhook-endpoints/${id}`, {
    description: ' the shop ',
    events: ['*', 'order.paid'],
  })
  assert.deepEqual([changed.body.description, changed.body.events, changed.body.url], ['the shop', ['*'], url])
  for (const since of ['2026-02-30', '3000-01-01'])
    assertProblem(await ann.call('POST', `/api/webhook-endpoints/${id}/replay`, { since }), 400, 'validation_failed')
  assertProblem(
    await ann.call('GET', `/api/webhook-endpoints/${id}/deliveries/evt_${'0'.repeat(26)}`),
    404,
    'delivery_not_found',
  )
  await sql`update sessions set created_at = created_at - interval '11 minutes'
    where seller_id = (select id from sellers where email = ${email})`.execute(shop.db)
  for (const [method, path, body] of [
    ['POST', '', { url, events: ['*'] }],
    ['PATCH', `/${id}`, { url }],
    ['DELETE', `/${id}`, undefined],
    ['POST', `/${id}/secret`, {}],
  ] as const)
    // oxfmt-ignore
    assertProblem(await ann.call(method, `/api/webhook-endpoints${path}`, body), 403, 'recent_sign_in_required')
  assert.equal((await ann.call('GET', '/api/webhook-endpoints')).body.items.length, 1)
})
