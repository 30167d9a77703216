import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { statementLine, suffixOfLine } from '../../src/kit/statement.ts'
import { sharedShop, startTestShop } from '../support/shop.ts'

const shared = sharedShop()

test('a statement descriptor is valid for the card networks with every product name', async () => {
  const shop = shared()
  const names = [
    'Ünïcode – “Bøøk”',
    '日本語の本',
    '...',
    '-',
    '7',
    "O'Reilly's * <Guide>",
    'A  wide   gap',
    'W'.repeat(200),
    '🎁🎁',
    ' a',
  ]
  for (const name of names) {
    const { statementDescriptor } = await shop.checkout({ productId: await shop.product({ name }) })
    assert.match(statementDescriptor, /^TILL\* (?=.*[A-Z])[A-Z0-9](?:[A-Z0-9 .-]{0,14}[A-Z0-9])$/, name)
    assert.doesNotMatch(statementDescriptor, / {2}/)
  }
})

test('the shortest prefix and the shortest name still make a line that card networks take', async (t) => {
  const shop = await startTestShop(t, { env: { STATEMENT_PREFIX: 'ACE', PROCESSORS: 'none' } })
  const { statementDescriptor } = await shop.checkout({ productId: await shop.product({ name: 'X' }) })
  assert.equal(statementDescriptor, 'ACE* ITEM X')
})

test('a line is cut at a word, and at no more than 22 characters', async () => {
  const { db } = shared()
  const lineOf = async (prefix: string, suffix: string) => {
    const { rows } = await sql<{ line: string }>`select statement_line(${prefix}, ${suffix}) as line`.execute(db)
    return rows[0]!.line
  }
  for (const [prefix, suffix, line] of [
    ['TILL', 'THE QUIET SHOP', 'TILL* THE QUIET SHOP'],
    ['TILL', 'THE QUIET SHOP IN DOL', 'TILL* THE QUIET SHOP'],
    ['TILL', '1234567 9012345A', 'TILL* 1234567 9012345A'],
    ['TILL', 'ABCDEFG HIJKLMNO PQRS', 'TILL* ABCDEFG HIJKLMNO'],
    ['TILL', 'A HANDBOOKOFEVERYTHIN', 'TILL* A HANDBOOKOFEVER'],
    ['TILL', 'ABCDEFGHIJKLMNOPQRSTU', 'TILL* ABCDEFGHIJKLMNOP'],
    ['TILL', '1984', 'TILL* ITEM 1984'],
    ['TILL', '123456789012345678 AB', 'TILL* ITEM 12345678901'],
    ['TILL', 'X', 'TILL* ITEM X'],
    ['TILL', 'A. - . - . - . - . -', 'TILL* ITEM A'],
    ['ANNS SHOPS', 'THE QUIET SHOP', 'ANNS SHOPS* THE QUIET'],
    ['ACE', 'A BOOK', 'ACE* A BOOK'],
  ] as const)
    // oxfmt-ignore
    assert.equal(await lineOf(prefix, suffix), line)
  const prefixes = fc.stringMatching(/^[A-Z0-9][A-Z0-9 .-]{2,9}$/)
  const suffixes = fc.stringMatching(/^[A-Z0-9][A-Z0-9 .-]{0,20}$/)
  await fc.assert(
    fc.asyncProperty(prefixes, suffixes, async (prefix, suffix) => {
      const line = await lineOf(prefix, suffix)
      assert(line.startsWith(`${prefix}* `) && line.length <= 22, line)
      assert.match(line.slice(prefix.length + 2), /^(?=.*[A-Z])[A-Z0-9].*[A-Z0-9]$/, 'no mark at the end, and a letter')
      // Stripe gets exactly the line's text
      assert.equal(statementLine(prefix, suffixOfLine(line, prefix)), line)
    }),
  )
})
