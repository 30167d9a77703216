import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DRAFTS, REFUND, forgetDrafts } from './drafts.ts'

const tab: Record<string, string> = Object.create({
  removeItem(name: string) {
    delete tab[name]
  },
})
Object.assign(globalThis, { sessionStorage: tab })

test('another account finds no text of the one before, whose unanswered refund stays until it signs out', () => {
  Object.assign(tab, { other: '1', [`${DRAFTS}api-key`]: '2', [`${REFUND}ord_1`]: '3' })
  forgetDrafts({ keep: REFUND })
  assert.deepEqual(Object.keys(tab), ['other', `${REFUND}ord_1`])
  forgetDrafts()
  assert.deepEqual(Object.keys(tab), ['other'])
})
