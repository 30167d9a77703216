import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { aside } from '../../test/support/aside.ts'
import { addressHoldsCardNumber, headHoldsCardNumber, holdsCardNumber, jsonHoldsCardNumber } from './card-numbers.ts'
import { type IdPrefix, newId } from './ids.ts'

/** Numbers that the networks and processors publish for tests, which no account has. */
const NUMBERS = {
  'Visa, 13': '4222222222222',
  'Visa, 16': '4242424242424242',
  'Visa, 19': '4000000000000000006',
  Mastercard: '5555555555554444',
  'Mastercard, 2 series': '2223003122003222',
  'the last of the 2 series': '2720990000000007',
  'American Express': '378282246310005',
  Discover: '6011111111111117',
  'Discover, 65': '6555900000604105',
  'Diners Club, 14': '36227206271667',
  'Diners Club, 16': '3056930009020004',
  JCB: '3566002020360505',
  UnionPay: '6200000000000005',
  'UnionPay, 19': '6205500000000000004',
  Maestro: '6759649826438453',
  'Maestro, 50': '5018000000000009',
  'RuPay, 60': '6073840000000008',
  'RuPay, 508': '5085000000000007',
  'RuPay, 81': '8172000000000005',
  'RuPay, 82': '8200000000000001',
}
const VISA = NUMBERS['Visa, 16']

const isChecked = (digits: string): boolean =>
  [...digits].reverse().reduce((sum, digit, place) => {
    const worth = Number(digit) * (place % 2 === 0 ? 1 : 2)
    return sum + (worth > 9 ? worth - 9 : worth)
  }, 0) %
    10 ===
  0
const jsonHolds = (text: string): boolean => jsonHoldsCardNumber(text, JSON.parse(text))
const grouped = (digits: string, by: string): string => digits.replace(/\d{4}(?=\d)/g, `$&${by}`)

test('the numbers of every network are found, in any grouping, wherever they stand', () => {
  for (const [network, digits] of Object.entries(NUMBERS)) {
    assert(isChecked(digits), network)
    for (const number of [
      digits,
      ...[' ', '-', ' - ', '\u00a0', '\u2011', '\u2212', '\t'].map((by) => grouped(digits, by)),
      [...digits].join(' '),
      digits.replace(/^(\d{4})(\d{6})/, '$1 $2 '),
    ]) {
      for (const text of [
        number,
        `my card: ${number}.`,
        `(${number})`,
        `pan=${number}&x`,
        `${number}@example.com`,
        `12 ${number} 34 5`,
        `2 pieces\n${number}`,
        `_${number}_`,
      ])
        // oxfmt-ignore
        assert(holdsCardNumber(text), `${network}: ${JSON.stringify(text)}`)
    }
  }
})

test('with other marks a number is found only in the groups that cards are printed in', () => {
  for (const by of ['.', '_', '·', '•']) {
    for (const digits of [VISA, NUMBERS.Mastercard, NUMBERS['Visa, 19']])
      for (const text of [grouped(digits, by), `my card: ${grouped(digits, by)}.`, `_${grouped(digits, by)}_`])
        assert(holdsCardNumber(text), text)
    const amex = NUMBERS['American Express'].replace(/^(\d{4})(\d{6})/, `$1${by}$2${by}`)
    assert(holdsCardNumber(amex), amex)
    assert(jsonHolds(JSON.stringify({ note: amex })), amex)
    assert(addressHoldsCardNumber(`/x?a=${encodeURIComponent(amex)}`), amex)
    for (const text of [`4242${by}4242${by}4242424${by}2`, `x${grouped(VISA, by)}`, `42${by}42${by}42${by}42${by}42${by}42${by}4242`])
      assert(!holdsCardNumber(text), text) // oxfmt-ignore
  }
  for (const text of ['4242.4242/4242.4242', 'Chrome/142.0.7444.175 Safari/537.36', '203.0.113.100/4242', '2026/11/21/4242424242'])
    assert(!holdsCardNumber(text), text) // oxfmt-ignore
})

test('digits of other scripts are digits', () => {
  for (const zero of [0xff10, 0x0966, 0x0660, 0x06f0, 0x09e6, 0x0be6, 0x1d7ce, 0x1d7d8, 0x1d7f6])
    assert(holdsCardNumber(VISA.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))), String(zero))
})

test('a number with a wrong check digit, or with a prefix and length that no network issues, is no card number', () => {
  for (const [network, digits] of Object.entries(NUMBERS)) {
    for (let last = 0; last < 10; last++)
      assert.equal(holdsCardNumber(digits.slice(0, -1) + last), String(last) === digits.at(-1), `${network} ${last}`)
  }
  for (const digits of [
    '1111111111111117',
    '9999999999999995',
    '2220990000000002',
    '2721000000000004',
    '42424242424242',
    '424242424242',
  ])
    assert(isChecked(digits) && !holdsCardNumber(digits), digits)
})

test('digits inside a longer word are no card number', () => {
  for (const text of [
    `x${VISA}`,
    `${VISA}x`,
    `9${VISA}`,
    `${VISA}9`,
    `é${VISA}`,
    `${VISA}८`,
    `0.${VISA}`,
    `12${VISA}12`,
  ])
    assert(!holdsCardNumber(text), text)
})

test('digits that the service and its clients write are no card number', () => {
  const prefixes: IdPrefix[] = ['sel', 'prod', 'file', 'ord', 'pay', 'ref', 'evt', 'ses', 'idn']
  const digitsOf = (least: number, most: number) =>
    fc.array(fc.integer({ min: 0, max: 9 }), { minLength: least, maxLength: most }).map((digits) => digits.join(''))
  const hexOf = (length: number, alphabet: string) =>
    fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((hex) => hex.join(''))
  const time = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  const kinds: Record<string, fc.Arbitrary<string>> = {
    'an id': fc.tuple(fc.constantFrom(...prefixes), fc.nat(2 ** 47)).map(([prefix, now]) => newId(prefix, now)),
    'an id of digits alone': fc.tuple(fc.constantFrom(...prefixes), digitsOf(26, 26)).map((parts) => parts.join('_')),
    'a UUID': fc.uuid(),
    'a UUID of digits alone': fc.tuple(digitsOf(8, 8), digitsOf(4, 4), digitsOf(3, 3), digitsOf(3, 3), digitsOf(12, 12))
      .map(([a, b, c, d, e]) => `${a}-${b}-4${c}-8${d}-${e}`), // oxfmt-ignore
    'a UUID that ends in a letter': fc.tuple(digitsOf(8, 8), digitsOf(4, 4), digitsOf(4, 4))
      .map((parts) => `${parts.join('-')}-8abc-0123456789ab`), // oxfmt-ignore
    'an idempotency key': fc.nat().map(() => randomUUID()),
    'two keys in one': fc.nat().map(() => `checkout-${randomUUID()}-${randomUUID()}`),
    'a time': time.map((at) => at.toISOString()),
    'a time in words': time.map((at) => at.toISOString().replace('T', ' ').replace('Z', '')),
    'a day and a time for a file': time.map((at) => at.toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')),
    milliseconds: fc.integer({ min: 0, max: Date.UTC(2033, 4, 18) }).map(String),
    seconds: fc.integer({ min: 0, max: 2 ** 32 }).map(String),
    'a hash': fc.string().map((text) => createHash('sha256').update(text).digest('hex')),
    'a hash of digits alone': hexOf(64, '0123456789'),
    'a hash of mostly digits': hexOf(64, '0123456789012345678901234567890123456789a'),
    'a token': fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    'an amount': fc.integer({ min: 0, max: 999_999_999_999 }).map(String),
    'an amount with decimals': fc.double({ min: 0, max: 1e12, noNaN: true }).map(String),
    'a fraction': fc.double({ min: 0, max: 1, noNaN: true }).map(String),
    'a telephone number': digitsOf(7, 15).map((digits) => `+${digits}`),
    'a telephone number in groups': digitsOf(9, 15).map((digits) => `+${digits.replace(/^(\d\d)(\d{3})/, '$1 $2-')}`),
    'a telephone number with its area': digitsOf(10, 12).map((digits) => `+49 (0)${digits}`),
    'a local telephone number': digitsOf(6, 12).map((digits) => digits.replace(/^(\d{4})/, '$1 ')),
    'an IP address': fc.ipV4(),
    'an IPv6 address': fc.ipV6(),
    'a code': digitsOf(6, 6).map((digits) => [...digits].join(' ')),
  }
  for (const [kind, values] of Object.entries(kinds)) {
    fc.assert(
      fc.property(values, (value) => {
        assert(!holdsCardNumber(value), `${kind}: ${value}`)
        assert(!jsonHolds(JSON.stringify({ [value]: value })), `${kind}: ${value}`)
        assert(!addressHoldsCardNumber(`/${encodeURIComponent(value)}?a=${encodeURIComponent(value)}`), `${kind}: ${value}`) // oxfmt-ignore
      }),
      { numRuns: 400 },
    )
  }
  assert(!jsonHolds(`{"ms":${Date.now()},"amount":999999999999,"rate":0.4242424242424242}`))
})

test('in a body it is found in names and values, however deep, however a character is written', () => {
  const escaped = VISA.replace(/\d/g, (digit) => `\\u003${digit}`)
  for (const body of [
    `{"a":"${VISA}"}`,
    `{"a":${VISA}}`,
    `{"a":-${VISA}}`,
    `{"a":4.242424242424242e15}`,
    `{"a":4242424242424242e0}`,
    `{"a":4242424242424242.0}`,
    `{"a":${NUMBERS['Visa, 19']}}`,
    `{"a":${NUMBERS['UnionPay, 19']}}`,
    `{"${VISA}":1}`,
    `{"a":{"b":[[{"c":["${grouped(VISA, ' ')}"]}]]}}`,
    `[1,"x",{"${grouped(VISA, '-')}":null}]`,
    `{"a":"${escaped}"}`,
    `{"${escaped}":true}`,
    `{"a":"4\\u00324242424242424\\u0032"}`,
    `{"a":"4242\\t4242\\u00a04242\\u20114242"}`,
    `{"a":"${VISA.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))}"}`,
    `"${VISA}"`,
    VISA,
  ])
    assert(jsonHolds(body), body)
})

test('in an address it is found as it is and encoded, in the path and in the query', () => {
  const encoded = VISA.replace(/\d/g, (digit) => `%3${digit}`)
  for (const address of [
    `/api/${VISA}`,
    `/api/${encoded}/x`,
    `/api/x?a=${VISA}`,
    `/?${encoded}=1`,
    `/?a=${grouped(VISA, '+')}`,
    `/?a=${grouped(VISA, '%20')}`,
    `/?a=${encodeURIComponent(VISA.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))))}`,
    `/%zz?a=${VISA}`,
    `/%ff?a=${encoded}`,
    `/${grouped(VISA, '-')}#x`,
  ])
    assert(addressHoldsCardNumber(address), address)
  for (const address of [
    '/',
    '/api/checkout',
    '/%zz',
    '/?a=%',
    `/api/checkout/${newId('ord')}/status?email=a%40b.example&sync=1`,
  ])
    assert(!addressHoldsCardNumber(address), address)
})

test('a number of every network is found in the headers that we keep and in our own cookies, in any grouping', () => {
  for (const [network, digits] of Object.entries(NUMBERS))
    for (const number of [digits, grouped(digits, ' '), grouped(digits, '-'), digits.replaceAll(/\d/g, '%3$&')]) {
      for (const name of ['session', 'code', 'known', 'idp_x'])
        assert(headHoldsCardNumber({ url: '/', headers: { cookie: `theme=dark; till_${name}=${number}` } }), network)
      if (number.startsWith('%')) continue
      for (const name of ['idempotency-key', 'user-agent', 'x-forwarded-for'])
        assert(headHoldsCardNumber({ url: '/', headers: { [name]: `Browser ${number}` } }), `${network} in ${name}`)
    }
})

test('any number with a network’s prefix and a right check digit is found among any words', () => {
  const word = fc.constantFrom('pay', 'with', ':', '“', '', '\n', '…', 'до', '支払', '.')
  const body = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 14, maxLength: 14 })
  fc.assert(
    fc.property(body, word, word, fc.constantFrom('', ' ', '-'), (middle, before, after, by) => {
      const start = `4${middle.join('')}`
      const digits = [...Array(10).keys()].map((last) => `${start}${last}`).find(isChecked)!
      assert(holdsCardNumber(`${before} ${grouped(digits, by)} ${after}`))
    }),
  )
})

test('a text made to be slow is searched in linear time', async (t) => {
  // Thirty times the longest body. All these texts take about three seconds of CPU time together. A search that is quadratic in the
  // length takes more than an hour, and the runner ends a test after half an hour.
  const made = (part: string) => part.repeat(2_000_000 / part.length)
  const texts = [
    made('4'),
    made('4 '),
    made('4 - '),
    `${made('4')}x`,
    `${'1 '.repeat(12)}${made('4')}x`,
    made('4x'),
    made('4   '),
    made('+4'),
    made('१'),
    made('1-'),
    made('abcd1234-'),
    `é${made('12345678-')}`,
  ]
  const found = await aside(
    t,
    async (module: string, all: string[]) => {
      type Search = (text: string) => boolean
      const cards: { holdsCardNumber: Search; addressHoldsCardNumber: Search } = await import(module)
      return all.filter((text) => cards.holdsCardNumber(text) || cards.addressHoldsCardNumber(`/%41${text}`))
    },
    import.meta.resolve('./card-numbers.ts'),
    texts,
  )
  // a search that finds a number ends early
  assert.deepEqual(found, [])
})
