import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { sql } from 'kysely'
import {
  type Receiver,
  gets,
  manyEvents,
  newEndpoint,
  signedInSeller,
  startReceiver,
  verify,
} from '../support/receiver.ts'
import { newMailbox } from '../support/seller.ts'
import { type Ends, eventually, sharedShop, startTestShop } from '../support/shop.ts'

// What a seller changes while the deliveries of an endpoint are under way.

const shared = sharedShop()
const EVENTS = 100
/** The deliveries that the dispatcher reads at once. */
const PAGE = 64
const SLOW_MS = 200

/** A receiver that answers nothing until `release`, and from then on slowly. */
async function slowReceiver(t: Ends): Promise<Receiver & { release: () => void }> {
  const held: (() => void)[] = []
  let isHolding = true
  const receiver = await startReceiver(t, (_request, response) => {
    const answer = () => setTimeout(() => response.writeHead(204).end(), SLOW_MS)
    if (isHolding) held.push(answer)
    else answer()
  })
  const release = () => {
    isHolding = false
    for (const answer of held) answer()
  }
  return Object.assign(receiver, { release })
}

test('a removed endpoint gets nothing more than what was about to be sent', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  const receiver = await slowReceiver(t)
  const { id } = await newEndpoint(ann, receiver.url)
  await manyEvents(shop, EVENTS)
  await gets(receiver, 'order.email_changed', 4)
  assert.equal((await ann.call('DELETE', `/api/webhook-endpoints/${id}`)).status, 204)
  receiver.release()
  await eventually(
    async () => (await sql<{ sender: string | null }>`select sender from webhook_endpoints where id = ${id}`.execute(shop.db)).rows[0]!.sender, // oxfmt-ignore
    (sender) => sender === null,
  )
  assert(receiver.received.length < PAGE, `${receiver.received.length} were sent`)
})

test('another address, and a secret that ends at once, hold for the deliveries that were read before', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  const [before, after] = [await slowReceiver(t), await startReceiver(t)]
  const { id, secret } = await newEndpoint(ann, before.url)
  await manyEvents(shop, EVENTS)
  await gets(before, 'order.email_changed', 4)
  const path = `/api/webhook-endpoints/${id}`
  const { body: rotated } = await ann.call('POST', `${path}/secret`, { overlapHours: 0 })
  assert.equal((await ann.call('PATCH', path, { url: after.url })).status, 200)
  before.release()
  const ids = () => new Set([...before.received, ...after.received].map((one) => one.id))
  await eventually(
    async () => ids().size,
    (size) => size === EVENTS,
  )
  assert(before.received.length < PAGE, `${before.received.length} went to the old address`)
  for (const one of after.received) verify(rotated.secret, one)
  assert.throws(() => verify(secret, after.received[0]!))
})

test('what the old address answers after a change says nothing of the new one', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  let answer: (() => void) | undefined
  const before = await startReceiver(t, (_request, response) => (answer = () => response.writeHead(410).end()))
  const after = await startReceiver(t)
  const { id } = await newEndpoint(ann, before.url)
  const path = `/api/webhook-endpoints/${id}`
  const { body } = await ann.call('POST', `${path}/test`, {})
  await gets(before, 'endpoint.test')
  assert.equal((await ann.call('PATCH', path, { url: after.url })).status, 200)
  answer!()
  await eventually(
    () => ann.call('GET', `${path}/deliveries/${body.eventIds[0]}`),
    (found) => found.body.tries === 1,
  )
  const { body: endpoint } = await ann.call('GET', path)
  assert.deepEqual([endpoint.status, endpoint.failingSince, endpoint.pausedBecause], ['active', undefined, undefined])
  await ann.call('POST', `${path}/deliveries/${body.eventIds[0]}/replay`)
  await gets(after, 'endpoint.test')
})

test('what failed at the old address goes to a new one at once, also the try that was under way', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  let answer: (() => void) | undefined
  const before = await startReceiver(t, (_request, response) => void response.writeHead(500).end())
  const after = await startReceiver(t)
  const { id } = await newEndpoint(ann, before.url)
  const path = `/api/webhook-endpoints/${id}`
  const test = async (): Promise<string> => (await ann.call('POST', `${path}/test`, {})).body.eventIds[0]
  const [first, second] = [await test(), await test()]
  for (const one of [first, second])
    await eventually(
      () => ann.call('GET', `${path}/deliveries/${one}`),
      ({ body }) => body.tries >= 1,
    )
  // hours later: both have failed often, the first waits for a day, and a try of the second is under way
  before.answer = (_request, response) => (answer = () => response.writeHead(500).end())
  await sql`
    update webhook_deliveries set step = 8, due_at = case when event_id = ${second} then now() else now() + interval '1 day' end
    where endpoint_id = ${id}`.execute(shop.db)
  await eventually(
    async () => answer,
    (one) => one !== undefined,
  )
  assert.equal((await ann.call('PATCH', path, { url: after.url })).status, 200)
  answer!()
  const seen = await gets(after, 'endpoint.test', 2)
  assert.deepEqual(seen.map((one) => one.id).toSorted(), [first, second].toSorted())
})

/** The operator's statements in docs/sign-in.md that have these words, for these mailboxes. */
async function recipe(words: string, mailboxes: Record<string, string>): Promise<string> {
  const text = await readFile(new URL('../../docs/sign-in.md', import.meta.url), 'utf8')
  const found = text.split('```sql\n').find((one) => one.includes(words))
  assert(found)
  return Object.entries(mailboxes).reduce((all, [from, to]) => all.replaceAll(from, to), found.split('```')[0]!)
}

test('the deliveries of a seller who is locked out wait', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  const receiver = await slowReceiver(t)
  const { id } = await newEndpoint(ann, receiver.url)
  await manyEvents(shop, EVENTS)
  await gets(receiver, 'order.email_changed', 4)
  await sql.raw(await recipe('disabled_at = now()', { 'eve@example.com': 'ann@shop.test' })).execute(shop.db)
  receiver.release()
  const endpoint = async () => (await sql<{ sender: string | null }>`select sender from webhook_endpoints where id = ${id}`.execute(shop.db)).rows[0]! // oxfmt-ignore
  await eventually(endpoint, ({ sender }) => sender === null)
  assert(receiver.received.length < PAGE, `${receiver.received.length} were sent`)
  // one look takes all endpoints that have something due: another seller's, and not this one
  const { leased } = (await sql<{ leased: Date }>`select leased_until as leased from webhook_endpoints where id = ${id}`.execute(shop.db)).rows[0]! // oxfmt-ignore
  const bob = await signedInSeller(shop, newMailbox())
  const another = await startReceiver(t)
  const { id: other } = await newEndpoint(bob, another.url)
  await bob.call('POST', `/api/webhook-endpoints/${other}/test`, {})
  await gets(another, 'endpoint.test')
  const { rows } = await sql<{ leased: Date }>`select leased_until as leased from webhook_endpoints where id = ${id}`.execute(shop.db) // oxfmt-ignore
  assert.deepEqual(rows[0]!.leased, leased)
  await sql`update sellers set disabled_at = null where email = 'ann@shop.test'`.execute(shop.db)
  await eventually(
    async () => new Set(receiver.received.map((one) => one.id)).size,
    (size) => size === EVENTS,
  )
})

test('an account that is returned to its owner sends nothing to the endpoints of a thief', async (t) => {
  const shop = shared()
  const [thief, owner] = [newMailbox(), newMailbox()]
  const eve = await signedInSeller(shop, thief)
  const receiver = await startReceiver(t)
  const { id } = await newEndpoint(eve, receiver.url)
  await sql.raw(await recipe('with back', { 'ann@example.com': owner, 'eve@example.com': thief })).execute(shop.db)
  const ann = await signedInSeller(shop, owner)
  assert.equal((await ann.call('GET', `/api/webhook-endpoints/${id}`)).body.status, 'paused')
})
