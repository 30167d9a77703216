import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from './ids.ts'
import { endOfNumber, shortNumber } from './order-number.ts'

test('a short number is the end of the id, and is found again as people type it', () => {
  const id = 'ord_01m86sv7smfrt7x6cq8d1q0rnd'
  assert.equal(shortNumber(id), '8D1Q-0RND')
  for (const typed of ['8D1Q-0RND', ' 8d1q-0rnd ', '8d1q0rnd', '8DIQ ORND', '8dlq-Ornd']) assert.equal(endOfNumber(typed), '8d1q0rnd', typed) // oxfmt-ignore
  for (const typed of ['', '8D1Q', '8D1Q-0RNDX', '8D1Q--0RND', 'ann@shop.test', id]) assert.equal(endOfNumber(typed), undefined, typed) // oxfmt-ignore
  for (let n = 0; n < 100; n++) {
    const made = newId('ord')
    assert(made.endsWith(endOfNumber(shortNumber(made))!))
  }
})
