import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readingOf } from '../../words/mail-language.ts'
import { documentsOf } from './documents.ts'
import type { MailData, MailOrder } from './mail-data.ts'

const SUM = { amountMinor: 1900, currency: 'USD', issuedAt: '2026-11-25T01:00:00.000Z' }
const SALE = { ...SUM, id: 'inv_1', kind: 'invoice', number: 'A-1', cause: 'capture:1' } as const
const CREDIT_NOTE = { ...SUM, id: 'inv_2', kind: 'credit_note', number: 'A-2', cause: 'refund:1' } as const
/** The refund of the credit note did not arrive. */
const RETURNED = { ...SUM, id: 'inv_3', kind: 'invoice', number: 'A-3', cause: 'refund:1' } as const
const CORRECTION = { ...SUM, id: 'inv_4', kind: 'correction', number: 'A-4', cause: 'details' } as const
const ANOTHER = { ...SUM, id: 'inv_5', kind: 'credit_note', number: 'A-5', cause: 'refund:2' } as const

test('a receipt has the sale’s invoice or its correction, and a mail about a refund the credit note of this refund', async () => {
  const reading = await readingOf('en')
  const named = (kind: MailData['kind'], invoices: MailOrder['invoices'], cause?: string) =>
    documentsOf({ kind, ...(cause && { cause }) }, { invoices }, reading, (id) => `/${id}`).map(({ url }) => url)
  assert.deepEqual(named('receipt', [SALE, CREDIT_NOTE, RETURNED]), ['/inv_1'])
  assert.deepEqual(named('receipt', [SALE, CREDIT_NOTE, RETURNED, CORRECTION]), ['/inv_4'])
  assert.deepEqual(named('receipt', [SALE, CORRECTION, CREDIT_NOTE, RETURNED]), ['/inv_4'])
  assert.deepEqual(named('refunded', [SALE, CREDIT_NOTE, RETURNED]), ['/inv_2'])
  assert.deepEqual(named('refunded', [SALE, CREDIT_NOTE, RETURNED, ANOTHER], 'refund:1'), ['/inv_2'])
  assert.deepEqual(named('refunded', [SALE, CREDIT_NOTE, RETURNED, ANOTHER], 'refund:2'), ['/inv_5'])
  // this refund has no credit note
  assert.deepEqual(named('refunded', [SALE, CREDIT_NOTE], 'refund:3'), [])
  // an earlier release has enqueued this one
  assert.deepEqual(named('refunded', [SALE, CREDIT_NOTE, ANOTHER]), ['/inv_5'])
  assert.deepEqual(named('dispute_lost', [SALE]), [])
  assert.deepEqual(named('disputed', [SALE, CREDIT_NOTE]), [])
  assert.deepEqual(named('receipt', null), [])
})
