import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freeName, isNameOf } from './names.ts'

test('a second file of one name gets a number before its ending', () => {
  assert.equal(freeName('book.pdf', []), 'book.pdf')
  assert.equal(freeName('book.pdf', ['Book.PDF']), 'book (2).pdf')
  assert.equal(freeName('book.pdf', ['book.pdf', 'book (2).pdf']), 'book (3).pdf')
  assert.equal(freeName('README', ['README']), 'README (2)')
  assert.equal(freeName('.env', ['.env']), '.env (2)')
  const long = `${'ä'.repeat(251)}.pdf`
  const free = freeName(long, [long])
  assert.equal([...free].length, 255)
  assert(free.endsWith(' (2).pdf'))
})

test('an upload under a number is found again by the file’s own name', () => {
  assert(isNameOf('book.pdf', 'book.pdf'))
  assert(isNameOf('book (2).pdf', 'book.pdf'))
  assert(!isNameOf('book (2).pdf', 'cook.pdf'))
})
