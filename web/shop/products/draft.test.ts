import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Product } from '../api.ts'
import {
  type Draft,
  amountOf,
  changesOf,
  draftOf,
  faultsOf,
  inputOf,
  newDraft,
  newInputOf,
  pricesOf,
  rebase,
} from './draft.ts'

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
    const price = 'suggestedAmount' in more ? { amount: more.suggestedAmount, minimum: amount } : { amount }
    const prices = [{ currency, ...price }]
    const product = { name: 'Guide', description: '', amount, currency, prices, statementSuffix: 'GUIDE', ...more } as Product // oxfmt-ignore
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

test('further prices are read in their own currencies, and all are sent together when one has changed', () => {
  const rupees = { currency: 'INR', price: '499', suggested: '' }
  const yen = { currency: 'JPY', price: '2500', suggested: '' }
  const base = draft({ price: '19.00', currency: 'USD', further: [rupees] })
  const all = [
    { currency: 'USD', amount: 1900 },
    { currency: 'INR', amount: 49_900 },
  ]
  assert.deepEqual(pricesOf(base), all)
  assert.deepEqual(newInputOf(base).prices, all)
  assert.equal(newInputOf(base).amount, undefined)
  assert.deepEqual([newInputOf(draft()).amount, newInputOf(draft()).prices], [1900, undefined])
  assert.deepEqual(changesOf({ ...base, name: 'Other' }, base), { name: 'Other' })
  assert.deepEqual(changesOf({ ...base, further: [{ ...rupees, price: '₹499.00' }] }, base), {})
  const more = changesOf({ ...base, further: [rupees, yen] }, base)
  assert.deepEqual(more, { prices: [...all, { currency: 'JPY', amount: 2500 }] })
  assert.deepEqual(changesOf({ ...base, further: [] }, base), { prices: all.slice(0, 1) })
  // the default price changes together with the others, and a free product has one price
  assert.deepEqual(changesOf({ ...base, price: '20' }, base).prices![0], { currency: 'USD', amount: 2000 })
  assert.deepEqual(changesOf({ ...base, pricing: 'free' }, base), {
    prices: [{ currency: 'USD', amount: 0 }],
  })
  const product = { name: 'Guide', description: '', amount: 1900, currency: 'USD', prices: all, statementSuffix: 'G' }
  assert.deepEqual(pricesOf(draftOf(product as Product)), all)
})

test('a further price that cannot be read is marked at its place', () => {
  const faults = (one: object, more: Partial<Draft> = {}) =>
    faultsOf(draft({ ...more, further: [{ currency: 'JPY', price: '1', suggested: '', ...one }] })).further0
  assert.equal(faults({}), undefined)
  assert.match(faults({ price: '19.00' })!, /no decimals/)
  assert.match(faults({ price: '' })!, /enter a price/)
  assert.match(faults({ price: '0' })!, /Remove/)
  assert.match(faults({ currency: 'USD' })!, /already/)
  assert.equal(faults({ price: '' }, { pricing: 'chosen' }), undefined)
  assert.match(faults({ price: '500', suggested: '400' }, { pricing: 'chosen' })!, /no less/)
  assert.equal(faults({ price: 'x' }, { pricing: 'free' }), undefined)
  const chosen = draft({ pricing: 'chosen', price: '5', suggested: '9', further: [{ currency: 'JPY', price: '', suggested: '700' }] }) // oxfmt-ignore
  assert.deepEqual(pricesOf(chosen), [
    { currency: 'USD', amount: 900, minimum: 500 },
    { currency: 'JPY', amount: 700, minimum: 0 },
  ])
})
