import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesOf } from './gigabytes.ts'

test('a quota that can mean two numbers is refused', () => {
  for (const typed of ['1,000', '1.000', '12,500', '1,000,000', '1,000.5', 'x', '-1', '1e3', '1000001'])
    assert.equal(bytesOf(typed), undefined, typed)
  for (const [typed, bytes] of [
    ['0', 0],
    ['20', 20e9],
    [' 1,5 ', 1.5e9],
    ['0.125', 0.125e9],
    ['1000', 1e12],
    ['٢٠', 20e9],
  ] as const)
    assert.equal(bytesOf(typed), bytes, typed)
})
