import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADJUSTMENT, DRAFTS, OPERATOR_REFUND, PRODUCT_KEY, REFUND, forgetDrafts, keepsText } from './drafts.ts'

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

test('a tab keeps text while a form has left some, and neither a key nor an unanswered request is text', () => {
  for (const name of ['other', `${REFUND}ord_1`, `${DRAFTS}sel_1${PRODUCT_KEY}`]) tab[name] = '1'
  assert.equal(keepsText(), false)
  tab[`${DRAFTS}sel_1:prod_1`] = '1'
  assert.equal(keepsText(), true)
  forgetDrafts()
  assert.equal(keepsText(), false)
})
