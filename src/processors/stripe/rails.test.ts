import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CURRENCIES } from '../../kit/currencies.ts'
import { RAILS, type Rail } from '../rails.ts'
import { checkedMethods, methodsFor, railUsed, railsFor } from './rails.ts'

test('while the account’s offers are unknown, only cards are shown', () => {
  for (const currency of CURRENCIES) assert.deepEqual(railsFor(undefined, currency, undefined), ['card', 'debit'])
  assert.deepEqual(railsFor(['card', 'ideal'], 'EUR', undefined), ['card', 'debit', 'bank_transfer'])
})

test('the rails are those that the account offers in the currency, and no others', () => {
  const offered = ['card', 'google_pay', 'ideal', 'us_bank_account', 'link', 'cartes_bancaires', 'way_of_next_year']
  const expected: Record<string, Rail[]> = {
    EUR: ['card', 'debit', 'google_pay', 'bank_transfer', 'wallet'],
    USD: ['card', 'debit', 'google_pay', 'wallet'],
  }
  for (const [currency, rails] of Object.entries(expected))
    assert.deepEqual(railsFor(undefined, currency, offered), rails, currency)
  assert.deepEqual(railsFor(undefined, 'USD', ['ideal', 'apple_pay']), [], 'no card, no wallet of a device')
  assert.deepEqual(railsFor(['card', 'sepa_debit'], 'EUR', ['card', 'apple_pay', 'link']), [
    'card',
    'debit',
    'apple_pay',
  ])
})

test('with a list, a currency has the rails of the methods that support it', () => {
  const configured = ['card', 'sepa_debit', 'ideal', 'upi', 'paypal', 'us_bank_account']
  const offered = [...configured, 'apple_pay', 'google_pay', 'link']
  const expected: Record<string, Rail[]> = {
    EUR: ['card', 'debit', 'apple_pay', 'google_pay', 'bank_transfer', 'wallet'],
    INR: ['card', 'debit', 'apple_pay', 'google_pay', 'upi', 'wallet'],
    USD: ['card', 'debit', 'apple_pay', 'google_pay', 'wallet'],
  }
  for (const [currency, rails] of Object.entries(expected))
    assert.deepEqual(railsFor(configured, currency, offered), rails, currency)
  assert.deepEqual(methodsFor(['ideal'], 'USD'), [])
  assert.deepEqual(railsFor(['ideal'], 'USD', ['ideal']), [])
})

test('an empty list is no list, and the refusal names unknown methods', () => {
  assert.equal(checkedMethods([]), undefined)
  assert.equal(checkedMethods(undefined), undefined)
  assert.deepEqual(checkedMethods(['card', 'ideal']), ['card', 'ideal'])
  assert.throws(() => checkedMethods(['card', 'idael', '__proto__']), /idael, __proto__/)
})

test('every payment method maps to one of our rails', () => {
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
