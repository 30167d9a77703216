import { Readable } from 'node:stream'
import {
  MOST_LINES,
  type BankLine,
  type BankLines,
  dayOf,
  isOurs,
  minorOf,
  reasonOf,
  refuseStatement,
  slicesOf,
} from './bank-statement-line.ts'

const NEEDED = ['reference', 'amount', 'currency', 'status', 'bookedOn']
const LONGEST_RECORD = 4000

/**
 * A statement as CSV with the columns reference, amount, currency, status (booked or returned), bookedOn and, when it has one, reason.
 * Other columns are left alone. The operator writes the file, so each line of it can be mended. Refuses `statement_not_readable` and names the line, for a line that is wrong in any way.
 */
export async function csvStatementLines(text: string): Promise<BankLines> {
  const { CsvError, parse } = await import('csv-parse')
  const header = text.slice(0, text.search(/[\r\n]|$/))
  const records = Readable.from(slicesOf(text)).pipe(
    parse({
      bom: true,
      columns: (names: string[]) => columnsOf(names),
      delimiter: header.includes(';') ? ';' : ',',
      info: true,
      max_record_size: LONGEST_RECORD,
      skip_empty_lines: true,
      trim: true,
    }),
  )
  const lines: BankLine[] = []
  let others = 0
  try {
    for await (const { record, info } of records as AsyncIterable<{
      record: Record<string, string>
      info: { lines: number }
    }>) {
      const line = lineOf(record, info.lines)
      if (isOurs(line.reference)) lines.push(line)
      else others++
      if (lines.length + others > MOST_LINES) refuseStatement(`The statement has more than ${MOST_LINES} lines.`)
    }
  } catch (error) {
    if (error instanceof CsvError) refuseStatement('The file is no CSV.')
    throw error
  }
  return { lines, others }
}

/** The columns by our names, whatever their case. */
function columnsOf(names: string[]): (string | undefined)[] {
  const known = names.map((name) => [...NEEDED, 'reason'].find((one) => one.toLowerCase() === name.toLowerCase()))
  const missing = NEEDED.filter((name) => known.filter((one) => one === name).length !== 1)
  if (missing.length > 0) refuseStatement(`The first line must name the columns ${NEEDED.join(', ')}, each once.`)
  return known
}

function lineOf(record: Record<string, string>, line: number): BankLine {
  const { reference = '', amount = '', currency = '', status = '', bookedOn = '', reason } = record
  const amountMinor = minorOf(amount, currency)
  const day = dayOf(bookedOn)
  if (reference === '' || reference.length > 35) refuseStatement(`Line ${line} has no reference.`)
  if (amountMinor === undefined) refuseStatement(`Line ${line}: write the amount as 12.30, and its currency as EUR.`)
  if (status !== 'booked' && status !== 'returned') refuseStatement(`Line ${line}: the status is booked or returned.`)
  if (day === undefined) refuseStatement(`Line ${line}: write the day as 2026-11-24.`)
  return { reference, amountMinor, currency, status, bookedOn: day, reason: reasonOf([reason]) }
}
