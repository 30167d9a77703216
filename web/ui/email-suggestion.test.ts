import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suggestEmail } from './email-suggestion.ts'

test('a mistyped provider is recognised', () => {
  const meant = {
    'ann@gmial.com': 'ann@gmail.com',
    'ann@gmal.com': 'ann@gmail.com',
    'ann@gmaill.com': 'ann@gmail.com',
    'ann@gmail.con': 'ann@gmail.com',
    'ann@gmail.co': 'ann@gmail.com',
    'ann@gmail': 'ann@gmail.com',
    'ann@gmail,com': 'ann@gmail.com',
    'ann@gmail..com': 'ann@gmail.com',
    'Ann.B@GMIAL.COM': 'Ann.B@gmail.com',
    'ann@hotmial.co.uk': 'ann@hotmail.co.uk',
    'ann@yaho.co.in': 'ann@yahoo.co.in',
    'ann@outlok.com': 'ann@outlook.com',
    'ann@iclod.com': 'ann@icloud.com',
    'ann@protonmial.com': 'ann@protonmail.com',
    'ann@rediffmal.com': 'ann@rediffmail.com',
    'ann@studio-nord.con': 'ann@studio-nord.com',
  }
  for (const [typed, better] of Object.entries(meant)) assert.equal(suggestEmail(typed), better, typed)
})

test('a right address, and one that is only unusual, is left alone', () => {
  const right = [
    'ann@gmail.com',
    'ANN@GMAIL.COM',
    'ann@mail.com',
    'ann@email.com',
    'ann@ymail.com',
    'ann@yahoo.ca',
    'ann@yahoo.co.jp',
    'ann@hotmail.de',
    'ann@live.nl',
    'ann@gmx.net',
    'ann@me.com',
    'ann@example.org',
    'ann@startup.co',
    'ann@shop.cm.com',
    'ann@bücher.example',
    'ann@mail.studio.example',
    'not an address',
    'ann@',
    '@gmail.com',
    '',
  ]
  for (const address of right) assert.equal(suggestEmail(address), undefined, address)
})
