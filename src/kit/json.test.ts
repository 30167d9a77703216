import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { aside } from '../../test/support/aside.ts'
import { Refusal } from './errors.ts'
import { parseJson } from './json.ts'

function assertRefused(text: string): void {
  assert.throws(
    () => parseJson(text),
    (error) => error instanceof Refusal && error.code === 'malformed_body',
    text.slice(0, 200),
  )
}

const plain = fc.jsonValue({ maxDepth: 6 }).filter((value) => !JSON.stringify(value).includes('__proto__'))

test('whatever JSON can say is read as JSON reads it, however it is spaced', () => {
  fc.assert(
    fc.property(plain, fc.constantFrom(0, 1, '\t', ' \n'.repeat(5)), (value, space) => {
      const text = JSON.stringify(value, null, space)
      assert.deepEqual(parseJson(text), JSON.parse(text))
    }),
  )
})

test('a member that is given twice is refused, at any depth, in any spelling, with any space before its colon', () => {
  const escaped = (name: string) =>
    [...name].map((c) => (c.length === 1 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c)).join('')
  const name = fc.string({ minLength: 1, maxLength: 10 }).filter((text) => text !== '__proto__')
  fc.assert(
    fc.property(
      name,
      plain,
      plain,
      fc.nat(5),
      fc.nat(300),
      fc.boolean(),
      (member, one, other, depth, spaces, isEscaped) => {
        const first = JSON.stringify(member)
        const second = isEscaped ? `"${escaped(member)}"` : first
        const twice = `{${first}:${JSON.stringify(one)},${second}${' '.repeat(spaces)}:${JSON.stringify(other)}}`
        assertRefused(`${'{"a":['.repeat(depth)}${twice}${']}'.repeat(depth)}`)
      },
    ),
  )
})

test('the prototype cannot be reached from a body', () => {
  for (const text of [
    '{"__proto__":1}',
    '{"a":[{"__proto__":{}}]}',
    '{"\\u005f\\u005fproto\\u005f_":1}',
    '{"__proto__"\n\n:\n1}',
  ])
    assertRefused(text)
  assert.deepEqual(parseJson('["__proto__"]'), ['__proto__'])
  assert.deepEqual(parseJson('{"a":"__proto__"}'), { a: '__proto__' })
})

test('text that is not JSON is refused', () => {
  const texts = [
    '',
    ' ',
    '{',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '01',
    'NaN',
    'undefined',
    '{"a":1}{"a":1}',
    '\ufeff{}',
    '"\t"',
    '/* */{}',
    '{"a"}',
    '"\\x"',
  ]
  for (const text of texts) assertRefused(text)
})

test('sixteen levels are read, seventeen are not, and a body of only brackets costs little', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const nested = (depth: number) => `${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}`
    parseJson(nested(16))
    assertRefused(nested(17))
    assertRefused(nested(10_000))
  }
  parseJson(`[${'[],'.repeat(1000)}{}]`)
})

test('the worst JSON is parsed in linear time', async (t) => {
  // All these texts of 4 MB take about half a second of CPU time together. A check that is quadratic in the length takes hours for one of
  // them, and the runner ends a test after half an hour.
  const members = Array.from({ length: 384_000 }, (_, at) => `"${at}":1`).join(',')
  const texts = [
    `{${members}}`,
    `{"a"${' '.repeat(4_000_000)}:1}`,
    `"${'\\\\'.repeat(2_000_000)}"`,
    `[${'"",'.repeat(1_280_000)}""]`,
    `["${'"," '.repeat(1_000_000)}"]`,
  ]
  const parsed = await aside(
    t,
    async (module: string, all: string[]) => {
      const { parseJson: parse }: { parseJson: typeof parseJson } = await import(module)
      return all.map((text) => typeof parse(text))
    },
    import.meta.resolve('./json.ts'),
    texts,
  )
  assert.deepEqual(parsed, ['object', 'object', 'string', 'object', 'object'])
})

test('half a character is refused with the place where it stands, and whole ones are not', () => {
  const at = (text: string) => {
    try {
      parseJson(text)
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'validation_failed') throw error
      return error.fields?.map(({ path }) => path).join()
    }
    return undefined
  }
  assert.equal(at(String.raw`{"reason":"x\ud800y"}`), 'reason')
  assert.equal(at(String.raw`{"metadata":{"k":"\uDC00"}}`), 'metadata.k')
  assert.equal(at(String.raw`{"scopes":["a","\udbff"]}`), 'scopes.1')
  assert.equal(at(String.raw`{"metadata":{"\ud83d":"x"}}`), 'metadata')
  assert.equal(at(String.raw`"\ud800"`), '')
  for (const whole of [String.raw`{"a":"\ud83c\udf81"}`, String.raw`{"a":"\\ud800"}`, '{"a":"🎁"}'])
    assert.equal(at(whole), undefined)
})
