import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { shortNumber } from '../../src/kit/order-number.ts'
import { newId } from '../../src/kit/ids.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { detailOf } from '../../src/shop/order-routes.ts'
import { pastOrder } from '../support/buyer.ts'
import { type Browser, newBrowser, newMailbox } from '../support/seller.ts'
import { type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'

const ends: (() => unknown)[] = []
let shop: TestShop
let ann: Browser
before(async () => {
  shop = await startTestShop({ after: (end) => ends.push(end) })
  ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

const list = async (query: Record<string, string> = {}, browser = ann): Promise<any> => {
  const answer = await browser.call('GET', `/api/orders?${new URLSearchParams(query)}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
const ids = async (query: Record<string, string>, browser = ann): Promise<string[]> =>
  (await list(query, browser)).items.map(({ orderId }: { orderId: string }) => orderId)

/** A seller with nothing yet, signed in. */
async function newSeller(): Promise<{ browser: Browser; sellerId: string }> {
  const email = newMailbox()
  const sellerId = await ensureSeller(shop.db, { name: 'Eve', email })
  const browser = newBrowser(shop)
  await browser.signInByCode(email)
  return { browser, sellerId }
}

/** Orders of a product of the seller's, one a minute from noon on, as `fields` say. */
async function orders(sellerId: string, count: number, name = 'A book'): Promise<string[]> {
  const productId = await shop.product({ sellerId, name })
  const made = Array.from({ length: count }, () => newId('ord'))
  await sql`
    insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor,
      expires_at, created_at)
    select id, ${productId}, ${sellerId}, 'buyer' || n || '@example.com', ${name}, 1900, 'USD', 38, 'TILL BOOK', now(),
      timestamptz '2026-03-10 12:00:00.123456Z' + n / 2 * interval '1 minute'
    from unnest(${made}::text[]) with ordinality as o(id, n)`.execute(shop.db)
  return made
}

test('without a session no order is visible', async () => {
  const orderId = newId('ord')
  for (const [method, path, body] of [
    ['GET', '/api/orders'],
    ['GET', '/api/orders?format=csv'],
    ['GET', `/api/orders/${orderId}`],
    ['POST', `/api/orders/${orderId}/receipt`, {}],
    ['POST', `/api/orders/${orderId}/email`, { email: 'bob@example.com' }],
  ] as const)
    assertProblem(await newBrowser(shop).call(method, path, body), 401, 'not_signed_in')
  assertProblem(
    await shop.call('POST', `/api/orders/${orderId}/receipt`, {}, { origin: 'https://evil.test' }),
    403,
    'origin_not_allowed',
  )
})

test('another seller’s order is not found, on any route', async () => {
  const { orderId } = await shop.checkout()
  const { browser } = await newSeller()
  assertProblem(await browser.call('GET', `/api/orders/${orderId}`), 404, 'order_not_found')
  assertProblem(await browser.call('POST', `/api/orders/${orderId}/receipt`), 404, 'order_not_found')
  assertProblem(await browser.call('GET', `/api/orders/${newId('ord')}`), 404, 'order_not_found')
  for (const query of [
    {},
    { q: orderId },
    { q: shortNumber(orderId) },
    { q: 'bob' },
    { email: 'bob@example.com' },
  ] as Record<string, string>[])
    assert.deepEqual(await ids(query, browser), [])
  assert.deepEqual(await ids({ q: orderId }), [orderId])
  const short = shortNumber(orderId)
  for (const q of [short, short.toLowerCase(), short.replace('-', ''), short.replaceAll('0', 'O')])
    assert.deepEqual(await ids({ q }), [orderId], q)
})

test('filters, limits and cursors that are none are refused', async () => {
  const cursor = (text: string) => Buffer.from(text).toString('base64url')
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.5',
    'limit=ten',
    'limit=',
    'status=lost',
    'status=',
    'status=paid&status=paid',
    'rail=cash',
    'q=%00',
    'email=a%00b',
    'productId=%00',
    'from=yesterday',
    'from=2026-02-30',
    'from=2026-13-01',
    'from=0000-01-01',
    'from=1969-12-31',
    'from=2026-03-10T12:00',
    'from=2026-03-10&to=2026-03-10',
    'to=2026-03-10T25:00Z',
    'from=2026-03-10&to=2026-03-09',
    'to=9999-12-31',
    'format=xml',
    `q=${'x'.repeat(201)}`,
    'cursor=',
    'cursor=x',
    'cursor=%00',
    `cursor=${newId('ord')}`,
    `cursor=${cursor(newId('ses'))}`,
    `cursor=${cursor('ord_')}`,
    `cursor=${cursor(`1.${newId('ord')}`)}`,
    `cursor=${cursor(newId('ord'))}=`,
    `cursor=${cursor(`${newId('ord')}\n`)}`,
  ])
    // oxfmt-ignore
    assertProblem(await ann.call('GET', `/api/orders?${query}`), 400, 'validation_failed')
  assert.deepEqual(await ids({ cursor: cursor(newId('ord')) }), [])
  for (const path of ['/api/orders/x', '/api/orders/ord_%00', `/api/orders/${newId('prod')}`])
    assertProblem(await ann.call('GET', path), 404, 'order_not_found')
})

test('the pages of a list hold each order once, the newest first, whatever is made or moves meanwhile', async () => {
  const { browser, sellerId } = await newSeller()
  const made = await orders(sellerId, 12)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: any = await list({ limit: '5', ...(cursor && { cursor }) }, browser)
    seen.push(...page.items.map(({ orderId }: { orderId: string }) => orderId))
    cursor = page.nextCursor
    await shop.checkout({ productId: page.items[0].product.id })
    await sql`update orders set state = 'expired' where id = ${seen.at(-1)!}`.execute(shop.db)
  } while (cursor)
  const { rows } = await sql<{ id: string }>`
    select id from orders where id = any(${made}) order by created_at desc, id desc`.execute(shop.db)
  assert.deepEqual(
    seen,
    rows.map(({ id }) => id),
  )
  const exact = await list({ limit: '100', to: '2026-03-11' }, browser)
  assert.deepEqual([exact.items.length, exact.nextCursor], [12, null])
  const full = await list({ limit: '12', to: '2026-03-11' }, browser)
  assert.deepEqual([full.items.length, full.nextCursor], [12, null])
})

test('each filter and all filters together find the right orders', async () => {
  const { browser, sellerId } = await newSeller()
  const [poem, second] = (await orders(sellerId, 2, 'Über 100 % Poems_')) as [string, string]
  const [novel] = (await orders(sellerId, 1, 'A novel')) as [string]
  await sql`update orders set state = 'paid', paid_at = created_at, rail = 'upi', email = 'zoe+a@mail.test' where id = ${novel}`.execute(
    shop.db,
  )
  await sql`update orders set created_at = '2026-03-12T00:00:00Z' where id = ${second}`.execute(shop.db)
  const productId = (await list({ q: poem }, browser)).items[0].product.id
  const found = async (query: Record<string, string>) => (await ids(query, browser)).toSorted()
  const all = [poem, second, novel].toSorted()
  const both = [poem, second].toSorted()
  for (const [query, wanted] of [
    [{}, all],
    [{ status: 'paid' }, [novel]],
    [{ status: 'needs_review' }, []],
    [{ rail: 'upi' }, [novel]],
    [{ productId }, both],
    [{ productId: 'prod_x' }, []],
    [{ email: ' ZOE+a@mail.test ' }, [novel]],
    [{ email: 'zoe' }, []],
    [{ from: '2026-03-12' }, [second]],
    [{ to: '2026-03-12' }, [poem, novel].toSorted()],
    [{ from: '2026-03-12T01:00:00+01:00', to: '2026-03-12T00:00:01Z' }, [second]],
    [{ q: 'ZOE+' }, [novel]],
    [{ q: 'mail.test' }, []],
    [{ q: 'buyer' }, both],
    [{ q: 'über' }, both],
    [{ q: 'ÜBER' }, both],
    [{ q: '100 %' }, both],
    [{ q: 'poems_' }, both],
    [{ q: 'p%s' }, []],
    [{ q: '_' }, both],
    [{ q: '\\' }, []],
    [{ q: `  ${novel.toUpperCase()}  ` }, [novel]],
    [{ q: novel.slice(0, -1) }, [novel]],
    [{ q: 'ord_%' }, []],
    [{ q: '   ' }, all],
    [{ q: "'; drop table orders; --" }, []],
    [
      { q: 'novel', status: 'paid', rail: 'upi', email: 'zoe+a@mail.test', from: '2026-03-01', to: '2026-04-01' },
      [novel],
    ],
    [{ q: 'novel', status: 'pending' }, []],
  ] as [Record<string, string>, string[]][])
    // oxfmt-ignore
    assert.deepEqual(await found(query), wanted, JSON.stringify(query))
})

test('an order is shown as it was at one moment, also when it is refunded while it is read', async () => {
  const { orderId } = await shop.paid({ productId: await shop.product({ name: 'A moment' }) })
  const path = `/api/orders/${orderId}`
  const { body: before } = await ann.call('GET', path)
  let isRefunded = false
  const meanwhile = shop.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isRefunded) return result
      isRefunded = true
      assert.equal((await ann.call('POST', `${path}/refunds`, {})).status, 201)
      await shop.until(orderId, ({ status }) => status === 'refunded')
      return result
    },
  })
  assert.deepEqual(await detailOf(meanwhile, shop.sellerId, orderId, () => before.orderUrl), before)
  const { body: after } = await ann.call('GET', path)
  assert.deepEqual([after.status, after.refunds[0].status], ['refunded', 'succeeded'])
})

test('an order shows its seller all that happened to it, to the cent', async () => {
  const productId = await shop.product({ name: 'Ledger', priceMinor: 2500, currency: 'EUR' })
  const order = await shop.paid({ productId })
  const path = `/api/orders/${order.orderId}`
  await ann.call('POST', `${path}/refunds`, { amount: 500, reason: 'as a thank-you' })
  await shop.until(order.orderId, ({ refundedAmount }) => refundedAmount === 500)
  const { status, body, headers } = await ann.call('GET', path)
  assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store'])
  const { timeline, refunds, transfers, files, createdAt, paidAt, statementDescriptor, ...rest } = body
  assert.deepEqual(rest, {
    orderId: order.orderId,
    status: 'partially_refunded',
    email: 'bob@example.com',
    amount: 2500,
    currency: 'EUR',
    fee: 50,
    refundedAmount: 500,
    rail: 'card',
    product: { id: productId, name: 'Ledger' },
    receipt: 'sent',
    netAmount: 1960,
    consents: [],
    withdrawals: [],
    orderUrl: `http://shop.test/order/?order=${order.orderId}`,
  })
  assert.equal(statementDescriptor, 'TILL* LEDGER')
  assert(createdAt <= paidAt)
  assert.deepEqual(
    timeline.map(({ what }: { what: string }) => what),
    ['created', 'paid', 'refund_requested', 'partially_refunded'],
  )
  assert.deepEqual(
    refunds.map(({ amount, reason, status }: any) => [amount, reason, status]),
    [[500, 'as a thank-you', 'succeeded']],
  )
  const booked = transfers.map(({ kind, amount }: any) => [kind, amount])
  assert.deepEqual(booked, [['refund', -500], ['fee_refund', 10], ['sale', 2500], ['fee', -50]]) // oxfmt-ignore
  assert.deepEqual(
    files.map(({ name, size }: any) => [name, size]),
    [['book.pdf', 6]],
  )
  const [listed] = (await list({ q: order.orderId })).items
  assert.deepEqual(listed, Object.fromEntries(Object.keys(listed).map((key) => [key, body[key]])))
})

test('an order that was not paid has no fee, wherever it is shown', async () => {
  const order = await shop.checkout()
  const { orderId } = order
  assert.equal((await ann.call('GET', `/api/orders/${orderId}`)).body.fee, null)
  assert.equal((await list({ q: orderId })).items[0].fee, null)
  await shop.confirm(order)
  await shop.until(orderId, ({ paid }) => paid)
  assert.equal((await ann.call('GET', `/api/orders/${orderId}`)).body.fee, 38)
})

test('a receipt is sent again to the order’s address, and not while the order is unpaid', async () => {
  const open = await shop.checkout()
  assertProblem(await ann.call('POST', `/api/orders/${open.orderId}/receipt`), 409, 'order_not_paid')
  const email = newMailbox()
  const orderId = await pastOrder(shop, email)
  for (let time = 0; time < 2; time++) {
    const { status, body } = await ann.call('POST', `/api/orders/${orderId}/receipt`)
    assert.deepEqual([status, body], [202, {}])
  }
  const mails = await eventually(
    () => shop.mails(email),
    ({ length }) => length === 2,
  )
  for (const { subject } of mails) assert.equal(subject, 'Your receipt: A book')
})

test('a seller has the receipt of an order sent only so often, over all instances, and strangers use up nothing of it', async (t) => {
  const env = { LIMITS: 'receipt=2/3600' }
  const one = await startTestShop(t, { env })
  const two = await startTestShop(t, { env, databaseUrl: one.databaseUrl })
  const [seller, stranger] = [newBrowser(one), newBrowser(one)]
  await seller.signInByCode('ann@shop.test')
  await stranger.signInByCode(newMailbox())
  const [email, open] = [newMailbox(), await one.checkout()]
  const [orderId, other] = [await pastOrder(one, email), await pastOrder(one, newMailbox())]
  const send = (browser: Pick<Browser, 'call'>, id = orderId) => browser.call('POST', `/api/orders/${id}/receipt`, {})
  for (let time = 0; time < 3; time++) {
    assertProblem(await send(newBrowser(one)), 401, 'not_signed_in')
    assertProblem(await send(stranger), 404, 'order_not_found')
    assertProblem(await send(seller, open.orderId), 409, 'order_not_paid')
  }
  // what the buyer asks for is counted by itself
  for (let time = 0; time < 2; time++)
    assert.equal((await one.call('POST', `/api/checkout/${orderId}/receipt`, { email })).status, 202)
  const elsewhere = seller.through(two)
  assert.equal((await send(seller)).status, 202)
  assert.equal((await send(elsewhere)).status, 202)
  for (const browser of [seller, elsewhere]) {
    const refused = await send(browser)
    assertProblem(refused, 429, 'rate_limited')
    assert(Number(refused.headers.get('retry-after')) > 3000)
  }
  assert.equal((await send(seller, other)).status, 202)
  const mails = await eventually(
    () => one.mails(email),
    ({ length }) => length === 4,
  )
  for (const { subject } of mails) assert.equal(subject, 'Your receipt: A book')
})

test('as CSV all orders come, with decimals beside the minor units, and no text is a formula', async () => {
  const { browser, sellerId } = await newSeller()
  const names = [
    '=cmd|calc',
    '+1',
    '-1',
    '@SUM(A1)',
    '\ttab',
    'a "quoted", one',
    'two\r\nlines',
    'Übung',
    '＝1',
    'x;=1',
    'y; @z',
  ]
  for (const name of names) await orders(sellerId, 1, name)
  await orders(sellerId, 120)
  const code = newId('dsc')
  await sql`insert into discounts (id, seller_id, code, percent_off) values (${code}, ${sellerId}, '-SPRING', 5)`.execute(
    shop.db,
  )
  await sql`update orders set currency = 'KWD', discount_id = ${code}, discount_minor = 100 where product_name = 'Übung'`.execute(
    shop.db,
  )
  const { status, body, headers } = await browser.call('GET', '/api/orders', undefined, { accept: 'text/csv' })
  assert.equal(status, 200)
  assert.match(headers.get('content-type')!, /^text\/csv; charset=utf-8$/)
  assert.equal(headers.get('content-disposition'), 'attachment; filename="orders.csv"')
  const rows = parseCsv(body)
  assert.equal(rows.length, 1 + names.length + 120)
  assert.equal(
    rows[0]!.join(),
    'order_id,created_at,paid_at,status,email,product_id,product,currency,amount_minor,amount,fee_minor,fee,refunded_minor,refunded,discount_minor,discount,discount_code,rail,receipt,client_reference_id,metadata',
  )
  const products = rows.map((row) => row[6]!).filter((name) => name !== 'A book' && name !== 'product')
  const safe = ["'=cmd|calc", "'+1", "'-1", "'@SUM(A1)", "'\ttab", ...names.slice(5, 8), "'＝1", "x;'=1", "y; '@z"]
  assert.deepEqual(products.toSorted(), safe.toSorted())
  const [, ...kwd] = rows.find((row) => row[6] === 'Übung')!
  assert.deepEqual(kwd.slice(6), [
    'KWD',
    '1900',
    '1.900',
    // it was never paid, so there is no fee
    '',
    '',
    '0',
    '0.000',
    '100',
    '0.100',
    "'-SPRING",
    '',
    'none',
    '',
    '',
  ])
  assert.deepEqual((await browser.call('GET', '/api/orders?format=csv&q=Übung')).body.split('\r\n').length, 3)
  const spreadsheet = await fetch(`${shop.url}/api/orders?format=csv&status=paid`, {
    headers: { cookie: browser.jar.header(new URL('http://shop.test/api/orders')) },
  })
  const bytes = Buffer.from(await spreadsheet.arrayBuffer())
  assert.equal(bytes.subarray(0, 12).toString('latin1'), '\xef\xbb\xbforder_id,')
  assert.equal(bytes.toString().split('\r\n').length, 2)
})

test('a file of more rows than are read at once has each of them once, in order', async () => {
  const { browser, sellerId } = await newSeller()
  const made = await orders(sellerId, 2500)
  const { body } = await browser.call('GET', '/api/orders', undefined, { accept: 'text/csv' })
  const got = parseCsv(body)
    .slice(1)
    .map((row) => row[0]!)
  assert.equal(got.length, 2500)
  assert.deepEqual(got.toSorted(), made.toSorted())
})

/** RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (end === '' && row.length === 0 && !quoted && !plain) break
    row.push(quoted !== undefined ? quoted.replaceAll('""', '"') : plain!)
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
