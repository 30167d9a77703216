import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { test } from 'node:test'
import { Refusal } from './errors.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'

test('a hash is Argon2id at its chosen cost, in the form that others read, and never the same twice', async () => {
  const hashes = await Promise.all([1, 2].map(() => hashPassword('four words of mine')))
  for (const hash of hashes) {
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    assert.equal(await verifyPassword('four words of mine', hash), true)
    assert.equal(await verifyPassword('four words of mine ', hash), false)
  }
  assert.notEqual(hashes[0], hashes[1])
})

test('hashes of the reference implementation are understood, whatever their cost', async () => {
  // test.c of github.com/P-H-C/phc-winner-argon2
  const known = [
    ['password', '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'],
    ['password', '$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc'],
    ['differentpassword', '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$C4TWUs9rDEvq7w3+J4umqA32aWKB1+DSiRuBfYxFj94'],
  ] as const
  for (const [password, hash] of known) {
    assert.equal(await verifyPassword(password, hash), true, hash)
    assert.equal(await verifyPassword(`${password}x`, hash), false)
  }
})

test('without a hash the password is refused after the same work', async () => {
  const stored = await hashPassword('four words of mine')
  for (const hash of [stored, undefined]) {
    let hashed = 0
    const hook = createHook({ init: (_id, type) => void (type === 'ARGON2REQUEST' && hashed++) }).enable()
    assert.equal(await verifyPassword('something else', hash), false)
    hook.disable()
    assert.equal(hashed, 1, hash)
  }
})

test('characters that look the same are the same, and nothing is cut off', async () => {
  const composed = 'caf\u00e9 au lait \ufb01ne'
  assert.equal(await verifyPassword('cafe\u0301 au lait fine', await hashPassword(composed)), true)
  const long = 'x'.repeat(100)
  assert.equal(await verifyPassword(`${long}b`, await hashPassword(`${long}a`)), false)
  assert.equal(await verifyPassword('a\0b', await hashPassword('a\0c')), false)
})

test('beyond the queue sign-ins are refused, and waiting ones are served in turn', async () => {
  const hash = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
  const answers = await Promise.allSettled(Array.from({ length: 150 }, () => verifyPassword('password', hash)))
  const refused = answers.filter((answer) => answer.status === 'rejected')
  assert(refused.length >= 40 && refused.length < 50, `${refused.length} of 150`)
  for (const { reason } of refused) assert(reason instanceof Refusal && reason.code === 'sign_in_busy')
  for (const answer of answers) if (answer.status === 'fulfilled') assert.equal(answer.value, true)
  assert.equal(await verifyPassword('password', hash), true, 'and then it is quiet again')
})
