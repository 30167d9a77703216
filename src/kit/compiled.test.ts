import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../test/support/shop.ts'
import { compiledOnce } from './compiled.ts'
import { connect } from './database.ts'

test('a statement is built once, each run has its own values, and a missing one is refused, not sent as null', async (t) => {
  const { db, close } = connect({ connectionString: await newDatabase(t) }, { connections: 2 })
  t.after(close)
  let builds = 0
  const sum = compiledOnce<Record<'one' | 'other', number | null>, { sum: number; rest: number }>((given) => {
    builds += 1
    return sql`select ${given('one')}::int + ${given('other')}::int as sum, ${10}::int - ${given('one')}::int as rest`
  })

  assert.deepEqual(await Promise.all([sum(db, { one: 1, other: 2 }), sum(db, { other: 5, one: 4 })]), [
    [{ sum: 3, rest: 9 }],
    [{ sum: 9, rest: 6 }],
  ])
  assert.deepEqual(await sum(db, { one: 7, other: 1 }), [{ sum: 8, rest: 3 }])
  assert.equal(builds, 1)
  // @ts-expect-error: a caller of ours cannot leave a value out
  await assert.rejects(sum(db, { one: 1 }), /\$2 has no value: other/)
  const broken = compiledOnce(() => sql`select ${undefined}::int`)
  await assert.rejects(broken(db, {}), /\$1 has no value: fixed/)
  assert.deepEqual(await sum(db, { one: null, other: 1 }), [{ sum: null, rest: null }])
})
