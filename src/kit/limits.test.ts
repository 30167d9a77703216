import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newDatabase } from '../../test/support/shop.ts'
import { type Db, connect } from './database.ts'
import { Refusal } from './errors.ts'
import {
  type Limit,
  countOneThenOther,
  countUses,
  giveBack,
  lookAtUse,
  networkOf,
  siteOf,
  refuseBeyond,
  sweepLimits,
} from './limits.ts'

const use = async (db: Db, key: string, limit: Limit, grows = false) =>
  (await countUses(db, [{ key, limit, grows }]))[0]!

test('of fifty simultaneous uses at two instances exactly the limit is within it, and new ones come with time', async (t) => {
  const url = await newDatabase(t)
  const instances = [1, 2].map(() => connect({ connectionString: url }, { connections: 4 }))
  for (const { close } of instances) t.after(close)
  const [{ db }] = instances as [(typeof instances)[0]]
  const limit = { count: 5, seconds: 600 }

  const uses = await Promise.all(Array.from({ length: 50 }, (_, at) => use(instances[at % 2]!.db, 'a', limit)))
  assert.equal(uses.filter(({ within }) => within).length, 5)
  for (const { resetSeconds } of uses) assert(resetSeconds > 500 && resetSeconds <= 600)
  assert.equal((await use(db, 'b', limit)).within, true, 'another key is counted by itself')

  await sql`update limits set until = now() - interval '1 second' where key = 'a'`.execute(db)
  const again = await use(db, 'a', limit)
  assert.deepEqual([again.within, again.resetSeconds > 500], [true, true])
  for (let at = 0; at < 4; at++) assert((await use(db, 'a', limit)).within)
  assert(!(await use(db, 'a', limit)).within)

  await sql`update limits set until = now() - interval '2 minutes' where key = 'a'`.execute(db)
  await sweepLimits(db)
  const { rows } = await sql<{ key: string }>`select key from limits`.execute(db)
  assert.deepEqual(rows, [{ key: 'b' }], 'expired counts are removed')
})

async function database(t: { after(end: () => unknown): void }): Promise<Db> {
  const { db, close } = connect({ connectionString: await newDatabase(t) }, { connections: 4 })
  t.after(close)
  return db
}

test('keys counted together keep their order, one that is only read is not counted, and a returned use is free again', async (t) => {
  const db = await database(t)
  const limit = { count: 2, seconds: 600 }
  const many = await countUses(
    db,
    ['a', 'b', 'a', 'a', 'b'].map((key) => ({ key, limit })),
  )
  assert.deepEqual(
    many.map(({ within, remaining }) => [within, remaining]),
    [[true, 1], [true, 1], [true, 0], [false, 0], [true, 0]],
  ) // oxfmt-ignore
  const seen = await Promise.all(['a', 'c'].map((key) => lookAtUse(db, { key, limit })))
  assert.deepEqual(
    seen.map(({ within, remaining }) => [within, remaining]),
    [[false, 0], [true, 2]],
  ) // oxfmt-ignore
  const { rows } = await sql<{ key: string }>`select key from limits order by key`.execute(db)
  assert.deepEqual(rows, [{ key: 'a' }, { key: 'b' }], 'reading a count leaves no row')
  await giveBack(db, ['b'])
  assert.equal((await use(db, 'b', limit)).within, true)
  assert.equal((await use(db, 'b', limit)).within, false)
  await giveBack(db, [])
})

test('of two limits in a row, a use beyond the first takes nothing from the second', async (t) => {
  const db = await database(t)
  const [one, other] = [
    { key: 'z network', limit: { count: 3, seconds: 600 }, grows: true },
    { key: 'a mailbox', limit: { count: 2, seconds: 100 }, grows: true },
  ]
  const told: [boolean, number][][] = []
  for (let time = 0; time < 5; time++)
    told.push((await countOneThenOther(db, one, other)).map(({ within, remaining }) => [within, remaining]))
  assert.deepEqual(told, [
    [[true, 2], [true, 1]],
    [[true, 1], [true, 0]],
    [[true, 0], [false, 0]],
    [[false, 0]],
    [[false, 0]],
  ]) // oxfmt-ignore
  const { rows } = await sql<{ key: string; count: number; overruns: number }>`
    select key, count, overruns from limits order by key`.execute(db)
  assert.deepEqual(rows, [
    { key: 'a mailbox', count: 3, overruns: 1 },
    { key: 'z network', count: 5, overruns: 1 },
  ])
  await sql`update limits set until = now() - interval '1 second' where key = 'z network'`.execute(db)
  assert.deepEqual((await countOneThenOther(db, one, other)).map(({ within }) => within), [true, false]) // oxfmt-ignore
})

test('simultaneous counting and returning of the same two keys, at two instances, never deadlocks', async (t) => {
  const url = await newDatabase(t)
  const instances = [1, 2].map(() => connect({ connectionString: url }, { connections: 8, patient: true }))
  for (const { close } of instances) t.after(close)
  const limit = { count: 10_000, seconds: 600 }
  const keys = ['z network', 'a mailbox'] as const
  const [one, other] = keys.map((key) => ({ key, limit }))
  await Promise.all(
    Array.from({ length: 400 }, async (_, at) => {
      const { db } = instances[at % 2]!
      await countOneThenOther(db, one!, other!)
      if (at % 4 > 0) await giveBack(db, keys)
    }),
  )
  const { rows } = await sql<{ count: number }>`select count from limits`.execute(instances[0]!.db)
  assert.deepEqual(rows, [{ count: 100 }, { count: 100 }])
})

test('each overrun of a limit waits longer, up to a maximum, and a quiet day resets it', async (t) => {
  const db = await database(t)
  const limit = { count: 1, seconds: 100 }
  const pass = (past: string) => sql`update limits set until = now() - ${past}::interval`.execute(db)
  const pauses: number[] = []
  for (let at = 0; at < 7; at++) {
    assert.equal((await use(db, 'a', limit, true)).within, true)
    const beyond = await use(db, 'a', limit, true)
    assert.equal(beyond.within, false)
    pauses.push(beyond.resetSeconds)
    assert.equal(
      (await use(db, 'a', limit, true)).resetSeconds,
      beyond.resetSeconds,
      'asking on does not make it longer',
    )
    await pass('1 second')
  }
  assert.deepEqual(pauses, [100, 200, 400, 800, 1600, 1600, 1600])
  await sweepLimits(db)
  assert.equal((await use(db, 'a', limit, true)).within, true)
  assert.equal((await use(db, 'a', limit, true)).resetSeconds, 1600, 'the sweep does not forgive')
  await pass('25 hours')
  assert.equal((await use(db, 'a', limit, true)).within, true)
  assert.equal((await use(db, 'a', limit, true)).resetSeconds, 100)
})

test('a refusal names the longest pause of all the limits that are reached', () => {
  const counted = { within: true, remaining: 0, limit: { count: 3, seconds: 60 } }
  refuseBeyond([{ ...counted, resetSeconds: 50 }], 'No.')
  const beyond = [10, 30, 20].map((resetSeconds) => ({ ...counted, within: false, resetSeconds }))
  assert.throws(
    () => refuseBeyond([...beyond, { ...counted, resetSeconds: 99 }], 'No.'),
    (error: unknown) => error instanceof Refusal && error.retryAfterSeconds === 30 && error.limitCount === 3,
  )
})

test('an IPv6 subscriber is one network however the address is written, and an IPv4 address is itself, with a port or without', () => {
  const same = [
    '2001:db8:0:1::1',
    '2001:0db8:0000:0001:ffff:ffff:ffff:ffff',
    '2001:DB8:0:1:2:3:4:5',
    '2001:db8::1:0:0:0:9',
  ]
  assert.deepEqual([...new Set(same.map(networkOf))], ['2001:db8:0:1::/64'])
  assert.equal(networkOf('2001:db8:0:2::1'), '2001:db8:0:2::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
  // as some proxies forward it, with the client's port
  for (const text of ['192.0.2.7:51324', '::ffff:192.0.2.7', '[::ffff:192.0.2.7]:443', '192.0.2.7:1'])
    assert.equal(networkOf(text), '192.0.2.7', text)
  for (const text of ['[2001:db8:0:1::1]:443', '[2001:db8:0:1::2]']) assert.equal(networkOf(text), '2001:db8:0:1::/64')
  // a text that is no address is not a network of its own
  const texts = [
    '',
    'unknown',
    '_hidden',
    '192.0.2.7:',
    '192.0.2.777',
    '192.0.2.7:1:2',
    '[192.0.2.7',
    '2001:db8::g',
    'a.example:443',
  ]
  assert.deepEqual([...new Set(texts.map(networkOf))], ['no address'])
  const sites = ['2001:db8:7:1::1', '2001:db8:7:ff00::1', '::1', '192.0.2.7'].map((one) => siteOf(networkOf(one)))
  assert.deepEqual(sites, ['2001:db8:7::/48', '2001:db8:7::/48', '0:0:0::/48', undefined])
})
