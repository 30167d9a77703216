import { setImmediate as nextTurn } from 'node:timers/promises'
import { decimalText, formatMoney } from '../../kit/money.ts'
import { INK, Letters, readFaces, type Style } from './letters.ts'
import {
  type Column,
  EDGE,
  type Element,
  LABEL,
  PAGE,
  PLAIN,
  ROW,
  SOFT,
  STRONG,
  Sheet,
  cells,
  heading,
  names,
} from './sheet.ts'
import { type StatedOrder, type StatedPayout, type Statement, dayOf, shortOrder, standingOf } from './statement.ts'

const AMOUNT_WIDTH = 60
/** The money that belongs to no order. A processor's list has more of it than adjustments and returned payouts. */
const OTHERS: Record<StatedPayout['by'], string> = {
  manual: 'Adjustments and returned payouts',
  'stripe-connect': 'Other movements at Stripe',
  'razorpay-route': 'Other movements at Razorpay',
}
/** Rows between two turns of the event loop, so that other requests do not wait for a long statement. */
const ROWS_A_TURN = 10
/** Orders that a statement lists. A longer list is for programs: the CSV has every order. */
export const MOST_ORDERS = 1000

/**
 * The statement of a payout as a PDF: the same bytes for the same data. It is tagged, has a title and a language, and its table has
 * headers, so that a screen reader can read it.
 */
export async function statementPdf(statement: Statement): Promise<Buffer> {
  const { default: PdfDocument } = await import('pdfkit')
  const { payout } = statement
  const title = `Payout statement ${payout.reference}`
  const changedAt = payout.endedAt ?? payout.paidAt ?? payout.sentAt ?? payout.createdAt
  // neither author nor subject: the library puts names unescaped into the XML of the metadata
  const info = { Title: title, Creator: 'Till', Producer: 'Till', CreationDate: changedAt }
  const pdf = new PdfDocument({
    size: [PAGE.width, PAGE.height],
    // The margins are ours: the library would begin a new page by itself.
    margin: 0,
    pdfVersion: '1.7',
    tagged: true,
    lang: 'en',
    displayTitle: true,
    bufferPages: true,
    info,
  })
  const chunks: Buffer[] = []
  const done = new Promise<void>((resolve, reject) => pdf.on('end', resolve).on('error', reject))
  pdf.on('data', (chunk: Buffer) => chunks.push(chunk))
  const sheet = new Sheet(pdf, new Letters(pdf, await readFaces()))
  head(sheet, statement)
  sums(sheet, statement)
  await orderTable(sheet, statement)
  otherTable(sheet, statement)
  sheet.feet(`${title} · ${payout.id}`)
  pdf.end()
  await done
  return Buffer.concat(chunks)
}

function head(sheet: Sheet, { payout, seller, service, from }: Statement): void {
  sheet.line('H1', 'Payout statement', { size: 20, bold: true }, { x: EDGE.left, y: sheet.y })
  sheet.line('P', service, { size: 9, color: SOFT }, { x: EDGE.right, y: sheet.y + 9, right: true })
  sheet.y += 44
  // a processor does not say with which movement a payout begins
  const period: [label: string, value: string][] =
    payout.by === 'manual'
      ? [
          ['Period', from ? `After ${momentOf(from)}` : 'From the first sale'],
          ['', `until ${momentOf(payout.cutoffAt)}`],
        ]
      : [['Made', momentOf(payout.createdAt)]]
  const facts: [label: string, value: string][][] = [
    [['Seller', seller.name], ['', seller.email], ...period],
    [
      ['State', standingOf(payout)],
      ['Paid to', payout.destination],
      ['Reference', payout.reference],
      ['Currency', payout.currency],
      ...(payout.bankReference ? [['At the bank', payout.bankReference] as [string, string]] : []),
    ],
  ]
  facts.forEach((column, index) => {
    const x = EDGE.left + index * 260
    column.forEach(([label, value], row) => {
      const y = sheet.y + row * 15
      const element = sheet.add('P')
      element.add(() => {
        sheet.letters.write(label, x, y, LABEL)
        sheet.letters.write(value, x + 58, y - 0.5, PLAIN, { most: index === 0 ? 190 : 177 })
      })
      element.end()
    })
  })
  sheet.y += 78
}

/** From the amount carried over to the amount paid out, as a sum that can be checked. */
function sums(sheet: Sheet, { payout, carriedMinor, others, leftMinor, ...totals }: Statement): void {
  const { currency } = payout
  const rest = others.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  const lines: [label: string, amountMinor: number][] = [
    ['Carried over from earlier payouts', carriedMinor],
    ['Sales', totals.saleMinor],
    ['Fees', totals.feeMinor],
    ['Refunds', totals.refundMinor],
    ['Disputes', totals.disputeMinor],
    [OTHERS[payout.by], rest],
    ['Left for the next payout', -leftMinor],
  ]
  sheet.rule(sheet.y, INK)
  sheet.y += 8
  const table = sheet.add('Table')
  lines.forEach(([label, amountMinor], index) => {
    if (amountMinor === 0 && index !== 1) return
    sumLine(sheet, table, label, money(amountMinor, currency), PLAIN)
  })
  sheet.y += 3
  sheet.rule(sheet.y)
  sheet.y += 8
  sumLine(sheet, table, 'Paid out', money(payout.amountMinor, currency), { size: 13, bold: true })
  table.end()
  sheet.y += 10
}

function sumLine(sheet: Sheet, table: Element, label: string, amount: string, style: Style): void {
  const row = sheet.add('TR', table)
  const y = sheet.y
  sheet.tagged('TH', row, () => sheet.letters.write(label, EDGE.left, y, style))
  sheet.tagged('TD', row, () => sheet.letters.write(amount, EDGE.right, y, style, { right: true }))
  row.end()
  sheet.y += style.size + 6.5
}

/** The last row is the sum of all orders, and of no day. */
type OrderRow = Omit<StatedOrder, 'soldAt'> & { soldAt: Date | undefined }

function orderColumns({ payout: { currency }, orders, ...totals }: Statement): Column<OrderRow>[] {
  const amount = (name: string, pick: (order: OrderRow) => number) => ({
    name,
    number: true,
    text: (order: OrderRow) => decimal(pick(order), currency),
  })
  // the sum also counts orders that are not listed
  const hasDisputes = totals.disputeMinor !== 0 || orders.some(({ disputeMinor }) => disputeMinor !== 0)
  const amounts = [
    amount('Sale', ({ saleMinor }) => saleMinor),
    amount('Fee', ({ feeMinor }) => feeMinor),
    amount('Refunds', ({ refundMinor }) => refundMinor),
    ...(hasDisputes ? [amount('Disputes', (one) => one.disputeMinor)] : []),
    amount('Net', ({ netMinor }) => netMinor),
  ].map((column, index, all) => ({ ...column, x: EDGE.right - (all.length - 1 - index) * AMOUNT_WIDTH }))
  const productX = EDGE.left + 108
  return [
    { name: 'Order', x: EDGE.left, text: ({ orderId }) => (orderId ? shortOrder(orderId) : 'Sum') },
    { name: 'Sold', x: EDGE.left + 50, text: ({ soldAt }) => (soldAt ? dayOf(soldAt) : '') },
    { name: 'Product', x: productX, most: amounts[0]!.x - AMOUNT_WIDTH - productX, text: ({ product }) => product },
    ...amounts,
  ]
}

async function orderTable(sheet: Sheet, statement: Statement): Promise<void> {
  const { orders, orderCount, payout } = statement
  if (orders.length === 0) return
  heading(sheet, `Orders, in ${payout.currency}`)
  const columns = orderColumns(statement)
  const table = sheet.add('Table')
  names(sheet, table, columns)
  for (const [index, order] of orders.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn()
    if (sheet.turns(ROW)) names(sheet, table, columns)
    cells(sheet, table, columns, order, PLAIN)
  }
  const rest = orderCount - orders.length
  if (rest > 0) restLine(sheet, table, rest)
  sheet.turns(ROW + 4)
  sheet.rule(sheet.y - 2)
  sheet.y += 4
  cells(sheet, table, columns, { ...statement, orderId: '', product: '', soldAt: undefined }, STRONG)
  table.end()
  sheet.y += 12
}

function restLine(sheet: Sheet, table: Element, count: number): void {
  sheet.turns(ROW)
  const row = sheet.add('TR', table)
  const y = sheet.y
  const text = `and ${count} more ${count === 1 ? 'order' : 'orders'}, which the sum counts and the CSV of this payout lists`
  sheet.tagged('TD', row, () => sheet.letters.write(text, EDGE.left, y, LABEL))
  row.end()
  sheet.y += ROW
}

function otherTable(sheet: Sheet, { others, payout: { by, currency } }: Statement): void {
  if (others.length === 0) return
  heading(sheet, `${OTHERS[by]}, in ${currency}`)
  // a processor's movements are summed by kind
  const [date, reason] = by === 'manual' ? ['Date', 'Reason'] : ['Latest', 'Kind']
  const columns: Column<Statement['others'][number]>[] = [
    { name: date, x: EDGE.left, text: ({ at }) => dayOf(at) },
    { name: reason, x: EDGE.left + 70, most: 330, text: ({ what }) => what },
    { name: 'Amount', x: EDGE.right, number: true, text: ({ amountMinor }) => decimal(amountMinor, currency) },
  ]
  const table = sheet.add('Table')
  names(sheet, table, columns)
  for (const other of others) {
    if (sheet.turns(ROW)) names(sheet, table, columns)
    cells(sheet, table, columns, other, PLAIN)
  }
  table.end()
}

const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
const momentOf = (at: Date): string => `${MOMENT.format(at)} UTC`

const minus = (minor: number, text: string): string => (minor < 0 ? `−${text}` : text)
const money = (minor: number, currency: string): string => minus(minor, formatMoney(Math.abs(minor), currency))
/** Grouped by thousands, without a sign of the currency, and a dash for nothing. */
function decimal(minor: number, currency: string): string {
  if (minor === 0) return '–'
  const [whole = '', ...places] = decimalText(Math.abs(minor), currency).split('.')
  return minus(minor, [BigInt(whole).toLocaleString('en'), ...places].join('.'))
}
