import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newSigner } from '../kit/signing.ts'
import { attachment, downloadToken } from './downloads.ts'

/** Parses the header as a browser does (RFC 6266): the plain name, and the full one. */
function read(header: string): { plain: string; full: string } {
  const match = /^attachment; filename="([\x20-\x7e]*)"; filename\*=UTF-8''([A-Za-z0-9\-._~%]+)$/.exec(header)
  assert(match, header)
  assert.doesNotMatch(match[1]!, /["\\]/)
  return { plain: match[1]!, full: decodeURIComponent(match[2]!) }
}

test('a usual name is unchanged', () => {
  assert.equal(attachment('book.pdf'), `attachment; filename="book.pdf"; filename*=UTF-8''book.pdf`)
  assert.equal(
    attachment('My book (2).pdf'),
    `attachment; filename="My book (2).pdf"; filename*=UTF-8''My%20book%20%282%29.pdf`,
  )
})

for (const [name, plain, full] of [
  ['Über größe.pdf', 'Uber groe.pdf', 'Über größe.pdf'],
  ['本.epub', '.epub', '本.epub'],
  ['本', 'download', '本'],
  ['🎁.zip', '.zip', '🎁.zip'],
  ['a"b.pdf', 'a_b.pdf', 'a"b.pdf'],
  ['a\\b.pdf', 'a_b.pdf', 'a_b.pdf'],
  ['100%;x.pdf', '100__x.pdf', '100%;x.pdf'],
  ['x\r\nSet-Cookie: a=b', 'x__Set-Cookie: a=b', 'x__Set-Cookie: a=b'],
  ['../../etc/passwd', '.._.._etc_passwd', '.._.._etc_passwd'],
  ['／..／x', '_.._x', '／..／x'],
  ['C:\\boot.ini', 'C:_boot.ini', 'C:_boot.ini'],
  ['report\u202efdp.exe', 'report_fdp.exe', 'report_fdp.exe'],
  ['a\0b', 'a_b', 'a_b'],
  ['', 'download', 'download'],
  ['   ', 'download', 'download'],
  [' padded.pdf ', 'padded.pdf', 'padded.pdf'],
] as const) {
  test(`the file ${JSON.stringify(name)} is saved as ${JSON.stringify(full)}`, () => {
    assert.deepEqual(read(attachment(name)), { plain, full })
  })
}

test('a name that is too long loses its middle and keeps the ending that opens it', () => {
  for (const name of [`${'n'.repeat(300)}.pdf`, `${'ü'.repeat(300)}.tar.gz`, `${'🎁'.repeat(150)}.epub`]) {
    const { full } = read(attachment(name))
    assert(full.length <= 200 && full.length > 190, String(full.length))
    assert(full.endsWith(name.slice(name.lastIndexOf('.'))))
    assert(full.isWellFormed())
  }
  assert.equal(read(attachment(`a.${'x'.repeat(300)}`)).full.length, 200, 'what is no ending is cut')
})

test('no file name breaks out of the header, or leaves its folder', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ unit: 'grapheme', maxLength: 400 })),
      (name) => {
        const { plain, full } = read(attachment(name))
        for (const one of [plain, full]) {
          assert(one.trim() !== '' && one.length <= 1000)
          assert.doesNotMatch(one, /[/\\\p{Cc}\p{Cf}]/u)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('a token is short enough for an address, and holds nothing of the buyer', () => {
  const signer = newSigner(['a secret that is long enough for this'], 'download')
  const [order, file] = ['ord_01jb0000000000000000000000', 'file_01jb0000000000000000000000']
  const token = downloadToken(signer, order, file, new Date('2030-01-01T00:00:00.999Z'))
  assert(token.length < 200)
  assert.match(token, /^ord_\w{26}\.file_\w{26}\.[0-9a-z]+\.[\w-]{43}$/)
  assert.equal(
    Number.parseInt(token.split('.')[2]!, 36),
    Date.UTC(2030, 0, 1) / 1000,
    'its end is in whole seconds, never later than promised',
  )
})
