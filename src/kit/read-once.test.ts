import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOnce } from './read-once.ts'

test('a value is read once for all who wait, and a failed read is repeated by the next use', async () => {
  let [reads, fails] = [0, true]
  const read = readOnce(async (name: string) => {
    reads++
    if (fails) throw new Error('EMFILE')
    return `text of ${name}`
  })
  const waiting = await Promise.allSettled([read('a'), read('a')])
  assert.deepEqual(
    waiting.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(reads, 1)
  fails = false
  assert.deepEqual(await Promise.all([read('a'), read('a')]), ['text of a', 'text of a'])
  assert.equal(await read('a'), 'text of a')
  assert.equal(reads, 2)
  assert.equal(await read('b'), 'text of b')
  assert.equal(reads, 3)
})
