import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Product } from '../api.ts'
import { amountOf, changesOf, draftOf, faultsOf, inputOf, newDraft, rebase, type Draft } from './draft.ts'

const draft = (change: Partial<Draft> = {}): Draft => ({ ...newDraft(), name: 'Guide', price: '19', ...change })

test('a price is read with its currency’s decimals, and a wrong one is marked at the field', () => {
  assert.equal(amountOf(draft({ price: '19', currency: 'USD' })), 1900)
  assert.equal(amountOf(draft({ price: '1500', currency: 'JPY' })), 1500)
  assert.equal(amountOf(draft({ price: '1.5', currency: 'KWD' })), 1500)
  assert.match(faultsOf(draft({ price: '19.00', currency: 'JPY' })).price!, /no decimals/)
  assert.match(faultsOf(draft({ price: 'ten' })).price!, /as in 9\.50/)
  assert.match(faultsOf(draft({ price: 'x', currency: 'KWD' })).price!, /as in 0\.950/)
  assert.equal(amountOf(draft({ price: '$5' })), 500)
  assert.match(faultsOf(draft({ price: '24.555' })).price!, /24,555\.00 or 24\.55/)
  assert.match(faultsOf(draft({ price: '' })).price!, /enter a price/)
  assert.match(faultsOf(draft({ price: '0' })).price!, /Free/)
  assert.match(faultsOf(draft({ name: ' ' })).name!, /name/)
  assert.deepEqual(faultsOf(draft()), {})
})

test('free, and pay what you want: text typed for another kind of price is not sent', () => {
  const free = inputOf(draft({ pricing: 'free', price: '19', suggested: '30' }))
  assert.deepEqual([free.amount, free.payWhatYouWant, free.suggestedAmount], [0, false, null])
  const chosen = inputOf(draft({ pricing: 'chosen', price: '', suggested: '5' }))
  assert.deepEqual([chosen.amount, chosen.payWhatYouWant, chosen.suggestedAmount], [0, true, 500])
  assert.match(faultsOf(draft({ pricing: 'chosen', price: '9', suggested: '5' })).suggested!, /no less/)
  assert.match(faultsOf(draft({ pricing: 'chosen', price: '', suggested: '0' })).suggested!, /no less/)
})

test('a product becomes a form and the same product again', () => {
  for (const [amount, currency, more] of [
    [1900, 'USD', {}],
    [1500, 'JPY', {}],
    [1, 'KWD', {}],
    [0, 'USD', {}],
    [0, 'INR', { payWhatYouWant: true, suggestedAmount: 10_000 }],
  ] as const) {
    const product = { name: 'Guide', description: '', amount, currency, statementSuffix: 'GUIDE', ...more } as Product
    const made = inputOf(draftOf(product))
    assert.deepEqual([made.amount, made.payWhatYouWant], [amount, 'payWhatYouWant' in more])
    assert.deepEqual(faultsOf(draftOf(product)), {})
  }
})

test('only changed fields are sent, and on a newer version they stay beside another person’s changes', () => {
  const base = draft()
  const mine = { ...base, name: 'Field guide' }
  assert.deepEqual(changesOf(mine, base), { name: 'Field guide' })
  assert.deepEqual(changesOf({ ...base, price: '19.00' }, base), {})
  const beside = rebase(mine, base, { ...base, price: '25' })
  assert.deepEqual([beside.draft.name, beside.draft.price, beside.both], ['Field guide', '25', []])
  const same = rebase(mine, base, { ...base, name: 'Another guide' })
  assert.deepEqual([same.draft.name, same.both], ['Field guide', ['name']])
})
