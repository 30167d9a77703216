import type { QualifiedTag } from 'sax'
import { Refusal } from '../../kit/errors.ts'
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

// A bank's statement as camt.053 (ISO 20022). Versions 2 to 13 name the fields that are read here alike, but for the amount of a
// single payment, which moved, and the status of an entry, which got a code inside.

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.(?:0[2-9]|1[0-3])$/
/** A statement nests about 15 elements. */
const DEEPEST = 60
/** Banks that give no reference write this. */
const NO_REFERENCE = 'NOTPROVIDED'

/** The texts of one payment or one entry, by their paths below it. */
type Fields = Map<string, string>

/**
 * The payments of a camt.053 statement that name a reference and are booked: those that left, and those that came back. Those with a
 * reference of another form are only counted: the operator's own business need not be readable. Money that comes in otherwise is not
 * ours to judge, and is left out. Refuses `statement_not_readable`: also for a document type, because with it a file
 * of some bytes can become gigabytes or read other files.
 */
export async function camtLines(xml: string): Promise<BankLines> {
  const { default: sax } = await import('sax')
  const parser = sax.parser(true, { xmlns: true, position: false })
  const reader = newReader()
  Object.assign(parser, {
    ondoctype: () => refuseStatement('The file has a document type, which no statement has.'),
    onopentag: (tag: QualifiedTag) => reader.open(tag),
    ontext: (text: string) => reader.text(text),
    oncdata: (text: string) => reader.text(text),
    onclosetag: () => reader.close(),
    onerror: (error: Error) => {
      throw error
    },
  })
  try {
    for await (const slice of slicesOf(xml)) parser.write(slice)
    parser.close()
  } catch (error) {
    if (error instanceof Refusal) throw error
    refuseStatement('The file is not well-formed XML.')
  }
  return reader.found
}

function newReader() {
  const path: string[] = []
  const found: BankLines = { lines: [], others: 0 }
  let text = ''
  let entry: Fields | undefined
  /** The account that the statement is about. It stands before the entries. */
  let account: string | undefined
  /** The payments of the entry. They are read when the entry ends, because its own fields stand partly behind them. */
  let payments: Fields[] = []
  const collect = (fields: Fields, depth: number, value: string) => {
    const key = path.slice(depth).join('/')
    // the first one counts, where an element can come again
    if (!fields.has(key)) fields.set(key, value)
  }
  return {
    found,
    open({ local, uri, attributes }: QualifiedTag): void {
      if (path.length === 0 && (local !== 'Document' || !NAMESPACE.test(uri)))
        refuseStatement('The file is no camt.053 statement.')
      if (path.length >= DEEPEST) refuseStatement('The file nests too deeply for a statement.')
      path.push(local)
      text = ''
      if (at(path, STATEMENT)) account = undefined
      if (at(path, ENTRY)) [entry, payments] = [new Map(), []]
      if (entry && at(path, PAYMENT)) payments.push(new Map())
      const currency = attributes.Ccy?.value
      if (entry && currency !== undefined) {
        path.push('@Ccy')
        if (within(path, PAYMENT)) collect(payments.at(-1)!, PAYMENT.length, currency)
        else collect(entry, ENTRY.length, currency)
        path.pop()
      }
    },
    text(part: string): void {
      text += part
    },
    close(): void {
      if (entry && at(path, ENTRY)) {
        for (const payment of payments.length > 0 ? payments : [new Map()]) {
          const line = lineOf(entry, payment, payments.length <= 1)
          if (line === 'other') found.others++
          else if (line) found.lines.push(account ? { ...line, account } : line)
          if (found.lines.length + found.others > MOST_LINES)
            refuseStatement(`The statement has more than ${MOST_LINES} payments.`)
        }
        entry = undefined
      } else if (entry && text.trim() !== '') {
        if (within(path, PAYMENT)) collect(payments.at(-1)!, PAYMENT.length, text.trim())
        else collect(entry, ENTRY.length, text.trim())
      }
      if (at(path, ACCOUNT)) account = text.replaceAll(/\s/g, '').toUpperCase()
      text = ''
      path.pop()
    },
  }
}

const STATEMENT = ['Document', 'BkToCstmrStmt', 'Stmt']
const ACCOUNT = [...STATEMENT, 'Acct', 'Id', 'IBAN']
const ENTRY = [...STATEMENT, 'Ntry']
const PAYMENT = [...ENTRY, 'NtryDtls', 'TxDtls']
const at = (path: readonly string[], place: readonly string[]): boolean =>
  path.length === place.length && within(path, place)
const within = (path: readonly string[], place: readonly string[]): boolean =>
  path.length >= place.length && place.every((name, index) => path[index] === name)

/** Undefined: not booked, without a reference, or money that comes in for another reason. */
function lineOf(entry: Fields, payment: Fields, isOnly: boolean): BankLine | 'other' | undefined {
  const reference = payment.get('Refs/EndToEndId')
  if (reference === undefined || reference === NO_REFERENCE) return undefined
  if ((entry.get('Sts') ?? entry.get('Sts/Cd')) !== 'BOOK') return undefined
  const status = statusOf(entry, payment)
  if (!status) return undefined
  if (!isOurs(reference)) return 'other'
  const { amount = '', currency = '' } = amountOf(entry, payment, isOnly) ?? {}
  const amountMinor = minorOf(amount, currency)
  const bookedOn = dayOf(entry.get('BookgDt/Dt') ?? entry.get('BookgDt/DtTm') ?? '')
  if (amountMinor === undefined) refuseStatement(`The amount of ${shown(reference)} cannot be read.`)
  if (bookedOn === undefined) refuseStatement(`The day of ${shown(reference)} cannot be read.`)
  const reason = reasonOf([
    payment.get('RtrInf/Rsn/Cd') ?? payment.get('RtrInf/Rsn/Prtry'),
    payment.get('RtrInf/AddtlInf'),
  ])
  return { reference, amountMinor, currency, status, bookedOn, reason }
}

/** A payment that comes back is a credit which the bank marks as a return or as a reversal. */
function statusOf(entry: Fields, payment: Fields): BankLine['status'] | undefined {
  const direction = payment.get('CdtDbtInd') ?? entry.get('CdtDbtInd')
  const isReversal = entry.get('RvslInd') === 'true' || entry.get('RvslInd') === '1'
  const codes = [payment, entry].map((fields) => fields.get('BkTxCd/Domn/Fmly/SubFmlyCd'))
  const isReturn = codes.includes('RRTN') || [...payment.keys()].some((key) => key.startsWith('RtrInf/'))
  if (direction === 'DBIT') return isReversal || isReturn ? undefined : 'booked'
  return direction === 'CRDT' && (isReversal || isReturn) ? 'returned' : undefined
}

function amountOf(entry: Fields, payment: Fields, isOnly: boolean) {
  const read = (fields: Fields, path: string) => {
    const amount = fields.get(path)
    return amount === undefined ? undefined : { amount, currency: fields.get(`${path}/@Ccy`) }
  }
  return (
    read(payment, 'Amt') ??
    read(payment, 'AmtDtls/TxAmt/Amt') ??
    read(payment, 'AmtDtls/InstdAmt/Amt') ??
    (isOnly ? read(entry, 'Amt') : undefined)
  )
}

const shown = (reference: string): string => `“${reference.slice(0, 35)}”`
