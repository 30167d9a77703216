import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockWords } from './payout-words.ts'

test('a line below zero says that its seller owes only where the balance is below zero too', () => {
  const line = { blocked: 'negative_balance', currency: 'EUR' } as const
  assert.equal(blockWords({ ...line, balance: -2020 }), 'The seller owes €20.20: it is carried forward')
  for (const balance of [0, 2900])
    assert.equal(blockWords({ ...line, balance }), 'More has gone out than is due yet: pending sales make up for it')
  assert.equal(blockWords(line), 'Below zero: it is carried forward')
})
