import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCENARIOS } from '../../src/processors/sandbox/bank.ts'
import { CARDS, expiryText, faultsOf, filled, grouped, scenarioOf } from './sandbox-cards.ts'

const NOW = new Date('2026-11-25T12:00:00Z')

/** The check digit that every card number has. */
function isCardNumber(number: string): boolean {
  const sum = [...number].reverse().reduce((all, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1)
    return all + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

test('the sandbox has one card for each scenario, with a number that a card could have', () => {
  // How a refund goes is not for the buyer to choose.
  const chosen = SCENARIOS.filter((one) => !one.endsWith('_refund'))
  assert.deepEqual(CARDS.map(([, scenario]) => scenario).sort(), chosen.sort())
  for (const [number] of CARDS) {
    assert.ok(isCardNumber(number), number)
    assert.deepEqual(faultsOf(filled(number), NOW), {})
  }
})

test('a number that is not in the list is refused, also one that a bank could have issued', () => {
  for (const number of [
    '4111111111111111',
    '5555555555554444',
    '424242424242424',
    '42424242424242422',
    '٤٢٤٢',
    'abc',
    '',
  ])
    assert.ok(faultsOf({ ...filled('4242424242424242'), number }, NOW).number, number)
  assert.equal(scenarioOf('4242-4242 4242 4242'), 'success')
})

test('a date that is over or no date, and a code without three digits, are refused', () => {
  const card = filled('4242424242424242')
  for (const [expiry, isGood] of [
    ['11 / 26', true],
    ['10 / 26', false],
    ['1126', true],
    ['13 / 30', false],
    ['00 / 30', false],
    ['1', false],
    ['', false],
  ] as const)
    assert.equal(faultsOf({ ...card, expiry }, NOW).expiry === undefined, isGood, expiry)
  for (const [cvc, isGood] of [
    ['123', true],
    ['1234', true],
    ['12', false],
    ['12a', false],
    ['', false],
  ] as const)
    assert.equal(faultsOf({ ...card, cvc }, NOW).cvc === undefined, isGood, cvc)
})

test('what is typed is shown as it stands on a card', () => {
  assert.equal(grouped('4242424242424242'), '4242 4242 4242 4242')
  assert.equal(grouped('4242-42a42'), '4242 4242')
  assert.equal(expiryText('1234'), '12 / 34')
  assert.equal(expiryText('12'), '12')
  assert.equal(expiryText('9'), '09')
  assert.equal(expiryText('930'), '09 / 30')
})
