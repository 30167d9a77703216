import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CURRENCIES } from '../../kit/money.ts'
import { RAILS, type Rail } from '../../orders/states.ts'
import { checkedMethods, methodsFor, railUsed, railsFor } from './rails.ts'

test('without a list, the rails are those that every account has', () => {
  for (const currency of CURRENCIES)
    assert.deepEqual(railsFor(undefined, currency), ['card', 'debit', 'apple_pay', 'google_pay', 'wallet'])
})

test('with a list, a currency has the rails of the ways that take it', () => {
  const configured = ['card', 'sepa_debit', 'ideal', 'upi', 'paypal', 'us_bank_account']
  const expected: Record<string, Rail[]> = {
    EUR: ['card', 'debit', 'apple_pay', 'google_pay', 'bank_transfer', 'wallet'],
    INR: ['card', 'debit', 'apple_pay', 'google_pay', 'upi', 'wallet'],
    USD: ['card', 'debit', 'apple_pay', 'google_pay', 'wallet'],
  }
  for (const [currency, rails] of Object.entries(expected))
    assert.deepEqual(railsFor(configured, currency), rails, currency)
  assert.deepEqual(methodsFor(['ideal'], 'USD'), [])
  assert.deepEqual(railsFor(['ideal'], 'USD'), [])
})

test('a list of nothing is no list, and what is not known is named', () => {
  assert.equal(checkedMethods([]), undefined)
  assert.equal(checkedMethods(undefined), undefined)
  assert.deepEqual(checkedMethods(['card', 'ideal']), ['card', 'ideal'])
  assert.throws(() => checkedMethods(['card', 'idael', '__proto__']), /idael, __proto__/)
})

test('whatever was paid with is one of our rails', () => {
  const table: [type: string, rail: Rail][] = [
    ['card', 'card'],
    ['kr_card', 'card'],
    ['card_present', 'card'],
    ['interac_present', 'debit'],
    ['us_bank_account', 'debit'],
    ['sepa_debit', 'debit'],
    ['bacs_debit', 'debit'],
    ['ach_debit', 'debit'],
    ['customer_balance', 'bank_transfer'],
    ['sepa_credit_transfer', 'bank_transfer'],
    ['ideal', 'bank_transfer'],
    ['pix', 'bank_transfer'],
    ['upi', 'upi'],
    ['link', 'wallet'],
    ['klarna', 'wallet'],
    ['of_next_year', 'wallet'],
    ['toString', 'wallet'],
  ]
  for (const [type, rail] of table) assert.equal(railUsed({ type }), rail, type)
  const card = (more: object): Rail => railUsed({ type: 'card', card: more })
  assert.equal(card({ funding: 'debit' }), 'debit')
  assert.equal(card({ funding: 'prepaid' }), 'card')
  assert.equal(card({ funding: null }), 'card')
  assert.equal(card({ funding: 'debit', wallet: { type: 'apple_pay' } }), 'apple_pay')
  assert.equal(card({ funding: 'credit', wallet: { type: 'google_pay' } }), 'google_pay')
  assert.equal(card({ wallet: { type: 'samsung_pay' } }), 'wallet')
  assert.equal(railUsed({ type: 'card', card: null }), 'card')
  for (const [, rail] of table) assert(RAILS.includes(rail))
})
