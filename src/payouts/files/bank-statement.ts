import { createHash } from 'node:crypto'
import { camtLines } from './camt.ts'
import { csvStatementLines } from './csv-statement.ts'
import { LARGEST_STATEMENT_BYTES, type BankLines, refuseStatement } from './bank-statement-line.ts'

export interface ReadStatement extends BankLines {
  /** By which the same file is known when it comes again. */
  sha256: Buffer
  format: 'camt.053' | 'csv'
}

/** Reads a bank's statement, camt.053 or CSV. Refuses `statement_not_readable`. */
export async function readStatement(bytes: Buffer): Promise<ReadStatement> {
  if (bytes.length > LARGEST_STATEMENT_BYTES) refuseStatement('The statement is larger than 10 MB.')
  const text = textOf(bytes)
  if (text.trim() === '') refuseStatement('The file is empty.')
  const isXml = /^\s*</.test(text)
  return {
    sha256: createHash('sha256').update(bytes).digest(),
    format: isXml ? 'camt.053' : 'csv',
    ...(await (isXml ? camtLines(text) : csvStatementLines(text))),
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return refuseStatement('The file is not UTF-8.')
  }
}
