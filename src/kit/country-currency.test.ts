import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currenciesOf } from './country-currency.ts'
import { isCountry } from './country.ts'
import { CURRENCIES } from './currencies.ts'

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const COUNTRIES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).filter(isCountry)

test('every country has a currency that a price can be in, apart from three', () => {
  const without = COUNTRIES.filter((country) => currenciesOf(country).length === 0)
  // the Antarctic has none, and the Caribbean guilder of the other two is no currency of ours
  assert.deepEqual(
    without.filter((country) => !OUTDATED.has(country)),
    ['AQ', 'CW', 'SX'],
  )
  for (const country of COUNTRIES)
    for (const currency of currenciesOf(country)) assert(CURRENCIES.has(currency), `${country}: ${currency}`)
})

test('recent changes of currency are known, and a country’s own currency comes first', () => {
  for (const [country, currencies] of [
    ['US', ['USD']],
    ['IN', ['INR']],
    ['BG', ['EUR']],
    ['HR', ['EUR']],
    ['GG', ['GBP']],
    ['CU', ['CUP']],
    ['ZW', ['USD']],
    ['BT', ['BTN', 'INR']],
    ['NA', ['NAD', 'ZAR']],
    ['PA', ['PAB', 'USD']],
    ['XK', ['EUR']],
  ] as const)
    assert.deepEqual(currenciesOf(country), currencies, country)
  for (const unknown of [undefined, '', 'XX', 'EU', 'de', '__proto__', 'constructor'])
    assert.deepEqual(currenciesOf(unknown), [])
})

/** Names of countries that exist no more, and other names of those that do. */
const OUTDATED: ReadonlySet<string> = new Set('AN BU CP CQ CS DD DY FX HV NH RH SU TP UK VD YD YU ZR'.split(' '))
