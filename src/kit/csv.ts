import type { FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { neverCached } from './http.ts'
import { decimalText } from './money.ts'

/** An amount as a decimal, which may begin with a minus and is no formula all the same. */
export class Decimal {
  readonly text: string
  constructor(amountMinor: number, currency: string) {
    this.text = decimalText(amountMinor, currency)
  }
}

export type Cell = string | number | null | Decimal
export type Columns<Row> = Record<string, (row: Row) => Cell>

/** A byte order mark, without which the common spreadsheet takes UTF-8 for something else. A program needs none. */
const FOR_SPREADSHEETS = '\ufeff'

/** Whether a list is wanted as CSV: by the Accept header, or in the address, for a link that a browser follows. */
export const wantsCsv = (request: FastifyRequest<{ Querystring: { format?: 'csv' } }>): boolean =>
  request.query.format === 'csv' || /(?:^|[\s,])text\/csv\b/i.test(request.headers.accept ?? '')

/**
 * Answers with rows as CSV (RFC 4180), each page read when the one before it is on its way: however many there are, the memory is
 * that of one. A text that a spreadsheet would run as a formula is made harmless.
 */
export async function sendCsv<Row>(
  request: FastifyRequest<{ Querystring: { format?: 'csv' } }>,
  reply: FastifyReply,
  name: string,
  columns: Columns<Row>,
  pages: AsyncIterable<readonly Row[]>,
): Promise<FastifyReply> {
  const { stringify } = await import('csv-stringify/sync')
  const names = Object.keys(columns)
  const values = Object.values(columns)
  const lines = (rows: Cell[][]) =>
    stringify(rows, {
      escape_formulas: true,
      record_delimiter: 'windows',
      cast: { object: (value) => ({ value: String(value.text), escape_formulas: false }) },
    })
  async function* chunks(): AsyncGenerator<string> {
    yield (request.query.format === 'csv' ? FOR_SPREADSHEETS : '') + lines([names])
    for await (const rows of pages) yield lines(rows.map((row) => values.map((value) => value(row))))
  }
  neverCached(reply)
  reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${name}.csv"`)
  return reply.send(Readable.from(chunks(), { objectMode: true, highWaterMark: 1 }))
}
