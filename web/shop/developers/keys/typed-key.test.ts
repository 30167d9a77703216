import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES } from '../../../../src/sellers/keys/scopes.ts'
import { PRESETS, NO_KEY, inWords, keyFaults, keyInput, subjects } from './typed-key.ts'

test('the form offers every scope, and no preset sends money back or makes keys', () => {
  const offered = subjects.flatMap((subject) => [`${subject}:read`, `${subject}:write`])
  assert.deepEqual(offered.sort(), [...SCOPES].sort())
  for (const { name, scopes } of PRESETS) {
    assert(!scopes.includes('refunds:write') && !scopes.includes('keys:write'), name)
    assert(inWords(scopes).length > 0)
  }
})

test('a key without a name or without a scope is not sent', () => {
  assert.deepEqual(Object.keys(keyFaults({ ...NO_KEY, scopes: [] })), ['name', 'scopes'])
  assert.deepEqual(keyFaults({ ...NO_KEY, name: 'Sync' }), {})
})

test('a key ends after its lifetime, or never when that is chosen', () => {
  const typed = { ...NO_KEY, name: ' Sync ' }
  assert.deepEqual(keyInput(typed, 0), {
    name: 'Sync',
    scopes: NO_KEY.scopes,
    expiresAt: '1970-04-01T00:00:00.000Z',
  })
  assert.equal(keyInput({ ...typed, lifetime: 'never' }, 0).expiresAt, null)
  assert.deepEqual(keyInput({ ...typed, productIds: ['prod_1'] }, 0).productIds, ['prod_1'])
})
