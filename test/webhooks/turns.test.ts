import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Db, connect } from '../../src/kit/database.ts'
import { newId } from '../../src/kit/ids.ts'
import { newLog } from '../../src/kit/log.ts'
import { textSeal } from '../../src/kit/sealed-text.ts'
import { startDispatcher } from '../../src/webhooks/dispatcher.ts'
import { type Leased, type Slots, leaseEndpoints, releaseEndpoints } from '../../src/webhooks/queue.ts'
import { newSecret } from '../../src/webhooks/signature.ts'
import { type Ends, SECRET, eventually, newDatabase } from '../support/shop.ts'

// How a process shares its slots between sellers whose receivers are slow.

const seal = textSeal([SECRET], 'webhook secrets')

/** A database that no service runs on. */
async function database(t: Ends & { after(end: () => unknown): void }): Promise<Db> {
  const { db, close } = connect({ connectionString: await newDatabase(t) }, { connections: 8, patient: true })
  t.after(close)
  return db
}

interface Busy {
  endpoints?: number
  deliveries?: number
  /** How long the first delivery has been due. */
  seconds?: number
  isFailing?: boolean
}

/** A seller with endpoints, each with deliveries that are due. Returns the ids of the endpoints. */
async function busySeller(db: Db, { endpoints = 1, deliveries = 1, seconds = 0, isFailing = false }: Busy = {}) {
  const sellerId = newId('sel')
  const ids = Array.from({ length: endpoints }, () => newId('we'))
  const events = Array.from({ length: deliveries }, () => newId('evt'))
  await sql`insert into sellers (id, name, email) values (${sellerId}, 'Ann', ${`${sellerId}@shop.test`})`.execute(db)
  await sql`
    insert into webhook_endpoints (id, seller_id, url, events, secret, failing_since)
    select id, ${sellerId}, 'http://127.0.0.1:9/' || id, '{*}', ${seal.seal(newSecret())}, case when ${isFailing} then now() end
    from unnest(${ids}::text[]) as id`.execute(db)
  await sql`
    with made as (
      insert into events (id, seller_id, type, data) select id, ${sellerId}, 'endpoint.test', '{}' from unnest(${events}::text[]) as id
      returning id)
    insert into webhook_deliveries (endpoint_id, event_id, due_at)
    select e.id, made.id, now() - make_interval(secs => ${seconds}::int) from made, unnest(${ids}::text[]) as e(id)`.execute(
    db,
  )
  return ids
}

async function lease(db: Db, slots: Slots, working: readonly Leased[] = []): Promise<string[]> {
  const leased = await leaseEndpoints(db, { sender: 'one', slots, working })
  return leased.map(({ id }) => id)
}

for (const isFailing of [false, true])
  test(`endpoints that ${isFailing ? 'fail' : 'work'} get the slots in the order in which they have waited, also since their last turn`, async (t) => {
    const db = await database(t)
    const seconds = [10, 40, 20, 30]
    const ids: string[] = []
    for (const waited of seconds) ids.push(...(await busySeller(db, { seconds: waited, deliveries: 3, isFailing })))
    const slots = { healthy: 1, failing: 1, ofSeller: 1 }
    const turns: string[] = []
    for (let turn = 0; turn < 8; turn++) {
      const leased = await lease(db, slots)
      assert.equal(leased.length, 1)
      turns.push(leased[0]!)
      // as much is due as before: the receiver is slow, and the turn is over
      await releaseEndpoints(db, 'one', leased[0]!)
    }
    const once = [ids[1]!, ids[3]!, ids[2]!, ids[0]!]
    assert.deepEqual(turns, [...once, ...once])
  })

test('a pause that a receiver asked for does not count as waiting', async (t) => {
  const db = await database(t)
  const [[held], [other]] = [await busySeller(db, { seconds: 300 }), await busySeller(db, { seconds: 60 })]
  await sql`update webhook_endpoints set held_until = now() - interval '1 second' where id = ${held}`.execute(db)
  assert.deepEqual(await lease(db, { healthy: 1, failing: 1, ofSeller: 1 }), [other])
})

test('no seller has more than the share of a busy process, of endpoints that work and of those that fail', async (t) => {
  const db = await database(t)
  const slots = { healthy: 12, failing: 11, ofSeller: 5 }
  const slow = await busySeller(db, { endpoints: 10, seconds: 60 })
  const down = await busySeller(db, { endpoints: 10, seconds: 60, isFailing: true })
  const [other] = await busySeller(db)
  const leased = await leaseEndpoints(db, { sender: 'one', slots, working: [] })
  const of = (ids: readonly string[]) => leased.filter(({ id }) => ids.includes(id)).length
  assert.deepEqual([of(slow), of(down), of([other!])], [5, 5, 1])
  // the next look finds the share used up
  assert.deepEqual(await lease(db, slots, leased), [])
  // and with two turns ended, two more endpoints get theirs: others than before
  const ended = leased.filter(({ id }) => slow.includes(id)).slice(0, 2)
  for (const { id } of ended) await releaseEndpoints(db, 'one', id)
  const next = await lease(db, slots, leased.filter((one) => !ended.includes(one))) // oxfmt-ignore
  assert.equal(next.length, 2)
  for (const id of next) assert(slow.includes(id) && !leased.some((one) => one.id === id))
})

test('a seller has more than the share while half of the slots stay free', async (t) => {
  const db = await database(t)
  const all = await busySeller(db, { endpoints: 10 })
  const down = await busySeller(db, { endpoints: 10, isFailing: true })
  const leased = await lease(db, { healthy: 20, failing: 16, ofSeller: 5 })
  assert.equal(leased.filter((id) => all.includes(id)).length, 10)
  assert.equal(leased.filter((id) => down.includes(id)).length, 8)
})

test('receivers that are slow and always have something due give their slots to the others', async (t) => {
  const db = await database(t)
  const slow = [...(await busySeller(db, { deliveries: 2000 })), ...(await busySeller(db, { deliveries: 2000 }))]
  const sent = new Map<string, number>()
  const send = async ({ url }: { url: string }) => {
    const id = url.slice(url.lastIndexOf('/') + 1)
    sent.set(id, (sent.get(id) ?? 0) + 1)
    await sleep(20)
    return { tookMs: 20, status: 204, answer: '' }
  }
  const urls = { baseUrl: 'http://shop.test', appUrl: 'http://shop.test' }
  const slots = { healthy: 2, failing: 1, ofSeller: 1 }
  const dispatcher = startDispatcher({ db, send, seal, urls, log: newLog('silent'), slots, turnMs: 200 })
  try {
    await eventually(
      async () => slow.map((id) => sent.get(id) ?? 0),
      (counts) => counts.every((count) => count > 0),
    )
    const [late] = await busySeller(db)
    await eventually(
      async () => sent.get(late!) ?? 0,
      (count) => count === 1,
    )
    const { rows } = await sql<{ id: string }>`
      select distinct endpoint_id as id from webhook_deliveries where state = 'waiting'`.execute(db)
    assert.deepEqual(rows.map(({ id }) => id).filter((id) => id !== late).sort(), [...slow].sort()) // oxfmt-ignore
  } finally {
    await dispatcher.stop(10_000)
  }
})

test('a clock that was ahead for a while keeps no endpoint waiting', async (t) => {
  const db = await database(t)
  const ids = await busySeller(db)
  await sql`update webhook_endpoints set leased_until = now() + interval '1 hour'`.execute(db)
  assert.deepEqual(await lease(db, { healthy: 1, failing: 1, ofSeller: 1 }), ids)
})
