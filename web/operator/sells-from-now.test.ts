import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterApproval, afterSuspension } from './sells-from-now.ts'

const AT = '2026-01-01T00:00:00.000Z'
const waiting = {
  standing: 'awaiting_approval',
  trusted: false,
  approvalAskedAt: AT,
  lockedOutAt: null,
  awaitsAccount: false,
} as const

test('the dialogs promise sales only where nothing else stops them', () => {
  assert.equal(afterApproval(waiting), 'The seller sells from now on.')
  assert.equal(afterApproval({ ...waiting, standing: 'active', approvalAskedAt: null }), 'The seller sells already, and goes on.') // oxfmt-ignore
  const suspended = { ...waiting, standing: 'suspended' } as const
  assert.equal(afterSuspension({ ...suspended, trusted: true }), 'Published products can be bought again. The seller gets a mail.') // oxfmt-ignore
  assert.equal(afterSuspension({ ...suspended, approvalAskedAt: null }), 'Published products can be bought again. The seller gets a mail.') // oxfmt-ignore
  assert.match(afterSuspension(suspended), /^The seller awaits your approval, .* The seller gets a mail\.$/)
  for (const awaitsAccount of [false, true]) {
    assert.match(afterApproval({ ...suspended, awaitsAccount }), /suspended/)
    assert.match(afterApproval({ ...suspended, awaitsAccount, lockedOutAt: AT }), /locked out/)
    assert.match(afterApproval({ ...waiting, awaitsAccount, lockedOutAt: AT }), /locked out/)
    assert.match(afterSuspension({ ...suspended, awaitsAccount, lockedOutAt: AT }), /locked out.* No mail is sent\.$/)
    assert.match(afterSuspension({ ...suspended, awaitsAccount }), /awaits your approval/)
  }
  assert.match(afterApproval({ ...waiting, awaitsAccount: true }), /once the account/)
  assert.match(afterSuspension({ ...suspended, trusted: true, awaitsAccount: true }), /once the account/)
})
