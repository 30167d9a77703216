import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { extractText, getDocumentProxy } from 'unpdf'
import { inTransaction } from '../../src/kit/database.ts'
import { newId } from '../../src/kit/ids.ts'
import { post } from '../../src/ledger/post.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { makeKey, programWith } from '../support/keys.ts'
import { type Browser, newBrowser, newMailbox } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop } from '../support/shop.ts'

// The payouts that a seller reads: the list, each with its orders, and the statement.

const shared = sharedShop()

interface Seller {
  sellerId: string
  browser: Browser
}

async function newSeller(name = 'Ann'): Promise<Seller> {
  const email = newMailbox()
  const sellerId = await ensureSeller(shared().db, { name, email, trusted: true })
  const browser = newBrowser(shared())
  await browser.signInByCode(email)
  return { sellerId, browser }
}

async function sale({ sellerId }: Seller, priceMinor: number, name = 'A book', currency = 'USD'): Promise<string> {
  const productId = await shared().product({ sellerId, priceMinor, currency, name })
  return (await shared().paid({ productId })).orderId
}

interface Options {
  holdDays?: number
  currency?: string
  hoursLater?: number
}

/** Books a payout as an approval does: of everything that is due then, or of `amountMinor`. */
async function payOut({ sellerId }: Seller, amountMinor: number, options: Options = {}): Promise<string> {
  const { holdDays = 0, currency = 'USD', hoursLater = 0 } = options
  const [runId, id] = [newId('run'), newId('po')]
  const at = sql`now() + make_interval(hours => ${hoursLater})`
  await inTransaction(shared().db, async (tx) => {
    await sql`
      insert into payout_runs (id, state, cutoff_at, created_by, approved_at, approved_by)
      values (${runId}, 'approved', ${at}, 'test', ${at}, 'test')`.execute(tx)
    await sql`
      insert into payouts (id, run_id, seller_id, currency, amount_minor, destination, destination_shown, reference, cutoff_at, hold_days, created_at)
      values (${id}, ${runId}, ${sellerId}, ${currency}, ${amountMinor}, ''::bytea, 'DE … 3000', ${id.replace('_', '').toUpperCase()},
        ${at}, ${holdDays}, ${at})`.execute(tx)
    await post(tx, [
      {
        kind: 'payout',
        cause: id,
        orderId: null,
        debit: `seller:${sellerId}`,
        credit: 'payouts',
        amountMinor,
        currency,
      },
    ])
  })
  return id
}

async function fail({ sellerId }: Seller, payoutId: string, amountMinor: number, why: string): Promise<void> {
  await inTransaction(shared().db, async (tx) => {
    await sql`
      update payouts set state = 'failed', ended_at = now(), failure = ${why} where id = ${payoutId}`.execute(tx)
    await post(tx, [
      { kind: 'payout_failed', cause: payoutId, orderId: null, debit: 'payouts', credit: `seller:${sellerId}`, amountMinor, currency: 'USD' },
    ]) // oxfmt-ignore
  })
}

async function adjust({ sellerId }: Seller, amountMinor: number, reason: string): Promise<void> {
  const id = newId('adj')
  await inTransaction(shared().db, async (tx) => {
    await sql`
      insert into adjustments (id, seller_id, currency, amount_minor, reason, created_by)
      values (${id}, ${sellerId}, 'USD', ${amountMinor}, ${reason}, 'test')`.execute(tx)
    const [debit, credit] = amountMinor > 0 ? ['adjustments', `seller:${sellerId}`] : [`seller:${sellerId}`, 'adjustments'] // oxfmt-ignore
    await post(tx, [
      { kind: 'adjustment', cause: id, orderId: null, debit, credit, amountMinor: Math.abs(amountMinor), currency: 'USD' },
    ]) // oxfmt-ignore
  })
}

async function get({ browser }: Seller, path: string): Promise<any> {
  const { status, body } = await browser.call('GET', path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** The sums of a payout come to its amount. */
function assertComesOut(payout: any): void {
  const others = payout.others.reduce((sum: number, { amount }: any) => sum + amount, 0)
  const { carried, sales, fees, refunds, disputes, amount, left } = payout
  assert.equal(carried + sales + fees + refunds + disputes + others, amount + left)
}

test('payouts of another seller, and those that do not exist, are not found: as JSON, as CSV and as a PDF', async () => {
  const [ann, bob] = [await newSeller(), await newSeller('Bob')]
  await sale(ann, 1000)
  const id = await payOut(ann, 980)
  for (const path of [`/api/payouts/${id}`, `/api/payouts/${id}?format=csv`, `/api/payouts/${id}/statement.pdf`]) {
    assertProblem(await bob.browser.call('GET', path), 404, 'payout_not_found')
    assertProblem(await ann.browser.call('GET', path.replace(id, newId('po'))), 404, 'payout_not_found')
    assertProblem(await ann.browser.call('GET', path.replace(id, 'po_1')), 404, 'payout_not_found')
    assertProblem(await newBrowser(shared()).call('GET', path), 401, 'not_signed_in')
  }
  assertProblem(await newBrowser(shared()).call('GET', '/api/payouts'), 401, 'not_signed_in')
  assert.deepEqual(await get(bob, '/api/payouts'), { items: [], nextCursor: null })
  for (const query of ['status=lost', 'currency=usd', 'cursor=x', 'limit=0', 'format=xml'])
    assertProblem(await ann.browser.call('GET', `/api/payouts?${query}`), 400, 'validation_failed')
  const ofOrders = Buffer.from(newId('ord')).toString('base64url')
  assertProblem(await ann.browser.call('GET', `/api/payouts?cursor=${ofOrders}`), 400, 'validation_failed')
})

test('a key reads payouts with the scope of the balance, and with no other', async () => {
  const ann = await newSeller()
  await sale(ann, 1000)
  const id = await payOut(ann, 980)
  const paths = ['/api/payouts', `/api/payouts/${id}`, `/api/payouts/${id}/statement.pdf`]
  const reader = programWith(shared(), (await makeKey(ann.browser, ['balance:read'])).secret)
  const other = programWith(shared(), (await makeKey(ann.browser, ['orders:read', 'exports:read'])).secret)
  for (const path of paths) {
    assert.equal((await reader.call('GET', path)).status, 200, path)
    assertProblem(await other.call('GET', path), 403, 'insufficient_scope')
  }
})

test('a payout opens to its orders, and what changes later is in the next one', async () => {
  const ann = await newSeller()
  const [first, second] = [await sale(ann, 1000, 'Field recordings'), await sale(ann, 1999)]
  const one = await payOut(ann, 980 + 1959)
  assert.equal((await ann.browser.call('POST', `/api/orders/${first}/refunds`, {}, { 'idempotency-key': newId('ref') })).status, 201) // oxfmt-ignore
  await eventually(
    () => shared().transfers(first),
    (entries) => entries.some(({ kind }) => kind === 'refund'),
  )
  const third = await sale(ann, 5000)
  const two = await payOut(ann, 3920)

  const { items } = await get(ann, '/api/payouts')
  assert.deepEqual(items.map(({ payoutId }: any) => payoutId), [two, one]) // oxfmt-ignore
  const { createdAt, ...shown } = items[1]
  assert.deepEqual(shown, { payoutId: one, status: 'approved', by: 'manual', amount: 2939, currency: 'USD', destination: 'DE … 3000', reference: one.replace('_', '').toUpperCase() }) // oxfmt-ignore

  const before = await get(ann, `/api/payouts/${one}`)
  assert.deepEqual(
    before.orders.map(({ soldAt: _, ...order }: any) => order),
    [
      { orderId: first, product: 'Field recordings', sale: 1000, fee: -20, refunds: 0, disputes: 0, net: 980 },
      { orderId: second, product: 'A book', sale: 1999, fee: -40, refunds: 0, disputes: 0, net: 1959 },
    ],
  )
  assert.deepEqual([before.from, before.carried, before.left, before.orderCount], [null, 0, 0, 2])
  const after = await get(ann, `/api/payouts/${two}`)
  assert.deepEqual(
    after.orders.map(({ orderId, sale: sold, fee, refunds, net }: any) => [orderId, sold, fee, refunds, net]),
    [
      [first, 0, 20, -1000, -980],
      [third, 5000, -100, 0, 4900],
    ],
  )
  assert.equal(after.from, before.until)
  for (const payout of [before, after]) assertComesOut(payout)
})

test('each payout begins with what the one before left over, whatever was paid, failed or adjusted between', async () => {
  const ann = await newSeller()
  await sale(ann, 10_000)
  const ids = [await payOut(ann, 5000)]
  await adjust(ann, -300, 'The bank took a fee')
  await fail(ann, ids[0]!, 5000, 'The account is closed')
  ids.push(await payOut(ann, 9500))
  await sale(ann, 700)
  await adjust(ann, 120, 'A gift')
  ids.push(await payOut(ann, 700))
  const payouts = []
  for (const id of ids) payouts.push(await get(ann, `/api/payouts/${id}`))
  for (const payout of payouts) assertComesOut(payout)
  assert.deepEqual(payouts.map(({ carried, left }) => [carried, left]), [[0, 4800], [4800, 0], [0, 106]]) // oxfmt-ignore
  assert.deepEqual(
    payouts[1].others.map(({ what, amount }: any) => [what, amount]),
    [
      ['Adjustment: The bank took a fee', -300],
      [`Payout …${ids[0]!.slice(-6)} failed: The account is closed`, 5000],
    ],
  )
  assert.deepEqual([payouts[0].status, payouts[0].failure], ['failed', 'The account is closed'])
})

test('a payout keeps the holding period that it was made with, so a new setting changes no statement', async () => {
  const ann = await newSeller()
  const orderId = await sale(ann, 1000)
  const withoutHold = await payOut(ann, 980, { holdDays: 0 })
  await adjust(ann, 500, 'So that there is something to pay')
  const withHold = await payOut(ann, 500, { holdDays: 7 })
  const late = await payOut(ann, 1, { holdDays: 7, hoursLater: 8 * 24 })
  const orders = async (id: string) => (await get(ann, `/api/payouts/${id}`)).orders.map((order: any) => order.orderId)
  assert.deepEqual(await orders(withoutHold), [orderId])
  assert.deepEqual([await orders(withHold), await orders(late)], [[], []], 'an order is paid out once')
  for (const id of [withoutHold, withHold, late]) assertComesOut(await get(ann, `/api/payouts/${id}`))

  const bob = await newSeller('Bob')
  const held = await sale(bob, 1000)
  await adjust(bob, 500, 'So that there is something to pay')
  const early = await payOut(bob, 500, { holdDays: 7 })
  const due = await payOut(bob, 980, { holdDays: 7, hoursLater: 8 * 24 })
  assert.deepEqual((await get(bob, `/api/payouts/${early}`)).orders, [])
  assert.deepEqual((await get(bob, `/api/payouts/${due}`)).orders.map((order: any) => order.orderId), [held]) // oxfmt-ignore
})

test('the lists come in pages: payouts newest first, orders as they were made', async () => {
  const ann = await newSeller()
  const orders = []
  for (let index = 0; index < 5; index += 1) orders.push(await sale(ann, 1000))
  const ids = [await payOut(ann, 4900), await payOut(ann, 1), await payOut(ann, 1, { currency: 'EUR' })]
  const pages = async (path: string, items: string, of: (item: any) => string) => {
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: any = await get(ann, `${path}limit=2${cursor && `&cursor=${cursor}`}`)
      assert(page[items].length <= 2)
      found.push(...page[items].map(of))
      cursor = page.nextCursor
    }
    return found
  }
  assert.deepEqual(await pages('/api/payouts?', 'items', (one) => one.payoutId), ids.toReversed())
  assert.deepEqual(await pages('/api/payouts?currency=EUR&', 'items', (one) => one.payoutId), [ids[2]])
  assert.deepEqual(await pages('/api/payouts?status=paid&', 'items', (one) => one.payoutId), [])
  assert.deepEqual(await pages(`/api/payouts/${ids[0]}?`, 'orders', (one) => one.orderId), orders)
})

test('the CSV of a payout adds up to it, and no name runs as a formula', async () => {
  const ann = await newSeller()
  await sale(ann, 1000, '=cmd()')
  await payOut(ann, 500)
  await adjust(ann, -100, 'A correction')
  await sale(ann, 3000)
  const id = await payOut(ann, 3000)
  const csv = await ann.browser.call('GET', `/api/payouts/${id}`, undefined, { accept: 'text/csv' })
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.match(csv.headers.get('content-disposition')!, /^attachment; filename="payout-PO[0-9A-Z]{26}\.csv"$/)
  const [names, ...lines] = csv.body.trimEnd().split('\r\n').map((line: string) => line.split(',')) // oxfmt-ignore
  const column = (name: string) => lines.map((line: string[]) => line[names.indexOf(name)])
  assert.deepEqual(column('line'), ['carried_over', 'order', 'other', 'stays_for_next'])
  assert.deepEqual(column('net'), ['4.80', '29.40', '-1.00', '-3.20'])
  assert.deepEqual(column('sale'), ['', '30.00', '', ''])
  assert.equal(column('net_minor').reduce((sum: number, net: string) => sum + Number(net), 0), 3000) // oxfmt-ignore

  const list = await ann.browser.call('GET', '/api/payouts?format=csv')
  assert.equal(list.body.trimEnd().split('\r\n').length, 3)
  assert(list.body.includes('30.00,DE … 3000,PO'))
  const [first] = (await get(ann, '/api/payouts')).items.slice(-1)
  const detail = await ann.browser.call('GET', `/api/payouts/${first.payoutId}?format=csv`)
  assert(detail.body.includes(`'=cmd()`))
})

test('the statement is a PDF for this seller, the same bytes each time, and no cache keeps it', async () => {
  const ann = await newSeller('Anns Bücher')
  await sale(ann, 49_900, 'हिन्दी', 'INR')
  const id = await payOut(ann, 48_902, { currency: 'INR' })
  const { secret } = await makeKey(ann.browser, ['balance:read'])
  const load = async () => {
    const response = await fetch(`${shared().url}/api/payouts/${id}/statement.pdf`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    assert.equal(response.status, 200)
    return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
  }
  const [one, two] = [await load(), await load()]
  assert.deepEqual(one.bytes, two.bytes)
  assert.equal(one.headers.get('content-type'), 'application/pdf')
  assert.equal(one.headers.get('cache-control'), 'no-store')
  assert.match(one.headers.get('content-disposition')!, /^attachment; filename="payout-PO[0-9A-Z]{26}\.pdf"$/)
  const { text } = await extractText(await getDocumentProxy(one.bytes), { mergePages: true })
  for (const part of ['Anns Bücher', '₹489.02', '499.00', 'DE … 3000', 'Approved, not sent yet'])
    assert(text.includes(part), `${part} is in ${text}`)
})
