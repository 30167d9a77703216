import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CURRENCIES } from '../../src/kit/currencies.ts'
import { decimalsOf, decimalText, formatMoney } from '../../src/kit/money.ts'
import { en } from '../../src/words/en.ts'
import { say } from '../../src/words/say.ts'
import { readAmount } from './amounts.ts'

const read = (typed: string, currency: string) =>
  readAmount(typed, currency, decimalsOf(currency), { words: en.ui, say })

test('an amount is read as it is written, in the decimals of its currency', () => {
  const amounts: [string, string, number][] = [
    ['499', 'INR', 49900],
    ['499.00', 'INR', 49900],
    ['499.5', 'INR', 49950],
    ['9,50', 'EUR', 950],
    ['9,50', 'USD', 950],
    ['1,234.50', 'USD', 123450],
    ['1.234,50', 'EUR', 123450],
    ['1,23,456', 'INR', 12345600],
    ['12,34,567.50', 'INR', 123456750],
    ['1,234,567', 'USD', 123456700],
    ['1.234.567', 'EUR', 123456700],
    ["1'234.05", 'USD', 123405],
    ['1’234.05', 'CHF', 123405],
    ['1 234,05', 'EUR', 123405],
    ['1\u202f234', 'EUR', 123400],
    [' 0.01 ', 'USD', 1],
    ['.5', 'USD', 50],
    ['5.', 'USD', 500],
    ['007', 'USD', 700],
    ['0', 'USD', 0],
    ['1500', 'JPY', 1500],
    ['1,500', 'JPY', 1500],
    ['1,500,000', 'JPY', 1500000],
    ['1.234', 'KWD', 1234],
    ['12.5', 'KWD', 12500],
    ['0,500', 'KWD', 500],
    ['١٢٫٥٠', 'USD', 1250],
    ['١٬٢٣٤٫٥٠', 'USD', 123450],
    ['۴٫۹۹', 'USD', 499],
    ['१,२३,४५६.५०', 'INR', 12345650],
    ['١٫٢٣٤', 'KWD', 1234],
    ['٥', 'KWD', 5000],
    ['1,234.500', 'KWD', 1234500],
    ['1.234,500', 'KWD', 1234500],
    ['1', 'KWD', 1000],
  ]
  for (const [typed, currency, minor] of amounts)
    assert.deepEqual(read(typed, currency), { minor }, `${typed} ${currency}`)
})

test('the sign or the code of the currency may stand on either side, and that of another is refused', () => {
  const amounts: [string, string, number][] = [
    ['$9', 'USD', 900],
    ['$ 1,234.50', 'USD', 123450],
    ['US$9', 'USD', 900],
    ['9 usd', 'USD', 900],
    ['CA$9', 'CAD', 900],
    ['9,50 €', 'EUR', 950],
    ['₹500', 'INR', 50000],
    ['Rs. 500', 'INR', 50000],
    ['¥1,500', 'JPY', 1500],
    ['KWD 1.250', 'KWD', 1250],
  ]
  for (const [typed, currency, minor] of amounts)
    assert.deepEqual(read(typed, currency), { minor }, `${typed} ${currency}`)
  for (const [typed, currency] of [
    ['€9', 'USD'],
    ['9 EUR', 'USD'],
    ['$9', 'INR'],
    ['$9$', 'USD'],
  ] as const)
    assert.match(read(typed, currency).fault ?? '', new RegExp(`amount in ${currency}`), `${typed} ${currency}`)
})

test('a text with two meanings is refused, and both are named as they can be written', () => {
  const refused: [string, string, string, string][] = [
    ['12.345', 'USD', '12,345.00', '12.34'],
    ['7.000', 'USD', '7,000.00', '7.00'],
    ['$7.000', 'USD', '7,000.00', '7.00'],
    ['24.555', 'EUR', '24,555.00', '24.55'],
    ['1,234', 'USD', '1,234.00', '1.23'],
    ['7.000', 'JPY', '7,000', '7'],
    ['1,234', 'KWD', '1,234.000', '1.234'],
  ]
  for (const [typed, currency, large, small] of refused) {
    assert.deepEqual(read(typed, currency), { fault: `Is that ${large} or ${small}? Please write one of the two.` })
    for (const one of [large, small]) assert.notEqual(read(one, currency).minor, undefined, `${one} ${currency}`)
  }
})

test('a text with more decimals than the currency has, or that is no amount, is refused', () => {
  for (const [typed, currency, fault] of [
    ['1.2345', 'USD', /^USD has 2 decimals at most/],
    ['1,234.567', 'USD', /^USD has 2 decimals at most/],
    ['0.125', 'USD', /^USD has 2 decimals at most/],
    ['1.5', 'JPY', /^JPY has no decimals/],
    ['9.00', 'JPY', /^JPY has no decimals/],
    ['1.2345', 'KWD', /^KWD has 3 decimals at most/],
    ['9.99.9', 'USD', /as in 9\.50/],
    ['1,23.45', 'USD', /as in 9\.50/],
    ['1,234,50', 'USD', /as in 9\.50/],
    ['1.234 567', 'USD', /as in 9\.50/],
    ['9 50', 'USD', /as in 9\.50/],
    ['', 'USD', /as in 9\.50/],
    ['.', 'USD', /as in 9\.50/],
    ['abc', 'USD', /as in 9\.50/],
    ['abc', 'JPY', /as in 950/],
    ['abc', 'KWD', /as in 0\.950/],
    ['-5', 'USD', /as in 9\.50/],
    ['+5', 'USD', /as in 9\.50/],
    ['1e5', 'USD', /as in 9\.50/],
    ['12345678901234567', 'USD', /more than can be paid/],
  ] as const)
    assert.match(read(typed, currency).fault ?? 'it was read', fault, `${typed} ${currency}`)
})

test('amounts that the pages write are read back to the same value, in every currency', () => {
  for (const code of CURRENCIES) {
    const reads = (minor: number) => {
      assert.deepEqual(read(decimalText(minor, code), code), { minor })
      const grouped = formatMoney(minor, code)
      // "1,234" without decimals is refused where a currency has some. With decimals it has one meaning.
      assert.deepEqual(read(grouped, code), { minor }, grouped)
    }
    for (const minor of [0, 1, 99, 1_000, 123_456, 999_999_999]) reads(minor)
    fc.assert(fc.property(fc.integer({ min: 0, max: 999_999_999 }), reads), { numRuns: 20 })
  }
})

test('no text is read as more digits than it has', () => {
  const text = fc.array(fc.constantFrom(..."0123456789.,' $€")).map((all) => all.join(''))
  fc.assert(
    fc.property(text, fc.constantFrom('USD', 'JPY', 'KWD'), (typed, code) => {
      const { minor } = read(typed, code)
      if (minor === undefined) return
      const digits = typed.replace(/\D/g, '')
      assert.ok(minor <= Number(digits) * 10 ** decimalsOf(code), `${typed} ${code}`)
    }),
  )
})
