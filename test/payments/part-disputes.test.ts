import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { inTransaction } from '../../src/kit/database.ts'
import { repairParts } from '../../src/payments/settle/parts.ts'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { FEES, sellerAccount } from '../../src/ledger/transfers.ts'
import { holdBank, mailsAbout, sharedPair } from '../stand-ins/processor.ts'
import { atEnd } from '../support/ends.ts'
import { type Browser, newBrowser } from '../support/seller.ts'
import { type TestShop, assertProblem } from '../support/shop.ts'

// A bank that takes a part of the price leaves the order as a refund of a part does. Together they can be all of it.

const shared = sharedPair()
const SCHEMA = path.join(import.meta.dirname, '../../schema')

const full = (shop: TestShop, { orderId }: Created) => shop.status(orderId, 'bob@example.com')
const linkOf = async (shop: TestShop, order: Created) => new URL((await full(shop, order)).downloads[0]!.url).pathname

async function paid(shop: TestShop): Promise<Created> {
  const order = await shop.checkout({ productId: await shop.product({ priceMinor: 1999 }) })
  assert.equal((await shop.confirm(order, 'success')).status, 200)
  await shop.until(order.orderId, (status) => status.paid)
  return order
}

interface About {
  id: string
  amountMinor: number
  state: 'open' | 'won' | 'lost'
  lostMinor?: number
}

/** The processor tells all disputes of the order, and its list has them too. */
async function tell(shop: TestShop, { orderId }: Created, ...about: About[]): Promise<void> {
  const payment = await shop.sandboxPayment(orderId)
  const captureId = payment.captures[0]!.id
  const disputes = about.map((one) => ({ ...one, id: `dp_${one.id}_${orderId}`, captureId }))
  const told = { ...payment, disputes }
  await sql`update sandbox_payments set payment = payment || ${JSON.stringify({ disputes })}::jsonb
    where payment->>'orderId' = ${orderId}`.execute(shop.db)
  assert.equal((await shop.notify({ payment: told })).status, 200)
}

async function balanceOf(shop: TestShop, { orderId }: Created, account: string): Promise<number> {
  return (await shop.transfers(orderId)).reduce(
    (sum, { debit, credit, amountMinor }) =>
      sum + (credit === account ? amountMinor : 0) - (debit === account ? amountMinor : 0),
    0,
  )
}

const differences = (shop: TestShop) => inTransaction(shop.db, (tx) => trialBalance(tx))

let signedIn: Promise<Browser> | undefined
const ann = (): Promise<Browser> =>
  (signedIn ??= (async () => {
    const browser = newBrowser(shared()[0])
    await browser.signInByCode('ann@shop.test')
    return browser
  })())

test('a dispute over 500 of 1,999 that is lost leaves the files; a second one over the rest takes them', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  const link = await linkOf(shop, order)
  const part = { id: 'part', amountMinor: 500 }
  const rest = { id: 'rest', amountMinor: 1499 }
  const account = sellerAccount(shop.sellerId)

  await tell(shop, order, { ...part, state: 'open' })
  assert.deepEqual([(await full(shop, order)).status, (await full(shop, order)).downloads], ['disputed', []])
  assertProblem(await shop.call('GET', link), 403, 'download_not_available')

  await tell(shop, order, { ...part, state: 'lost' })
  const now = await full(shop, order)
  assert.deepEqual(
    [now.status, now.paid, now.downloads.length, now.refundedAmount, now.chargedBackAmount],
    ['partially_refunded', true, 1, 0, 500],
  )
  assert.deepEqual(
    now.timeline!.map(({ what }) => what),
    ['created', 'paid', 'disputed', 'partially_charged_back'],
  )
  assert.equal((await shop.call('GET', link)).status, 200)
  // 2 % of 1999 are 40, and the share of 500 is 10
  assert.deepEqual([await balanceOf(shop, order, account), await balanceOf(shop, order, FEES)], [1499 - 30, 30])
  assert.deepEqual(await differences(shop), [])

  const toldOnce = { ...part, state: 'lost' } as const
  await tell(shop, order, toldOnce, { ...rest, state: 'open' })
  assert.equal((await full(shop, order)).status, 'disputed')
  await tell(shop, order, toldOnce, { ...rest, state: 'lost' })
  const end = await full(shop, order)
  assert.deepEqual([end.status, end.paid, end.downloads, end.chargedBackAmount], ['charged_back', false, [], 1999])
  assert.equal(end.timeline!.at(-1)!.what, 'charged_back')
  assertProblem(await shop.call('GET', link), 403, 'download_not_available')
  assert.deepEqual([await balanceOf(shop, order, account), await balanceOf(shop, order, FEES)], [0, 0])
  assert.deepEqual(await differences(shop), [])

  const subjects = await mailsAbout(shop, order)
  const told = (subject: string) => subjects.filter((one) => one === subject).length
  assert.equal(told('Part of your payment was reversed: A book'), 1)
  assert.equal(told('Your payment was reversed: A book'), 1)
})

test('the rest that a bank has left of the price can be refunded, and no more; money that the bank gives back can be refunded again', async (t) => {
  const [shop] = shared()
  const order = await paid(shop)
  const link = await linkOf(shop, order)
  const seller = await ann()
  const refund = (body: object) => seller.call('POST', `/api/orders/${order.orderId}/refunds`, body)
  const part = { id: 'part', amountMinor: 500 }
  await tell(shop, order, { ...part, state: 'lost' })

  const tooMuch = await refund({ amount: 1500 })
  assertProblem(tooMuch, 409, 'refund_too_large')
  assert.match(tooMuch.body.detail, /\$14\.99/)
  const detail = async () => (await seller.call('GET', `/api/orders/${order.orderId}`)).body
  assert.deepEqual([(await detail()).chargedBackAmount, (await detail()).netAmount], [500, 1499 - 30])

  const release = await holdBank(shop, order)
  atEnd(t, release)
  const asked = await refund({})
  assert.deepEqual([asked.status, asked.body.amount], [201, 1499])
  assert.equal((await full(shop, order)).paid, false, 'all of it is on its way back')
  assertProblem(await shop.call('GET', link), 403, 'download_not_available')
  await release()
  const end = await shop.until(order.orderId, ({ status }) => status === 'charged_back')
  assert.deepEqual([end.refundedAmount, end.chargedBackAmount], [1499, 500])
  assert.deepEqual(
    [await balanceOf(shop, order, sellerAccount(shop.sellerId)), await balanceOf(shop, order, FEES)],
    [0, 0],
  )
  assert.deepEqual(await differences(shop), [])

  await tell(shop, order, { ...part, state: 'lost', lostMinor: 0 })
  const back = await full(shop, order)
  assert.deepEqual(
    [back.status, back.paid, back.refundedAmount, back.chargedBackAmount],
    ['partially_refunded', true, 1499, undefined],
  )
  assert.equal((await shop.call('GET', link)).status, 200)
  assert.deepEqual(await differences(shop), [])
})

test('a part that comes back leaves the order paid; while another dispute is open, a lost part leaves it disputed', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  const part = { id: 'part', amountMinor: 500 }
  const rest = { id: 'rest', amountMinor: 1499 }
  await tell(shop, order, { ...part, state: 'open' }, { ...rest, state: 'open' })
  await tell(shop, order, { ...part, state: 'lost' }, { ...rest, state: 'open' })
  assert.deepEqual([(await full(shop, order)).status, (await full(shop, order)).downloads], ['disputed', []])
  await tell(shop, order, { ...part, state: 'lost' }, { ...rest, state: 'won' })
  assert.deepEqual([(await full(shop, order)).status, (await full(shop, order)).paid], ['partially_refunded', true])
  await tell(shop, order, { ...part, state: 'lost', lostMinor: 0 }, { ...rest, state: 'won' })
  assert.deepEqual([(await full(shop, order)).status, (await full(shop, order)).paid], ['paid', true])
  assert.equal((await full(shop, order)).downloads.length, 1)
  assert.deepEqual(await differences(shop), [])
  // the buyer already had the files when the part came back, so there is no mail
  const subjects = await mailsAbout(shop, order)
  assert.equal(subjects.filter((one) => one === 'Your files are back: A book').length, 1)
})

test('an order that lost its files to a part, before the rule was this one, has them again after the upgrade', async () => {
  const [shop] = shared()
  const upgrade = sql.raw(await readFile(path.join(SCHEMA, '040_parts_charged_back.sql'), 'utf8'))
  const [part, disputed, whole] = [await paid(shop), await paid(shop), await paid(shop)]
  const lost = { id: 'part', amountMinor: 500, state: 'lost' } as const
  await tell(shop, part, lost)
  await tell(shop, disputed, lost, { id: 'rest', amountMinor: 1499, state: 'open' })
  await tell(shop, whole, { ...lost, amountMinor: 1999 })
  const ids = [part, disputed, whole].map(({ orderId }) => orderId)
  // the rows of the previous version, also of an instance that still runs beside the new schema, which the sweep repairs
  for (const repair of [() => upgrade.execute(shop.db), () => repairParts(shop.db)]) {
    await sql`update orders set state = 'charged_back', due_at = null where id = any(${ids})`.execute(shop.db)
    assert.equal((await differences(shop)).length, 2, 'the reconciliation finds a state that takes too much')
    await repair()
    const { rows } = await sql<{ state: string; isDue: boolean }>`
      select state, due_at is not null as "isDue" from orders where id = any(${ids}) order by id`.execute(shop.db)
    assert.deepEqual(rows, [
      { state: 'partially_refunded', isDue: true },
      { state: 'disputed', isDue: true },
      { state: 'charged_back', isDue: false },
    ])
  }
  const states = await Promise.all([part, disputed, whole].map(async (order) => (await full(shop, order)).status))
  assert.deepEqual(states, ['partially_refunded', 'disputed', 'charged_back'])
  assert.equal((await full(shop, part)).downloads.length, 1)
  assert.equal((await full(shop, part)).timeline!.at(-1)!.what, 'partially_charged_back')
  assert.deepEqual(await differences(shop), [])
})
