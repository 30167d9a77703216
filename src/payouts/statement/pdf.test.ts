import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extractText, getDocumentProxy, getMeta } from 'unpdf'
import { MOST_ORDERS, statementPdf } from './pdf.ts'
import type { StatedOrder, StatedPayout, Statement, Totals } from './statement.ts'

const day = (date: number) => new Date(Date.UTC(2026, 10, date, 10))

const payoutOf = (more: Partial<StatedPayout>): StatedPayout => ({
  id: 'po_01k9x3f5f8e4tqz8g3m7abcdef',
  by: 'manual',
  state: 'paid',
  currency: 'EUR',
  amountMinor: 4890,
  destination: 'DE … 3000',
  reference: 'TILL7K3M9QXA',
  bankReference: null,
  cutoffAt: day(20),
  createdAt: day(20),
  sentAt: day(21),
  paidAt: day(22),
  endedAt: null,
  failure: null,
  isCancelled: false,
  ...more,
})
const orderOf = (index: number, more: Partial<StatedOrder> = {}): StatedOrder => ({
  orderId: `ord_01k9x3f5f8e4tqz8g3m7a${String(index).padStart(5, '0')}`,
  soldAt: day(1 + (index % 20)),
  product: 'Field recordings',
  saleMinor: 1000,
  feeMinor: -20,
  refundMinor: 0,
  disputeMinor: 0,
  netMinor: 980,
  ...more,
})
function statementOf({
  orders = [0, 1, 2, 3, 4].map((index) => orderOf(index)),
  ...more
}: Partial<Statement> = {}): Statement {
  const totals = { saleMinor: 0, feeMinor: 0, refundMinor: 0, disputeMinor: 0, netMinor: 0 }
  for (const order of orders) for (const part of Object.keys(totals) as (keyof Totals)[]) totals[part] += order[part]
  return {
    payout: payoutOf({}),
    seller: { name: 'Ann’s Bücher', email: 'ann@example.com' },
    service: 'till.example.com',
    from: day(13),
    carriedMinor: 0,
    orders: orders.slice(0, MOST_ORDERS),
    orderCount: orders.length,
    ...totals,
    others: [],
    leftMinor: 10,
    ...more,
  }
}

async function read(pdf: Buffer): Promise<{ pages: number; text: string }> {
  const { totalPages, text } = await extractText(await getDocumentProxy(new Uint8Array(pdf)), { mergePages: true })
  return { pages: totalPages, text }
}

test('a statement says who was paid what, for which orders, and where the money went', async () => {
  const refunded = orderOf(7, { saleMinor: 0, feeMinor: 20, refundMinor: -1000, netMinor: -980 })
  const others = [{ at: day(15), what: 'Adjustment: a fee of the bank', amountMinor: -250 }]
  const { text, pages } = await read(
    await statementPdf(statementOf({ orders: [orderOf(1), refunded], others, carriedMinor: -125 })),
  )
  assert.equal(pages, 1)
  for (const part of [
    'Payout statement',
    'till.example.com',
    'Ann’s Bücher',
    'ann@example.com',
    'After 13 Nov 2026, 10:00 UTC',
    'until 20 Nov 2026, 10:00 UTC',
    'Paid on 22 Nov 2026',
    'DE … 3000',
    'TILL7K3M9QXA',
    'Carried over from earlier payouts',
    '−€1.25',
    '…a00001',
    '…a00007',
    '−10.00',
    '−9.80',
    'Adjustment: a fee of the bank',
    '−2.50',
    'Paid out',
    '€48.90',
    'Page 1 of 1',
    'po_01k9x3f5f8e4tqz8g3m7abcdef',
  ])
    // oxfmt-ignore
    assert(text.includes(part), `${part} is in: ${text}`)
  assert(!text.includes('Disputes'), 'a column of nothing is left out')
})

test('a statement names what the bank shows of a payout by a processor', async () => {
  const { text } = await read(await statementPdf(statementOf({ payout: payoutOf({ bankReference: 'UTR1568176960' }) })))
  assert.match(text, /At the bank\s+UTR1568176960/)
})

test('a statement of a payout by a processor claims no period, and names what the processor lists', async () => {
  const others = [{ at: day(15), what: 'Payments from elsewhere', amountMinor: 480 }]
  for (const [by, name] of [
    ['stripe-connect', 'Stripe'],
    ['razorpay-route', 'Razorpay'],
  ] as const) {
    const { text } = await read(await statementPdf(statementOf({ payout: payoutOf({ by }), from: undefined, others })))
    assert.match(text, /Made\s+20 Nov 2026, 10:00 UTC/)
    assert.match(text, new RegExp(`Other movements at ${name}\\s+€4\\.80`))
    assert.match(
      text,
      new RegExp(
        `Other movements at ${name}, in EUR\\s+Latest\\s+Kind\\s+Amount\\s+15 Nov 2026\\s+Payments from elsewhere`,
      ),
    )
    assert.doesNotMatch(text, /Period|until|From the first sale|Adjustments|returned payouts/)
  }
})

test('the same payout makes the same bytes, so two downloads can be compared', async () => {
  assert((await statementPdf(statementOf())).equals(await statementPdf(statementOf())))
})

test('the file has a title, a language and a structure for screen readers', async () => {
  const pdf = await statementPdf(statementOf())
  const { info } = await getMeta(await getDocumentProxy(new Uint8Array(pdf)))
  assert.equal(info['Title'], 'Payout statement TILL7K3M9QXA')
  assert.equal(info['Language'], 'en')
  assert.equal(info['CreationDate'], 'D:20261122100000Z')
  const proxy = await getDocumentProxy(new Uint8Array(pdf))
  const tree = JSON.stringify(await (await proxy.getPage(1)).getStructTree())
  for (const role of ['Document', 'H1', 'H2', 'Table', 'TR', 'TH', 'TD'])
    assert(tree.includes(`"role":"${role}"`), role)
})

test('signs of currencies and letters of many scripts are drawn, pictures are left out, and what cannot be drawn is a question mark', async () => {
  for (const [currency, sum] of [
    ['INR', '₹48.90'],
    ['GBP', '£48.90'],
    ['JPY', '¥4,890'],
    ['KWD', 'KWD 4.890'],
  ] as const) {
    const { text } = await read(await statementPdf(statementOf({ payout: payoutOf({ currency }) })))
    assert(text.replaceAll(/\s/g, ' ').includes(sum), `${sum} is in ${text}`)
  }
  const orders = ['Ελληνικά', 'Русская', 'Žlutý kůň', '日本語の本 📚', '\u0000evil\nline'].map((product, at) =>
    orderOf(at, { product }),
  )
  const { text } = await read(await statementPdf(statementOf({ orders })))
  for (const part of ['Ελληνικά', 'Русская', 'Žlutý kůň', ' ? ', 'evil line'])
    assert(text.includes(part), `${part} is in ${text}`)
})

test('names that are too long are cut and the amounts stay whole', async () => {
  const seller = { name: 'N'.repeat(300), email: `${'e'.repeat(300)}@example.com` }
  const orders = [orderOf(1, { product: 'word '.repeat(80), saleMinor: 999_999_999_999, netMinor: 999_999_999_979 })]
  const { text, pages } = await read(await statementPdf(statementOf({ seller, orders })))
  assert.equal(pages, 1)
  assert(text.includes('NNN…'))
  assert(text.includes('9,999,999,999.99'))
})

test('a long list goes on with its headers on the next page, and its sum counts also the orders that are not listed', async () => {
  const orders = Array.from({ length: 1002 }, (_, index) => orderOf(index))
  const { text, pages } = await read(await statementPdf(statementOf({ orders })))
  assert(pages > 15)
  assert.equal(text.split('Product').length - 1, pages)
  assert(text.includes('…a00999') && !text.includes('…a01000'))
  assert(text.includes('and 2 more orders, which the sum counts'))
  assert(text.includes('10,020.00'))
})

test('the sum adds up where only an order that is not listed has disputed money', async () => {
  const lost = orderOf(1001, { disputeMinor: -1000, netMinor: -20 })
  const orders = [...Array.from({ length: 1001 }, (_, index) => orderOf(index)), lost]
  const { text } = await read(await statementPdf(statementOf({ orders })))
  assert.match(text, /Sum\s+10,020\.00\s+−200\.40\s+–\s+−10\.00\s+9,809\.60/)
})

test('a payout that was cancelled does not read as failed', async () => {
  const payout = payoutOf({ by: 'stripe-connect', state: 'failed', paidAt: null, endedAt: day(23), isCancelled: true })
  const { text } = await read(await statementPdf(statementOf({ payout })))
  assert.match(text, /State\s+Cancelled on 23 Nov 2026/)
})

test('a payout that failed says so, and why', async () => {
  const payout = payoutOf({ state: 'failed', paidAt: null, endedAt: day(23), failure: 'The account is closed' })
  const { text } = await read(await statementPdf(statementOf({ payout, orders: [], from: undefined })))
  assert(text.includes('Failed on 23 Nov 2026: The account'), text)
  assert(text.includes('From the first sale'))
})
