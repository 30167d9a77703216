import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newDatabase } from '../../test/shop.ts'
import { connect } from './database.ts'
import { sweepLimits, withinLimit } from './limits.ts'

test('of fifty uses at once over two instances as many are within the limit as it allows, and the time brings new ones', async (t) => {
  const url = await newDatabase(t)
  const instances = [1, 2].map(() => connect({ connectionString: url }, { connections: 4, onError: () => {} }))
  for (const { close } of instances) t.after(close)
  const [{ db }] = instances as [(typeof instances)[0]]
  const limit = { count: 5, seconds: 600 }

  const uses = await Promise.all(Array.from({ length: 50 }, (_, at) => withinLimit(instances[at % 2]!.db, 'a', limit)))
  assert.equal(uses.filter(({ within }) => within).length, 5)
  for (const { retryAfterSeconds } of uses) assert(retryAfterSeconds > 500 && retryAfterSeconds <= 600)
  assert.equal((await withinLimit(db, 'b', limit)).within, true, 'another key is counted by itself')

  await sql`update limits set until = now() - interval '1 second' where key = 'a'`.execute(db)
  const again = await withinLimit(db, 'a', limit)
  assert.deepEqual([again.within, again.retryAfterSeconds > 500], [true, true])
  for (let at = 0; at < 4; at++) assert((await withinLimit(db, 'a', limit)).within)
  assert(!(await withinLimit(db, 'a', limit)).within)

  await sql`update limits set until = now() - interval '2 minutes' where key = 'a'`.execute(db)
  await sweepLimits(db)
  const { rows } = await sql<{ key: string }>`select key from limits`.execute(db)
  assert.deepEqual(rows, [{ key: 'b' }], 'what is over is forgotten')
})
