import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { receiversIn } from './receivers.ts'

test('the page has the receivers of docs/webhooks.md in every language', () => {
  const guide = fs.readFileSync(path.join(import.meta.dirname, '../../../../docs/webhooks.md'), 'utf8')
  const receivers = receiversIn(guide)
  assert.deepEqual(
    receivers.map(({ name }) => name),
    ['Node', 'Python', 'PHP'],
  )
  for (const { code } of receivers) assert.match(code, /WEBHOOK_SECRET[\s\S]*order\.paid/)
})
