import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { balance } from '../../src/ledger/post.ts'
import { taxAccount } from '../../src/ledger/transfers.ts'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { acceptPayment } from '../../src/payments/review.ts'
import { taxPeriodOf, taxReport } from '../../src/taxes/report.ts'
import { assertProblem, eventually, startTestShop, type TestShop } from '../support/shop.ts'
import { newMailbox } from '../support/seller.ts'
import { loadRates, rateOf, taxSeller } from './support.ts'

// The tax in the books and in the report: the tax that the seller owes, and the tax that went back.

let shop: TestShop
const ends: (() => unknown)[] = []
before(async () => {
  shop = await startTestShop({ after: (end) => ends.push(end) })
  await loadRates(shop, [rateOf('DE', 19), rateOf('FR', 20)])
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

type Seller = Awaited<ReturnType<typeof taxSeller>>
const sold = async (seller: Seller, amount: number, country = 'DE') => {
  const { body } = await seller.order(await seller.product(amount), { country })
  assert.equal((await shop.confirm(body)).status, 200)
  await shop.until(body.orderId, ({ paid }) => paid)
  return body.orderId as string
}
const owed = ({ sellerId }: Seller) => balance(shop.db, taxAccount(sellerId), 'EUR')
const refund = async (seller: Seller, orderId: string, amount?: number) => {
  const { status } = await seller.browser.call('POST', `/api/orders/${orderId}/refunds`, amount ? { amount } : {})
  assert.equal(status, 201)
  await shop.until(orderId, (one) => one.status === (amount ? 'partially_refunded' : 'refunded'))
}
const differences = () => inTransaction(shop.db, (tx) => trialBalance(tx))
const monthNow = () => new Date().toISOString().slice(0, 7)
const report = async (seller: Seller, period = String(new Date().getUTCFullYear())) =>
  (await seller.browser.call('GET', `/api/tax/report?period=${period}`)).body

test('the books note the tax of a sale beside its money, and give back its share with each refund', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive' })
  const orderId = await sold(seller, 1900)
  const of = (kind: string) => async () => (await shop.transfers(orderId)).filter((one) => one.kind === kind)
  const [debit, credit] = [`tax-owed:${seller.sellerId}`, `tax:${seller.sellerId}`]
  assert.deepEqual(await of('tax')(), [{ kind: 'tax', debit, credit, amountMinor: 303 }])
  const { items } = (await seller.browser.call('GET', '/api/balance')).body
  assert.deepEqual([items[0].balance, items[0].sales, items[0].fees], [1862, 1900, 38])
  await refund(seller, orderId, 633)
  assert.deepEqual((await of('tax_refund')()).map(({ amountMinor }) => amountMinor), [101]) // oxfmt-ignore
  await refund(seller, orderId)
  assert.equal(
    (await of('tax_refund')()).reduce((sum, { amountMinor }) => sum + amountMinor, 0),
    303,
  )
  assert.equal(await owed(seller), 0)
  // the seller sees only entries of money
  const { items: shown } = (await seller.browser.call('GET', '/api/transfers')).body
  assert(shown.every(({ kind }: { kind: string }) => !kind.startsWith('tax')))
  assert.deepEqual(await differences(), [])
})

test('the receipt names the tax, in the language of the order', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive' })
  const email = newMailbox()
  const { body } = await seller.order(await seller.product(1900), { country: 'FR', email, locale: 'fr' })
  await shop.confirm(body)
  const mails = await eventually(() => shop.mails(email), (some) => some.length > 0) // oxfmt-ignore
  const [receipt] = mails
  assert.match(receipt!.text, /TVA 19\s%\s\(DE\)\s+3,03\s€/u)
})

test('a lost dispute gives back the tax, and money that the bank returns owes it again', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'exclusive' })
  const orderId = await sold(seller, 1000)
  assert.equal(await owed(seller), 190)
  const { captures, ...payment } = await shop.sandboxPayment(orderId)
  const dispute = (state: string, lostMinor?: number) =>
    shop.notify({ payment: { ...payment, captures, disputes: [{ id: `dp_${orderId}`, captureId: captures[0]!.id, amountMinor: 1190, state, lostMinor }] } }) // oxfmt-ignore
  await dispute('open')
  assert.equal(await owed(seller), 190)
  await dispute('lost')
  assert.equal(await owed(seller), 0)
  await dispute('lost', 595)
  assert.equal(await owed(seller), 95)
  assert.deepEqual(await differences(), [])
  const [line] = (await report(seller)).items
  assert.deepEqual([line.gross, line.tax, line.returnedGross, line.returnedTax, line.dueTax, line.dueNet], [1190, 190, 595, 95, 95, 500]) // oxfmt-ignore
})

test('a price that was refunded and then charged back went back once', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive' })
  const lose = async (orderId: string, amountMinor: number) => {
    const payment = await shop.sandboxPayment(orderId)
    const dispute = { id: `dp_${orderId}`, captureId: payment.captures[0]!.id, amountMinor, state: 'lost' }
    await shop.notify({ payment: { ...payment, disputes: [dispute] } })
  }
  const whole = await sold(seller, 11_900)
  await refund(seller, whole)
  await lose(whole, 11_900)
  const part = await sold(seller, 11_900)
  await refund(seller, part, 5000)
  await lose(part, 11_900)
  assert.deepEqual(await differences(), [])
  const [line] = (await report(seller)).items
  assert.deepEqual([line.gross, line.tax, line.returnedGross, line.returnedTax], [23_800, 3800, 23_800, 3800])
  assert.deepEqual([line.dueNet, line.dueTax], [0, 0])
})

test('each period has what went back in it, and all periods together have at most the price', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive' })
  const orderId = await sold(seller, 11_900)
  const held = await sold(seller, 1190)
  const [owner, bank] = [`seller:${seller.sellerId}`, 'processor:sandbox']
  const rows = [
    ['refund', orderId, owner, bank, 5000, '2020-02-01'],
    ['dispute_hold', orderId, owner, 'disputed', 11_900, '2020-03-01'],
    ['dispute_loss', orderId, 'disputed', bank, 11_900, '2020-05-01'],
    ['refund_failed', orderId, bank, owner, 5000, '2020-08-01'],
    ['dispute_return', orderId, bank, owner, 1000, '2020-11-01'],
    // a second payment, which was no sale
    ['dispute_hold', held, 'held', 'disputed', 1190, '2020-03-01'],
    ['dispute_loss', held, 'disputed', bank, 1190, '2020-05-01'],
  ] as const
  await assert.rejects(
    inTransaction(shop.db, async (tx) => {
      for (const [kind, id, debit, credit, amount, at] of rows)
        await sql`
          insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency, created_at)
          values (${kind}, ${`sandbox:event:${id}`}, ${id}, ${debit}, ${credit}, ${amount}, 'EUR', ${at})`.execute(tx)
      const back = async (period: string) =>
        (await taxReport(tx, seller.sellerId, taxPeriodOf(period))).map(({ returnedGrossMinor }) => returnedGrossMinor)
      assert.deepEqual(await Promise.all(['2020-Q1', '2020-Q2', '2020-Q3', '2020-Q4', '2020'].map(back)), [[5000], [6900], [], [-1000], [10_900]]) // oxfmt-ignore
      throw new Error('undone')
    }),
    /undone/,
  )
})

test('tax that is booked otherwise than it was pinned is a difference', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive' })
  const orderId = await sold(seller, 1190)
  const rows = [
    { kind: 'tax', cause: 'sandbox:capture:forged', debit: 'tax-owed', credit: 'tax', amount: 1 },
    { kind: 'tax_refund', cause: 'sandbox:refund:forged', debit: 'tax', credit: 'tax-owed', amount: 2 },
  ]
  await assert.rejects(
    inTransaction(shop.db, async (tx) => {
      for (const { kind, cause, debit, credit, amount } of rows)
        await sql`
          insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency)
          values (${kind}, ${cause}, ${orderId}, ${`${debit}:${seller.sellerId}`}, ${`${credit}:${seller.sellerId}`}, ${amount}, 'EUR')`.execute(tx) // oxfmt-ignore
      const found = await trialBalance(tx)
      assert.deepEqual(
        found.map(({ what, expectedMinor, foundMinor }) => [what, expectedMinor, foundMinor]).toSorted(),
        [
          ['tax_differs', 190, 191],
          ['tax_returned_differs', 0, 2],
        ],
      )
      throw new Error('undone')
    }),
    /undone/,
  )
  await assert.rejects(
    inTransaction(shop.db, async (tx) => {
      await sql`
        insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency)
        values ('tax', 'sandbox:capture:odd', ${orderId}, ${`seller:${seller.sellerId}`}, ${`tax:${seller.sellerId}`}, 1, 'EUR')`.execute(tx) // oxfmt-ignore
      assert((await trialBalance(tx)).some(({ what }) => what === 'wrong_accounts'))
      throw new Error('undone')
    }),
    /undone/,
  )
})

test('an accepted payment of another amount has the tax of that amount', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'exclusive' })
  const { body } = await seller.order(await seller.product(1000), { country: 'DE' })
  await shop.confirm(body, 'wrong_amount')
  await shop.until(body.orderId, ({ status }) => status === 'needs_review')
  const { amountMinor } = await inTransaction(shop.db, (tx) => acceptPayment(tx, shop.jobs, body.orderId))
  assert.equal(amountMinor, 1189)
  assert.equal(await owed(seller), 190)
  assert.deepEqual(await differences(), [])
})

test('an accepted payment of exactly the amount keeps the tax of the order, which was rounded to a step', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'exclusive' })
  const { body } = await seller.order(await seller.product(3330, { currency: 'KWD' }), { country: 'DE' })
  assert.deepEqual([body.amount, body.tax.amount], [3960, 630])
  await shop.confirm(body, 'wrong_amount')
  await shop.until(body.orderId, ({ status }) => status === 'needs_review')
  const payment = await shop.sandboxPayment(body.orderId)
  const exact = { ...payment.captures[0]!, id: `cap_${randomUUID()}`, amountMinor: 3960 }
  assert.equal((await shop.notify({ payment: { ...payment, captures: [...payment.captures, exact] } })).status, 200)
  await inTransaction(shop.db, (tx) => acceptPayment(tx, shop.jobs, body.orderId, exact.id))
  const { amount, tax } = await shop.until(body.orderId, ({ paid }) => paid)
  assert.deepEqual([amount, tax?.amount], [3960, 630])
  assert.equal(await balance(shop.db, taxAccount(seller.sellerId), 'KWD'), 630)
  assert.deepEqual(await differences(), [])
})

/** Sales, a refund of a part, and an order that is not paid. When a month begins meanwhile, another seller sells it all again. */
async function salesOfOneMonth(): Promise<{ seller: Seller; month: string }> {
  for (;;) {
    const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive', oss: true })
    const month = monthNow()
    for (const [amount, country] of [[1190, 'DE'], [2380, 'DE'], [1200, 'FR'], [5000, 'US']] as const) await sold(seller, amount, country) // oxfmt-ignore
    const back = await sold(seller, 600, 'FR')
    await refund(seller, back, 300)
    const unpaid = await seller.order(await seller.product(1000), { country: 'DE' })
    assert.equal(unpaid.status, 201)
    if (month === monthNow()) return { seller, month }
  }
}

test('the report has a line for each country, rate, treatment and currency, as JSON and as CSV, and its sums are the books', async () => {
  await loadRates(shop, [rateOf('DE', 19), rateOf('FR', 20), ...'AT BE BG CY CZ DK EE ES FI GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ').map((code) => rateOf(code, 21))]) // oxfmt-ignore
  const { seller, month } = await salesOfOneMonth()
  const year = Number(month.slice(0, 4))
  const { items, from, to } = await report(seller, String(year))
  assert.deepEqual([from, to], [`${year}-01-01`, `${year}-12-31`])
  const line = (more: object) => ({ currency: 'EUR', returnedGross: 0, returnedTax: 0, ...more })
  assert.deepEqual(items, [
    line({ country: 'DE', rate: 19, treatment: 'domestic', orders: 2, gross: 3570, tax: 570, net: 3000, dueNet: 3000, dueTax: 570 }),
    line({ country: 'FR', rate: 20, treatment: 'oss', orders: 2, gross: 1800, tax: 300, net: 1500, returnedGross: 300, returnedTax: 50, dueNet: 1250, dueTax: 250 }),
    line({ country: 'US', rate: 0, treatment: 'outside', orders: 1, gross: 5000, tax: 0, net: 5000, dueNet: 5000, dueTax: 0 }),
  ]) // oxfmt-ignore
  assert.equal(await owed(seller), 820)
  const quarter = `${year}-Q${Math.ceil(Number(month.slice(5)) / 3)}`
  for (const period of [month, quarter]) assert.equal((await report(seller, period)).items.length, 3)
  for (const period of [String(year - 1), `${year - 1}-Q4`, `${year - 1}-12`]) assert.deepEqual((await report(seller, period)).items, []) // oxfmt-ignore
  const csv = await seller.browser.call('GET', `/api/tax/report?period=${year}`, undefined, { accept: 'text/csv' })
  assert.match(csv.headers.get('content-type')!, /text\/csv/)
  assert.deepEqual((csv.body as string).trim().split('\r\n').slice(0, 3), [
    'period,country,rate,treatment,currency,orders,net,tax,gross,returned_gross,returned_tax,due_net,due_tax',
    `${year},DE,19,domestic,EUR,2,30.00,5.70,35.70,0.00,0.00,30.00,5.70`,
    `${year},FR,20,oss,EUR,2,15.00,3.00,18.00,3.00,0.50,12.50,2.50`,
  ])
  // another seller sees nothing of it
  assert.deepEqual((await report(await taxSeller(shop))).items, [])
  assert.deepEqual(await differences(), [])
})

test('a sale counts when its payment was confirmed, not when the buyer began it', async () => {
  const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive' })
  const { body } = await seller.order(await seller.product(1190), { country: 'DE' })
  await assert.rejects(
    inTransaction(shop.db, async (tx) => {
      // Stripe dates a debit by its beginning
      await sql`update orders set state = 'paid', paid_at = '2020-01-30' where id = ${body.orderId}`.execute(tx)
      await sql`
        insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency, created_at)
        values ('sale', ${`sandbox:capture:${body.orderId}`}, ${body.orderId}, 'processor:sandbox', ${`seller:${seller.sellerId}`}, 1190, 'EUR', '2020-02-05')`.execute(
        tx,
      )
      const orders = async (period: string) =>
        (await taxReport(tx, seller.sellerId, taxPeriodOf(period))).map((line) => line.orders)
      assert.deepEqual([await orders('2020-01'), await orders('2020-02')], [[], [1]])
      throw new Error('undone')
    }),
    /undone/,
  )
})

test('a period is a year, a quarter or a month of UTC, and nothing else', async () => {
  const days = (period: string) => Object.values(taxPeriodOf(period)).map((at: Date) => at.toISOString().slice(0, 10))
  assert.deepEqual(days('2026'), ['2026-01-01', '2027-01-01'])
  assert.deepEqual(days('2026-Q4'), ['2026-10-01', '2027-01-01'])
  assert.deepEqual(days('2028-02'), ['2028-02-01', '2028-03-01'])
  const seller = await taxSeller(shop)
  for (const period of ['', '2026-13', '2026-0', '2026-Q5', '2026-Q0', '0999', '20260', '2026-10-01', 'Q4-2026'])
    assertProblem(await seller.browser.call('GET', `/api/tax/report?period=${period}`), 400, 'validation_failed')
  assertProblem(await seller.browser.call('GET', '/api/tax/report'), 400, 'validation_failed')
  assertProblem(await shop.call('GET', '/api/tax/report?period=2026'), 401, 'not_signed_in')
})
