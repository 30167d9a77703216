import type { FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { neverCached } from './http.ts'
import { decimalText } from './money.ts'

/** An amount as a decimal. It can begin with a minus, which must not be escaped as a formula. */
export class Decimal {
  readonly text: string
  constructor(amountMinor: number, currency: string) {
    this.text = decimalText(amountMinor, currency)
  }
}

export type Cell = string | number | null | Decimal
export type Columns<Row> = Record<string, (row: Row) => Cell>

/** Rows of a CSV that are read at once: few queries, and little memory. */
export const CSV_ROWS = 250

/** The response of a list that is also available as CSV. */
export const listOf = <Schema>(schema: Schema, description: string) => ({
  description,
  content: { 'application/json': { schema }, 'text/csv': { schema: Type.String() } },
})

/** The field `format` of a query: a link cannot send an Accept header. */
export const CsvFormat = Type.Optional(
  Type.Literal('csv', { description: 'The same as `Accept: text/csv`, for a link.' }),
)

/** A byte order mark. Without it Excel does not read the file as UTF-8. Programs do not need it. */
const FOR_SPREADSHEETS = '\ufeff'

/** Whether the client wants CSV: by the Accept header, or by `format=csv` in the address of a link. */
export const wantsCsv = (request: FastifyRequest<{ Querystring: { format?: 'csv' } }>): boolean =>
  request.query.format === 'csv' || /(?:^|[\s,])text\/csv\b/i.test(request.headers.accept ?? '')

/** Rows as CSV (RFC 4180), under their names. Texts that a spreadsheet would run as a formula are escaped. */
export async function csvText<Row>(columns: Columns<Row>, rows: readonly Row[]): Promise<string> {
  const lines = await newLines()
  return lines([Object.keys(columns), ...rows.map((row) => Object.values(columns).map((value) => value(row)))])
}

/**
 * Answers with rows as CSV (RFC 4180). It reads each page after it has sent the page before, so it holds one page in memory. It
 * escapes texts that a spreadsheet would run as a formula.
 */
export async function sendCsv<Row>(
  request: FastifyRequest<{ Querystring: { format?: 'csv' } }>,
  reply: FastifyReply,
  name: string,
  columns: Columns<Row>,
  pages: AsyncIterable<readonly Row[]>,
): Promise<FastifyReply> {
  const lines = await newLines()
  const names = Object.keys(columns)
  const values = Object.values(columns)
  async function* chunks(): AsyncGenerator<string> {
    yield (request.query.format === 'csv' ? FOR_SPREADSHEETS : '') + lines([names])
    for await (const rows of pages) yield lines(rows.map((row) => values.map((value) => value(row))))
  }
  neverCached(reply)
  reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${name}.csv"`)
  // the body of a HEAD request would be read to its end, and thrown away
  if (request.method === 'HEAD') return reply.send()
  const stream = Readable.from(chunks(), { objectMode: true, highWaterMark: 1 })
  // without chunks, as a proxy may ask by HTTP/1.0, an ordinary end of the connection would make a part look whole
  stream.once('error', () => request.raw.socket.resetAndDestroy())
  return reply.send(stream)
}

async function newLines(): Promise<(rows: Cell[][]) => string> {
  const { stringify } = await import('csv-stringify/sync')
  return (rows) =>
    stringify(rows, {
      escape_formulas: true,
      record_delimiter: 'windows',
      cast: {
        // in many countries a spreadsheet begins a new cell at a semicolon, and takes the quotes at its beginning away
        string: (value) => value.replaceAll(/([;\t][ "]*)([=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'$2"),
        object: (value) => ({ value: String(value.text), escape_formulas: false }),
      },
    })
}
