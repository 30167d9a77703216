import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADJUSTMENT, DRAFTS, OPERATOR_REFUND, REFUND, forgetDrafts } from './drafts.ts'

const tab: Record<string, string> = Object.create({
  removeItem(name: string) {
    delete tab[name]
  },
})
Object.assign(globalThis, { sessionStorage: tab })

test('another account finds no text of the one before, whose unanswered requests stay until it signs out', () => {
  const unanswered = [`${REFUND}ord_1`, `${OPERATOR_REFUND}ord_1`, `${ADJUSTMENT}sel_1`]
  for (const name of ['other', `${DRAFTS}api-key`, ...unanswered]) tab[name] = '1'
  forgetDrafts({ keepUnanswered: true })
  assert.deepEqual(Object.keys(tab), ['other', ...unanswered])
  forgetDrafts()
  assert.deepEqual(Object.keys(tab), ['other'])
})
