import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedAnswer } from './health.ts'

test('simultaneous readiness checks share one query, and the next ones reuse its result for a moment', async () => {
  let clock = 0
  const asked: PromiseWithResolvers<string>[] = []
  const ask = sharedAnswer(
    () => {
      asked.push(Promise.withResolvers())
      return asked.at(-1)!.promise
    },
    500,
    () => clock,
  )
  const many = Array.from({ length: 1000 }, ask)
  clock = 60_000
  const late = ask()
  assert.equal(asked.length, 1, 'it has not answered yet')
  asked[0]!.resolve('yes')
  assert.deepEqual([...new Set(await Promise.all([...many, late]))], ['yes'])
  clock += 499
  assert.equal(await ask(), 'yes')
  assert.equal(asked.length, 1)
  clock += 1
  const next = ask()
  assert.equal(asked.length, 2)
  asked[1]!.reject(new Error('no'))
  await assert.rejects(next, /no/)
  clock += 499
  await assert.rejects(ask(), /no/)
  assert.equal(asked.length, 2)
  clock += 1
  void ask()
  assert.equal(asked.length, 3)
})
