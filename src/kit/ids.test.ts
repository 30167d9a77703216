import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type IdPrefix, idPattern, isId, newId } from './ids.ts'

const PREFIXES: IdPrefix[] = ['sel', 'prod', 'file', 'ord', 'pay', 'ref', 'evt']
const randomPart = (id: string): string => id.split('_')[1]!.slice(10)

test('an id names its kind, and can be read aloud', () => {
  for (const prefix of PREFIXES) {
    const id = newId(prefix)
    assert.match(id, new RegExp(idPattern(prefix)))
    assert(isId(prefix, id))
    assert.doesNotMatch(id.split('_')[1]!, /[ilou]/)
    for (const other of PREFIXES) if (other !== prefix) assert(!isId(other, id))
  }
})

test('ids of one table sort by creation', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 45), fc.nat(2 ** 45), (one, other) => {
      const [first, second] = [newId('ord', Math.min(one, other)), newId('ord', Math.max(one, other))]
      assert(one === other || first < second)
    }),
  )
  assert.equal(newId('ord', 0).slice(0, 14), 'ord_0000000000')
  assert.equal(newId('ord', 2 ** 48 - 1).slice(0, 14), 'ord_7zzzzzzzzz')
})

test('the part after the time cannot be guessed: 80 uniform bits, and no id follows from another', () => {
  const count = 4000
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
  const ones = Array.from({ length: 80 }, () => 0)
  const together = Array.from({ length: 79 }, () => 0)
  const seen = new Set<string>()
  for (let at = 0; at < count; at++) {
    const part = randomPart(newId('ord', 0))
    assert.equal(part.length, 16)
    seen.add(part)
    const bits = [...part].flatMap((c) => [16, 8, 4, 2, 1].map((bit) => (alphabet.indexOf(c) & bit ? 1 : 0)))
    for (const [place, bit] of bits.entries()) {
      ones[place]! += bit
      if (place < 79) together[place]! += bit ^ bits[place + 1]!
    }
  }
  assert.equal(seen.size, count)
  // eight standard deviations: a fair coin is that far off once in 10^15
  const most = 8 * Math.sqrt(count / 4)
  for (const sum of [...ones, ...together]) assert(Math.abs(sum - count / 2) < most, String(sum))
})

test('no other text is accepted as an id', () => {
  const id = newId('ord')
  for (const text of [
    '',
    'ord_',
    id.slice(0, -1),
    `${id}0`,
    ` ${id}`,
    `${id}\n`,
    `${id}\0`,
    id.toUpperCase(),
    id.replace('_', '-'),
    `ord_${'i'.repeat(26)}`,
  ])
    assert(!isId('ord', text), JSON.stringify(text))
  const pattern = new RegExp(idPattern('ord'))
  fc.assert(fc.property(fc.string(), (text) => isId('ord', `ord_${text}`) === pattern.test(`ord_${text}`)))
})
