import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../kit/errors.ts'
import { decimalText, decimalsOf } from '../kit/money.ts'
import { compactDescriptor, minorUnits, readAmount, readStatementLine } from './statement-line.ts'

const minorsOf = (text: string, decimals = 2) =>
  readAmount(text)
    .map((amount) => minorUnits(amount, decimals))
    .filter((minor) => minor !== undefined)

test('amounts are understood in the notations of people and banks', () => {
  for (const [text, minor] of [
    ['499', 49_900],
    ['499.00', 49_900],
    ['499,00', 49_900],
    ['4,99', 499],
    ['4.99', 499],
    ['4.9', 490],
    ['0,05', 5],
    [' 499.00 ', 49_900],
    ['-499.00', 49_900],
    ['499.00-', 49_900],
    ['₹499', 49_900],
    ['Rs. 499.00', 49_900],
    ['499.00 INR', 49_900],
    ['EUR 4,99', 499],
    ['4,99 €', 499],
    ['$1,234.50', 123_450],
    ['1.234,50', 123_450],
    ['1 234,50', 123_450],
    ['1\u00a0234,50', 123_450],
    ['1\u202f234,50', 123_450],
    ["1'234.50", 123_450],
    ['1’234.50', 123_450],
    ['1,00,000.00', 10_000_000],
    ['1.234.567,89', 123_456_789],
    ['1,234,567', 123_456_700],
    ['499.', 49_900],
    ['499,-', 49_900],
    ['００４９９', 49_900],
    ['4.990', 499_000],
    ['٤٫٩٩', 499],
    ['١٬٢٣٤٫٥٠ ج.م.', 123_450],
    ['۴٫۹۹', 499],
    ['१,२३,४५६.५०', 12_345_650],
  ] as const)
    // oxfmt-ignore
    assert(minorsOf(text).includes(minor), `${text}: ${minorsOf(text).join(' ')}`)
  assert.deepEqual(minorsOf('1.234', 3), [1_234_000, 1234], 'thousands, or three decimals')
  assert.deepEqual(minorsOf('1.234', 2), [123_400])
  assert.deepEqual(minorsOf('500', 0), [500])
  assert.deepEqual(minorsOf('500.00', 0), [500])
  assert.deepEqual(minorsOf('500.50', 0), [], 'there is no half yen')
  assert.deepEqual(minorsOf('4.995'), [499_500])
  for (const text of ['', ' ', 'abc', '.', '€', '1'.repeat(16), `${'1,'.repeat(20)}1`, '1.2.3', '1,2,3'])
    assert.deepEqual(readAmount(text), [], text)
})

test('a price in any notation is parsed back to the same amount', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 999_999_999_999 }),
      fc.constantFrom('USD', 'JPY', 'KWD', 'INR'),
      fc.constantFrom('en', 'de', 'fr', 'de-CH', 'en-IN', 'pt-BR', ''),
      (amountMinor, currency, locale) => {
        const places = decimalsOf(currency)
        const exact = decimalText(amountMinor, currency)
        const format = { style: 'currency', currency, minimumFractionDigits: places } as const
        const text = locale ? new Intl.NumberFormat(locale, format).format(exact as `${number}`) : exact
        assert(minorsOf(text, places).includes(amountMinor), `${text}: ${amountMinor}`)
      },
    ),
  )
})

test('the text of a line is reduced to its letters and digits', () => {
  for (const text of ['TILL INVOICE PACK', 'till* invoice  pack', ' Till *Invoice-Pack. ', 'ＴＩＬＬ　ＩＮＶＯＩＣＥ　ＰＡＣＫ', 'TILLINVOICEPACK'])
    assert.equal(compactDescriptor(text), 'TILLINVOICEPACK') // oxfmt-ignore
})

test('a line without enough to search for is refused, and the refusal names the missing field', () => {
  for (const [typed, path] of [
    [{}, 'descriptor'],
    [{ descriptor: ' ', amount: '', date: ' ' }, 'descriptor'],
    [{ descriptor: '*-*' }, 'descriptor'],
    [{ descriptor: 'T *I' }, 'descriptor'],
    [{ descriptor: 'Ünä' }, 'descriptor'],
    [{ amount: '4.99' }, 'date'],
    [{ date: '2026-01-31' }, 'amount'],
    [{ amount: 'four', date: '2026-01-31' }, 'amount'],
    [{ descriptor: 'TILL', amount: '4.99' }, 'date'],
    ...[
      '31.01.2026',
      '2026-1-31',
      '2026-02-30',
      '2026-13-01',
      '0000-01-01',
      '1999-12-31',
      '+20260131',
      'today',
      '2026-01-31T00:00',
    ].map((date) => [{ amount: '4.99', date }, 'date'] as const),
  ] as const)
    // oxfmt-ignore
    assert.throws(
      () => readStatementLine(typed),
      (error) => error instanceof Refusal && error.code === 'validation_failed' && error.fields?.[0]?.path === path,
      JSON.stringify(typed),
    )
  assert.deepEqual(readStatementLine({ descriptor: ' Till* ', amount: ' ' }), { descriptor: 'TILL' })
  assert.deepEqual(readStatementLine({ amount: '5', date: '2026-03-01' }).sale, {
    amounts: [{ whole: '5', fraction: '' }],
    from: new Date('2026-02-26T00:00:00Z'),
    until: new Date('2026-03-05T00:00:00Z'),
  })
})
