import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { derivedKey, newSigner } from './signing.ts'

const OLD = 'an old secret that is long enough'
const NEW = 'a new secret that is long enough!'

test('a signature is valid for its own text only', () => {
  const signer = newSigner([OLD], 'download')
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, other) => {
      const signature = signer.sign(text)
      assert(signer.verify(text, signature))
      assert.equal(signer.verify(other, signature), text === other)
    }),
  )
})

test('a signature with a changed, missing or added bit is invalid', () => {
  const signer = newSigner([OLD], 'download')
  const bytes = Buffer.from(signer.sign('text'), 'base64url')
  for (let bit = 0; bit < 256; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    assert(!signer.verify('text', changed.toString('base64url')))
  }
  const signature = signer.sign('text')
  const forms = [
    '',
    signature.slice(0, -1),
    `${signature}A`,
    `${signature}=`,
    ` ${signature}`,
    `${signature}\n`,
    bytes.toString('base64'),
    bytes.toString('hex'),
    '\0'.repeat(43),
  ]
  for (const form of forms) if (form !== signature) assert(!signer.verify('text', form), JSON.stringify(form))
  // the last character holds two bits that are no part of the 32 bytes: another one there is another text
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const accepted = [...alphabet].filter((last) => signer.verify('text', signature.slice(0, -1) + last))
  assert.deepEqual(accepted, [signature.at(-1)])
})

test('a signature for one purpose is invalid for another', () => {
  const purposes = ['download', 'sandbox client secret', 'x', '']
  for (const purpose of purposes) {
    for (const other of purposes) {
      const signature = newSigner([OLD], purpose).sign('text')
      assert.equal(newSigner([OLD], other).verify('text', signature), purpose === other)
    }
    assert(!derivedKey(OLD, purpose).equals(derivedKey(NEW, purpose)))
  }
})

test('a secret is rotated: the first signs, all of the list verify, and one that left the list does not', () => {
  const before = newSigner([OLD], 'download')
  const during = newSigner([NEW, OLD], 'download')
  const after = newSigner([NEW], 'download')
  assert(during.verify('text', before.sign('text')))
  assert(after.verify('text', during.sign('text')))
  assert(!before.verify('text', during.sign('text')))
  assert(!after.verify('text', before.sign('text')))
})
