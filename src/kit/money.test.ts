import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { SEED, sample } from '../../test/support/seed.ts'
import { newDatabase } from '../../test/support/shop.ts'
import { connect } from './database.ts'
import { CURRENCIES } from './currencies.ts'
import { decimalText, decimalsOf, feeOf, formatMoney, ownSign, share } from './money.ts'

const LARGEST = 999_999_999_999
const amount = fc.oneof(
  fc.integer({ min: 1, max: 1_000_000_000 }),
  fc.integer({ min: 1, max: LARGEST }),
  fc.integer({ min: 1, max: 500 }),
)

test('the fee is 2 % of the amount, to the nearest minor unit, and half a unit goes to the even side', () => {
  fc.assert(
    fc.property(amount, (minor) => {
      const fee = BigInt(feeOf(minor))
      // fee is nearest to minor / 50: twice the distance, in fiftieths, is at most 50
      const distance = 2n * (50n * fee - BigInt(minor))
      assert(distance >= -50n && distance <= 50n)
      if (distance === 50n || distance === -50n) assert.equal(fee % 2n, 0n)
    }),
    { numRuns: 2000 },
  )
  for (const [minor, fee] of [
    [1, 0],
    [24, 0],
    [25, 0],
    [26, 1],
    [74, 1],
    [75, 2],
    [76, 2],
    [124, 2],
    [125, 2],
    [126, 3],
    [175, 4],
    [1900, 38],
    [49_900, 998],
    [LARGEST, 20_000_000_000],
  ])
    assert.equal(feeOf(minor!), fee)
})

test('the seller’s share and the fee always add up to the amount', () => {
  fc.assert(
    fc.property(amount, (minor) => {
      const fee = feeOf(minor)
      assert(Number.isSafeInteger(fee) && fee >= 0 && fee <= minor)
      assert.equal(fee + (minor - fee), minor)
    }),
  )
})

test(`the schema computes the same fee (seed ${SEED})`, async (t) => {
  const { db, close } = connect({ connectionString: await newDatabase(t) }, { connections: 1 })
  t.after(close)
  const amounts = [...Array.from({ length: 1000 }, (_, at) => at + 1), LARGEST, ...sample(amount, 10_000)]
  const { rows } = await sql<{ fee: number }>`
    select fee_of(minor) as fee from unnest(${amounts}::bigint[]) with ordinality as a(minor, at) order by at`.execute(
    db,
  )
  assert.deepEqual(
    rows.map(({ fee }) => fee),
    amounts.map(feeOf),
  )
})

test('shares of a whole, in any parts, add up to the whole', () => {
  fc.assert(
    fc.property(
      amount,
      fc.integer({ min: 1, max: LARGEST }),
      fc.integer({ min: 0, max: LARGEST }),
      (minor, whole, part) => {
        const some = Math.min(part, whole)
        const [result, rest] = [share(minor, some, whole), share(minor, whole, whole)]
        assert.equal(rest, minor)
        assert(result >= 0 && result <= minor)
        // half to even: nearer than half a unit, or exactly half and even
        const twice = 2n * (BigInt(result) * BigInt(whole) - BigInt(minor) * BigInt(some))
        assert(twice >= -BigInt(whole) && twice <= BigInt(whole))
        if (twice === BigInt(whole) || twice === -BigInt(whole)) assert.equal(result % 2, 0)
        assert(share(minor, Math.max(some - 1, 0), whole) <= result, 'more of it is never less')
      },
    ),
  )
})

test('an amount has the decimals of its currency, and every digit of it', () => {
  assert(CURRENCIES.size > 140)
  const decimals = {
    USD: 2,
    EUR: 2,
    INR: 2,
    JPY: 0,
    KRW: 0,
    VND: 0,
    CLP: 0,
    ISK: 0,
    XOF: 0,
    KWD: 3,
    BHD: 3,
    TND: 3,
    OMR: 3,
    HUF: 2,
    TWD: 2,
    IDR: 2,
  }
  for (const [currency, places] of Object.entries(decimals)) assert.equal(decimalsOf(currency), places, currency)
  fc.assert(
    fc.property(amount, fc.constantFrom(...CURRENCIES), (minor, currency) => {
      const text = decimalText(minor, currency)
      const [whole = '', fraction = ''] = text.split('.')
      assert.match(whole, /^(0|[1-9]\d*)$/)
      assert.equal(fraction.length, decimalsOf(currency))
      assert.equal(BigInt(whole + fraction), BigInt(minor))
      assert.equal(decimalText(-minor, currency), `-${text}`)
    }),
  )
  assert.deepEqual(
    [decimalText(5, 'KWD'), decimalText(5, 'JPY'), decimalText(5, 'USD'), decimalText(0, 'USD')],
    ['0.005', '5', '0.05', '0.00'],
  )
})

test('amounts have the same digits in every language', () => {
  fc.assert(
    fc.property(
      amount,
      fc.constantFrom(...CURRENCIES),
      fc.constantFrom('en', 'en-IN', 'de', 'fr', 'ja', 'pt-BR'),
      (minor, currency, locale) => {
        const digits = formatMoney(minor, currency, locale).replace(/\D/g, '')
        assert.equal(digits, decimalText(minor, currency).replace('.', ''))
      },
    ),
  )
  assert.equal(formatMoney(LARGEST, 'USD'), '$9,999,999,999.99')
  assert.equal(formatMoney(49_900, 'INR'), '₹499.00')
  assert.equal(formatMoney(500, 'JPY'), '¥500')
  assert.equal(formatMoney(1, 'USD'), '$0.01')
})

test('a sign that several currencies have stands alone only for the reader’s own', () => {
  const spaced = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')
  for (const [currency, locale, home, shown] of [
    ['USD', 'en-US', undefined, '$19.00'],
    ['USD', 'en-US', 'USD', '$19.00'],
    ['USD', 'en', 'INR', '$19.00'],
    ['CAD', 'en-US', 'USD', 'CA$19.00'],
    ['AUD', 'en', undefined, 'A$19.00'],
    ['CAD', 'en-CA', 'CAD', '$19.00'],
    ['USD', 'en-CA', undefined, 'US$19.00'],
    // the browser is American, and the buyer is in Canada
    ['USD', 'en-US', 'CAD', 'US$19.00'],
    ['CAD', 'en-US', 'CAD', 'CA$19.00'],
    ['CAD', 'en-CA', 'USD', 'CA$19.00'],
    ['USD', 'de', 'AUD', '19,00 US$'],
    ['MXN', 'es-MX', 'USD', 'MX$19.00'],
    ['EUR', 'en-US', 'CAD', '€19.00'],
    ['GBP', 'en-GB', 'USD', '£19.00'],
    ['SEK', 'sv', 'NOK', '19,00 SEkr'],
  ] as const) {
    const sign = home && ownSign(home)
    const text = formatMoney(1900, currency, locale, home && sign ? { currency: home, sign } : undefined)
    assert.equal(spaced(text), shown, `${currency} in ${locale} for ${home}`)
  }
  assert.equal(formatMoney(1900, 'JPY', 'en', { currency: 'CNY', sign: ownSign('CNY') }), 'JP¥1,900')
  assert.equal(formatMoney(-1900, 'USD', 'en', { currency: 'CAD', sign: '$' }), '-US$19.00')
})
