import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { share } from '../../src/kit/money.ts'
import type { Capture } from '../../src/processors/processor.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { attentionOf } from '../../src/shop/attention.ts'
import { listTransfers } from '../../src/shop/transfers.ts'
import { captureOf, snapshotOf } from '../stand-ins/processor.ts'
import { SEED, sample } from '../support/seed.ts'
import { type Browser, newBrowser, newMailbox } from '../support/seller.ts'
import { type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'

const ends: (() => unknown)[] = []
let shop: TestShop
before(async () => {
  shop = await startTestShop({ after: (end) => ends.push(end) })
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

interface Seller {
  sellerId: string
  browser: Browser
  get(path: string): Promise<any>
}

async function newSeller(): Promise<Seller> {
  const email = newMailbox()
  const sellerId = await ensureSeller(shop.db, { name: 'Ann', email })
  const browser = newBrowser(shop)
  await browser.signInByCode(email)
  const get = async (path: string) => {
    const { status, body } = await browser.call('GET', path)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  return { sellerId, browser, get }
}

async function sale({ sellerId }: Seller, priceMinor: number, currency = 'USD') {
  return shop.paid({ productId: await shop.product({ sellerId, priceMinor, currency, name: `Book ${priceMinor}` }) })
}

async function dispute(orderId: string, states: ('open' | 'won' | 'lost')[], lostMinor?: number): Promise<void> {
  const { captures, ...payment } = await shop.sandboxPayment(orderId)
  const [{ id: captureId, amountMinor }] = captures as [Capture]
  for (const state of states) {
    const disputes = [{ id: `dp_${orderId}`, captureId, amountMinor, state, lostMinor }]
    await shop.notify({ payment: { ...payment, captures, disputes } })
  }
}

/** Sold at a time, without a processor. */
async function sold(seller: Seller, paidAt: string, { amount = 1000, rail = 'card', productId = '' } = {}) {
  const product = productId || (await shop.product({ sellerId: seller.sellerId, files: [] }))
  await sql`
    insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor,
      state, rail, expires_at, created_at, paid_at)
    values (${newId('ord')}, ${product}, ${seller.sellerId}, 'bob@example.com', 'A book', ${amount}, 'USD', fee_of(${amount}),
      'TILL BOOK', 'paid', ${rail}, now(), ${paidAt}, ${paidAt})`.execute(shop.db)
}

test('without a session no money is visible', async () => {
  for (const path of ['/api/balance', '/api/transfers', '/api/transfers?format=csv', '/api/stats', '/api/attention'])
    assertProblem(await newBrowser(shop).call('GET', path), 401, 'not_signed_in')
})

test('times, zones, intervals and cursors that are none are refused, and so is a range of more than 400 parts', async () => {
  const { browser } = await newSeller()
  for (const query of [
    'interval=minute',
    'interval=',
    'timeZone=Mars/Olympus',
    'timeZone=',
    'timeZone=%2B05:30',
    "timeZone=';--",
    'timeZone=UTC%00',
    'from=x',
    'from=2026-02-30',
    'from=2026-03-02&to=2026-03-01',
    'from=2026-03-01&to=2026-03-01',
    'from=1970-01-01',
    'from=2026-01-01&to=2026-01-18&interval=hour',
    'from=1970-01-01&to=9998-01-01&interval=month',
    'to=9999-01-01',
  ])
    // oxfmt-ignore
    assertProblem(await browser.call('GET', `/api/stats?${query}`), 400, 'validation_failed')
  for (const query of [
    'currency=usd',
    'currency=US',
    'orderId=x',
    `orderId=${newId('prod')}`,
    'limit=0',
    'cursor=x',
    'from=2026-02-30',
    `cursor=${Buffer.from(newId('ord')).toString('base64url')}`,
  ])
    // oxfmt-ignore
    assertProblem(await browser.call('GET', `/api/transfers?${query}`), 400, 'validation_failed')
})

test('a seller with no sale has a balance of nothing, no transfers, and sums without a currency', async () => {
  const { get } = await newSeller()
  assert.deepEqual(await get('/api/balance'), { items: [] })
  assert.deepEqual(await get('/api/transfers'), { items: [], nextCursor: null })
  const { items, interval, timeZone, from, to } = await get('/api/stats')
  assert.deepEqual([items, interval, timeZone], [[], 'day', 'UTC'])
  assert.equal(Date.parse(to) - Date.parse(from), 30 * 86_400_000)
  assert.deepEqual(await get('/api/attention'), { items: [] })
})

test('the balance is the sum of all transfers, to the cent, and of its own parts', async () => {
  const seller = await newSeller()
  const refunded = await sale(seller, 1999)
  await sale(seller, 2525)
  await sale(seller, 1234, 'KWD')
  const won = await sale(seller, 3000)
  const lost = await sale(seller, 4025)
  const lostInPart = await sale(seller, 6050)
  const open = await sale(seller, 5000)
  await seller.browser.call('POST', `/api/orders/${refunded.orderId}/refunds`, { amount: 777 })
  await shop.until(refunded.orderId, ({ refundedAmount }) => refundedAmount === 777)
  await dispute(won.orderId, ['open', 'won'])
  await dispute(lost.orderId, ['open', 'lost'])
  await dispute(lostInPart.orderId, ['open', 'lost'], 2025)
  await dispute(open.orderId, ['open'])
  const { items: balances } = await seller.get('/api/balance')
  const { items: transfers } = await seller.get('/api/transfers?limit=100')
  assert.deepEqual(
    balances.map(({ currency }: any) => currency),
    ['KWD', 'USD'],
  )
  for (const { currency, balance, sales, fees, refunds, disputes } of balances) {
    const sum = transfers.filter((one: any) => one.currency === currency).reduce((s: number, t: any) => s + t.amount, 0)
    assert.equal(balance, sum)
    assert.equal(balance, sales - fees - refunds - disputes)
  }
  const [, usd] = balances
  const sold = 1999 + 2525 + 3000 + 4025 + 5000 + 6050
  assert.deepEqual([usd.sales, usd.refunds, usd.disputes], [sold, 777, 4025 + 2025 + 5000])
  const { netAmount, timeline } = await seller.get(`/api/orders/${lost.orderId}`)
  assert.equal(netAmount, 0)
  assert(timeline.some(({ what }: any) => what === 'charged_back'))
  const part = await seller.get(`/api/orders/${lostInPart.orderId}`)
  assert.deepEqual([part.status, part.chargedBackAmount], ['partially_refunded', 2025])
  const { items } = await seller.get('/api/stats')
  const sums = items.find(({ currency }: any) => currency === 'USD')
  assert.deepEqual([sums.orders, sums.amount, sums.refunded], [6, sold, 777 + 4025 + 2025])
  // money that a bank holds was sold all the same
  assert.equal(sums.net, usd.balance + 5000)
  assert.equal(sums.net, sums.amount - sums.fees - sums.refunded)
})

test('transfers come in pages, by order, currency and time, and another’s are not there', async () => {
  const [seller, other] = [await newSeller(), await newSeller()]
  const orders = [await sale(seller, 1000), await sale(seller, 2000), await sale(seller, 500, 'JPY')]
  const seen: any[] = []
  let cursor: string | null = null
  do {
    const page: any = await seller.get(`/api/transfers?limit=1${cursor ? `&cursor=${cursor}` : ''}`)
    seen.push(...page.items)
    cursor = page.nextCursor
  } while (cursor)
  assert.equal(new Set(seen.map(({ id }) => id)).size, 6)
  assert.deepEqual(
    seen.map(({ createdAt }) => createdAt),
    seen.map(({ createdAt }) => createdAt).toSorted().toReversed(), // oxfmt-ignore
  )
  assert.deepEqual(
    seen.map(({ kind, amount, balance }) => [kind, amount, balance]),
    [['sale', 500, 490], ['fee', -10, 490], ['sale', 2000, 2940], ['fee', -40, 2940], ['sale', 1000, 980], ['fee', -20, 980]], // oxfmt-ignore
  )
  const kinds = async (query: string, by = seller) =>
    (await by.get(`/api/transfers?${query}`)).items.map(({ kind, amount }: any) => [kind, amount]).toSorted()
  assert.deepEqual(await kinds(`orderId=${orders[1]!.orderId}`), [['fee', -40], ['sale', 2000]]) // oxfmt-ignore
  assert.deepEqual(await kinds('currency=JPY'), [['fee', -10], ['sale', 500]]) // oxfmt-ignore
  assert.deepEqual(await kinds('to=2026-01-01'), [])
  assert.equal((await kinds('from=2026-01-01')).length, 6)
  assert.deepEqual(await kinds(`orderId=${orders[1]!.orderId}`, other), [])
  assert.deepEqual(await kinds('', other), [])
  const csv = await seller.browser.call('GET', '/api/transfers?currency=USD', undefined, { accept: 'text/csv' })
  const lines = csv.body.trimEnd().split('\r\n')
  assert.equal(lines[0], 'transfer_id,created_at,kind,order_id,currency,amount_minor,amount')
  assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="transfers.csv"')
  const amounts = lines.slice(1).map((line: string) => line.split(',').slice(5).join())
  assert.deepEqual(amounts.toSorted(), ['-20,-0.20', '-40,-0.40', '1000,10.00', '2000,20.00'])
})

test('each transfer says the balance after it, whatever page, filter or order it is found by', async () => {
  const seller = await newSeller()
  const currencies = ['USD', 'JPY', 'KWD']
  for (let n = 0; n < 7; n++) {
    const { orderId } = await sale(seller, 1000 + n * 250, currencies[n % 3])
    if (n % 2) await seller.browser.call('POST', `/api/orders/${orderId}/refunds`, { amount: 100 + n })
    if (n % 2) await shop.until(orderId, ({ refundedAmount }) => refundedAmount === 100 + n)
  }
  // several orders settled in one transaction share their moment: transfers are append-only, so these are booked here
  const [one] = (await seller.get('/api/transfers?limit=1')).items
  const account = `seller:${seller.sellerId}`
  for (const [n, orderId] of [newId('ord'), newId('ord'), newId('ord')].entries())
    await sql`
      insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency, created_at)
      values ('fee', ${orderId}, ${orderId}, ${account}, 'fees', ${n + 1}, 'USD', ${one.createdAt}::timestamptz + interval '1 second'),
        ('sale', ${orderId}, ${orderId}, 'processor:sandbox', ${account}, 100, 'USD', ${one.createdAt}::timestamptz + interval '1 second')`.execute(
      shop.db,
    )
  const all = async (query: string) => {
    const items: any[] = []
    for (let cursor = ''; ;) {
      const page = await seller.get(`/api/transfers?${query}${cursor && `&cursor=${cursor}`}`)
      items.push(...page.items)
      if (!page.nextCursor) return items
      cursor = page.nextCursor
    }
  }
  const whole = await all('limit=100')
  const balances = (await seller.get('/api/balance')).items
  for (const { currency, balance } of balances) {
    const own = whole.filter((item) => item.currency === currency)
    assert.equal(own[0].balance, balance)
    // from the oldest on, the transfers of an order at one moment add up to the balance after it
    let held = 0
    for (const [at, { orderId, createdAt }] of own.toReversed().entries()) {
      held += own.at(-1 - at).amount
      const next = own.at(-2 - at)
      if (next?.orderId !== orderId || next?.createdAt !== createdAt) assert.equal(own.at(-1 - at).balance, held)
    }
    assert.equal(held, balance)
  }
  for (const limit of [1, 2, 3, 5]) assert.deepEqual(await all(`limit=${limit}`), whole)
  assert.deepEqual(await all('limit=2&currency=USD'), whole.filter(({ currency }) => currency === 'USD')) // oxfmt-ignore
  const middle = whole[8].createdAt
  assert.deepEqual(await all(`limit=3&to=${middle}`), whole.filter(({ createdAt }) => createdAt < middle)) // oxfmt-ignore
  assert.deepEqual(await all(`limit=3&from=${middle}`), whole.filter(({ createdAt }) => createdAt >= middle)) // oxfmt-ignore
  for (const [at, { kind, orderId }] of whole.entries())
    if (kind === 'fee') assert.deepEqual([whole[at - 1].kind, whole[at - 1].orderId], ['sale', orderId])
  const ofOrder = (await seller.get(`/api/transfers?orderId=${whole[0].orderId}`)).items
  assert.deepEqual(ofOrder.map(({ kind, balance }: any) => [kind, balance]), [['sale', undefined], ['fee', undefined]]) // oxfmt-ignore
})

test('the balances of a page read a seller’s transfers once, not once a line', async () => {
  const { sellerId } = await newSeller()
  const account = `seller:${sellerId}`
  const sales = 2000
  await sql`
    insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency, created_at)
    select kind, 'many ' || n, ${newId('ord')}, debit, credit, amount, 'USD', now() - n * interval '1 minute'
    from generate_series(1, ${sales}::int) n,
      (values ('sale', 'processor:sandbox', ${account}, 1900), ('fee', ${account}, 'fees', 38)) t (kind, debit, credit, amount)`.execute(
    shop.db,
  )
  const asked: { sql: string; parameters: readonly unknown[] }[] = []
  const spy = shop.db.withPlugin({
    transformQuery({ node, queryId }) {
      asked.push(shop.db.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const rows = await listTransfers(spy, sellerId, {}, { limit: 50, withBalance: true })
  assert.deepEqual([rows.length, rows[0]!.balanceMinor], [50, sales * 1862])
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  ends.push(() => client.end())
  await client.query('set enable_seqscan = off')
  const explained = await client.query(`explain (analyze, format json) ${asked[0]!.sql}`, [...asked[0]!.parameters])
  const readBy = (node: any): number =>
    (node['Relation Name'] === 'transfers' ? node['Actual Rows'] * node['Actual Loops'] : 0) +
    (node.Plans ?? []).reduce((sum: number, part: any) => sum + readBy(part), 0)
  const read = readBy(explained.rows[0]['QUERY PLAN'][0].Plan)
  // all of them for the sum, a page of them for the list and for its moments
  assert(read >= 2 * sales && read < 3 * sales, `${read} transfers were read`)
})

test('days are those of the time zone, also where the clocks change, and those with nothing are there', async () => {
  const seller = await newSeller()
  for (const at of ['2026-10-24T21:59:59.999Z', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z'])
    await sold(seller, at)
  const days = async (query: string) => {
    const { items } = await seller.get(`/api/stats?from=2026-10-23T22:00:00Z&to=2026-10-27T23:00:00Z&${query}`)
    return items[0].buckets.map(({ at, orders }: any) => [at.slice(0, 16), orders])
  }
  assert.deepEqual(await days('timeZone=Europe/Vienna'), [
    ['2026-10-23T22:00', 1], ['2026-10-24T22:00', 2], ['2026-10-25T23:00', 1], ['2026-10-26T23:00', 0],
  ]) // oxfmt-ignore
  assert.deepEqual(await days('interval=week&timeZone=Europe/Vienna'), [['2026-10-18T22:00', 3], ['2026-10-25T23:00', 1]]) // oxfmt-ignore
  // the database alone would take IST for Israel's time
  for (const zone of ['Asia/Kolkata', 'IST'])
    assert.deepEqual(await days(`interval=month&timeZone=${zone}`), [['2026-09-30T18:30', 4]])
  assert.equal((await days('interval=hour&timeZone=Europe/Vienna')).length, 97)
  const { items } = await seller.get('/api/stats?from=2026-10-25&to=2026-10-25T22:59:59Z')
  assert.deepEqual(items, [])
})

test('rails and the five products with the highest sums are listed, highest first', async () => {
  const seller = await newSeller()
  const productIds: string[] = []
  for (let n = 1; n <= 6; n++) {
    const productId = await shop.product({ sellerId: seller.sellerId, name: `Book ${n}`, files: [] })
    await sold(seller, '2026-03-10T12:00:00Z', { amount: n * 100, rail: n % 2 ? 'card' : 'upi', productId })
    productIds.unshift(productId)
  }
  const { items } = await seller.get('/api/stats?from=2026-03-10&to=2026-03-11')
  assert.deepEqual(
    items[0].products.map(({ id, name, orders, amount }: any) => [id, name, orders, amount]),
    productIds.slice(0, 5).map((id, at) => [id, `Book ${6 - at}`, 1, (6 - at) * 100]),
  )
  assert.deepEqual(items[0].rails, [
    { rail: 'upi', orders: 3, amount: 1200 },
    { rail: 'card', orders: 3, amount: 900 },
  ])
  assert.deepEqual(items[0].buckets, [{ at: '2026-03-10T00:00:00.000Z', orders: 6, amount: 2100 }])
})

test('matters that need the seller are listed by weight, with their order or product, until they are done', async () => {
  const seller = await newSeller()
  const { sellerId } = seller
  const review = await shop.checkout({ productId: await shop.product({ sellerId, name: 'Odd' }) })
  await shop.notify({
    payment: await snapshotOf(shop, review, { state: 'captured', captures: [captureOf(review, { amountMinor: 5 })] }),
  })
  const disputed = await sale(seller, 1000)
  await dispute(disputed.orderId, ['open'])
  const bounced = await sale(seller, 2000)
  // a receipt that arrives later takes the mark away again
  await eventually(
    () => shop.mails(),
    (mails) => mails.some(({ text }) => text.includes(bounced.orderId)),
  )
  await sql`update orders set receipt_bounced_at = now() where id = ${bounced.orderId}`.execute(shop.db)
  const failed = await sale(seller, 3000)
  await seller.browser.call('POST', `/api/orders/${failed.orderId}/refunds`, { amount: 100 })
  await shop.until(failed.orderId, ({ refundedAmount }) => refundedAmount === 100)
  await sql`update refunds set state = 'failed' where order_id = ${failed.orderId}`.execute(shop.db)
  const empty = await shop.product({ sellerId, name: 'Empty', files: [] })
  await shop.product({ sellerId, name: 'Not yet', files: [], status: 'draft' })
  const list = async (by = seller) => (await by.get('/api/attention')).items
  const items = await list()
  // the newest was made last: weight decides, whatever came when
  assert.deepEqual(
    items.map(({ what }: any) => what),
    ['disputed', 'needs_review', 'refund_failed', 'receipt_bounced', 'no_files'],
  )
  const about = (what: string) => items.find((item: any) => item.what === what)
  assert.deepEqual([about('disputed').orderId, about('disputed').name], [disputed.orderId, 'Book 1000'])
  assert.equal(about('receipt_bounced').email, 'bob@example.com')
  assert.equal(about('refund_failed').orderId, failed.orderId)
  assert.deepEqual([about('no_files').productId, about('no_files').orderId], [empty, undefined])
  assert.deepEqual(await list(await newSeller()), [])
  const later = await sale(seller, 4000)
  await dispute(later.orderId, ['open'])
  const disputes = (await list()).filter(({ what }: any) => what === 'disputed')
  assert.deepEqual(disputes.map(({ orderId }: any) => orderId), [disputed.orderId, later.orderId], 'the oldest is due first') // oxfmt-ignore
  await dispute(later.orderId, ['won'])
  await seller.browser.call('POST', `/api/orders/${failed.orderId}/refunds`, { amount: 50 })
  await dispute(disputed.orderId, ['won'])
  assert.deepEqual((await list()).map(({ what }: any) => what).toSorted(), ['needs_review', 'no_files', 'receipt_bounced']) // oxfmt-ignore
  const unpaid = (await attentionOf(shop.db, sellerId, () => false)).filter(({ what }) => what === 'no_payments')
  assert.deepEqual(unpaid.map(({ name }) => name).toSorted(), [
    'Book 1000',
    'Book 2000',
    'Book 3000',
    'Book 4000',
    'Empty',
    'Odd',
  ])
})

test(`a share in the schema is the share in the program (seed ${SEED})`, async () => {
  const amounts = sample(
    fc.tuple(fc.nat(20_000_000_000), fc.nat(1_000_000), fc.integer({ min: 1, max: 1_000_000 })),
    500,
  )
  const cases = [...amounts, [5, 1, 2], [15, 1, 2], [20_000_000_000, 999_999_999_998, 999_999_999_999]].map(
    ([amount, a, b]) => [amount!, Math.min(a!, b!), Math.max(a!, b!)] as const,
  )
  const column = (at: 0 | 1 | 2) => cases.map((one) => one[at])
  const { rows } = await sql<{ minor: number }>`
    select share_of(a, p, w) as minor
    from unnest(${column(0)}::bigint[], ${column(1)}::bigint[], ${column(2)}::bigint[]) with ordinality as c(a, p, w, n)
    order by n`.execute(shop.db)
  assert.deepEqual(
    rows.map(({ minor }) => minor),
    cases.map(([amount, part, whole]) => share(amount, part, whole)),
  )
})
