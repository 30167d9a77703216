import assert from 'node:assert/strict'
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { mock, test } from 'node:test'
import PdfDocument from 'pdfkit'
import { openLetters } from '../../invoices/letters.ts'
import { readFaces } from './letters.ts'

test('after a font could not be read, the next statement and the next invoice read it again', async () => {
  const openings = {
    statement: () => readFaces(),
    invoice: () => openLetters(new PdfDocument(), 'en', false, ['Total']),
  }
  const failing = mock.method(files, 'readFile', async () => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  })
  syncBuiltinESMExports()
  for (const open of Object.values(openings)) await assert.rejects(open, { code: 'EMFILE' })
  failing.mock.restore()
  syncBuiltinESMExports()
  for (const open of Object.values(openings)) await open()
})
