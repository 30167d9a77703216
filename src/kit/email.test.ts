import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { aside } from '../../test/support/aside.ts'
import { EMAIL_LONGEST, EMAIL_PATTERN, canonicalEmail } from './email.ts'

const PATTERN = new RegExp(EMAIL_PATTERN, 'u')
const isAddress = (text: string): boolean => text.length <= EMAIL_LONGEST && PATTERN.test(text)

test('usual addresses are accepted', () => {
  const addresses = [
    'bob@example.com', 'Bob.Smith+books@Mail.Example.CO.UK', "o'neil@example.ie", 'a@b.io', '1234@qq.com', 'x_y-z@sub.domain.museum', 'b@xn--bcher-kva.example', '  bob@example.com ',
    'first.last@123.com', 'user%example.com@example.org', '_@example.com', 'bob@a-b.example', `${'l'.repeat(64)}@example.com`,
  ] // oxfmt-ignore
  for (const address of addresses) assert(isAddress(address), address)
})

test('texts that are no address, or two of them, are refused', () => {
  const texts = [
    '', ' ', '@', 'bob', 'bob@', '@example.com', 'bob@example', 'bob@.com', 'bob@example.', 'bob@example..com', 'bob@-a.com', 'bob@a-.com', 'bob@example.c', 'bob@example.-om', 'bob@1.2.3.4',
    'bob@[1.2.3.4]', 'bob@@example.com', 'bob smith@example.com', 'bob@exa mple.com', 'bob@example.com,eve@example.com', 'bob@example.com;', 'bob@example.com\n', '\nbob@example.com',
    'bob@example.com\r\nbcc:x@y.zz', 'bob\t@example.com', 'bob\0@example.com', '"bob"@example.com', 'bob(x)@example.com', '<bob@example.com>', 'bob:@example.com', 'böb@example.com',
    'bob@exämple.com', 'bоb@example.com', 'bob@example.com\u00a0', '\u200bbob@example.com', `${'l'.repeat(65)}@example.com`, `bob@${'d'.repeat(64)}.com`, `bob@${'d.'.repeat(126)}com`,
    'mailto:bob@example.com', 'bob@example.com?subject=x', 'bob@example.com/..',
  ] // oxfmt-ignore
  for (const text of texts) assert(!isAddress(text), JSON.stringify(text))
})

test('an accepted address is one mailbox: no character of it separates, quotes or ends anything', () => {
  const characters = fc.string({ unit: fc.constantFrom(...'ab1@.,;:<>()[]"\\ \t\r\n\0%+-_\'ü\u00a0'), maxLength: 6 })
  const around = fc.tuple(characters, characters).map(([one, other]) => `${one}@${other}example.com`)
  fc.assert(
    fc.property(fc.oneof(around, fc.emailAddress()), (text) => {
      if (!isAddress(text)) return
      const address = canonicalEmail(text)
      assert.match(address, /^[^\s@,;:<>()[\]"\\\p{Cc}]+@[a-z0-9.-]+$/u)
      assert.equal(address, canonicalEmail(address), 'its one form is the end of it')
    }),
    { numRuns: 5000 },
  )
  for (const c of ',;:<>()[]"\\@ \t\r\n\0\u00a0ü') {
    assert(!isAddress(`bob${c}eve@example.com`), JSON.stringify(c))
    assert(!isAddress(`bob@example${c}eve.com`), JSON.stringify(c))
  }
})

test('the same mailbox is the same however it was typed', () => {
  for (const typed of ['bob@example.com', ' Bob@Example.com', 'BOB@EXAMPLE.COM  '])
    assert.equal(canonicalEmail(typed), 'bob@example.com')
})

test('the worst input is checked in linear time', async (t) => {
  // All these texts of 4 MB take about a fifth of a second of CPU time together. A pattern that is quadratic in the length takes two hours
  // for one of them, and the runner ends a test after half an hour.
  const tested = await aside(
    t,
    (pattern: string) => {
      const address = new RegExp(pattern, 'u')
      let count = 0
      for (const part of ['a.', 'a', '.', ' ', '@', 'a@', 'a@a.', 'a-', "'", '@a.a'])
        for (const head of ['', 'a@', 'a@a.aa'])
          for (const tail of ['', '!', ' x', '@']) {
            address.test(head + part.repeat(4_000_000 / part.length) + tail)
            count += 1
          }
      return count
    },
    EMAIL_PATTERN,
  )
  assert.equal(tested, 120)
})
