import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readingOf } from '../../words/mail-language.ts'
import { documentsOf } from './documents.ts'

const SUM = { amountMinor: 1900, currency: 'USD', issuedAt: '2026-11-25T01:00:00.000Z' }
const SALE = { ...SUM, id: 'inv_1', kind: 'invoice', number: 'A-1' } as const
const CREDIT_NOTE = { ...SUM, id: 'inv_2', kind: 'credit_note', number: 'A-2' } as const
/** The refund of the credit note did not arrive. */
const RETURNED = { ...SUM, id: 'inv_3', kind: 'invoice', number: 'A-3' } as const
const CORRECTION = { ...SUM, id: 'inv_4', kind: 'correction', number: 'A-4' } as const

test('a receipt has the sale’s invoice or its correction, and a mail about a refund the newest credit note', async () => {
  const reading = await readingOf('en')
  const named = (kind: Parameters<typeof documentsOf>[0], invoices: Parameters<typeof documentsOf>[1]['invoices']) =>
    documentsOf(kind, { invoices }, reading, (id) => `/${id}`).map(({ url }) => url)
  assert.deepEqual(named('receipt', [SALE, CREDIT_NOTE, RETURNED]), ['/inv_1'])
  assert.deepEqual(named('receipt', [SALE, CREDIT_NOTE, RETURNED, CORRECTION]), ['/inv_4'])
  assert.deepEqual(named('receipt', [SALE, CORRECTION, CREDIT_NOTE, RETURNED]), ['/inv_4'])
  assert.deepEqual(named('refunded', [SALE, CREDIT_NOTE, RETURNED]), ['/inv_2'])
  assert.deepEqual(named('dispute_lost', [SALE]), [])
  assert.deepEqual(named('disputed', [SALE, CREDIT_NOTE]), [])
  assert.deepEqual(named('receipt', null), [])
})
