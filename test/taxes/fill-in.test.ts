import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { fillIn } from '../../src/payments/fill-in.ts'
import { PROFILE, documents } from '../support/invoices.ts'
import { type TestShop, startTestShop } from '../support/shop.ts'
import { loadRates, rateOf, taxSeller } from './support.ts'

// The entries and documents that a release without tax and invoices leaves out while it runs beside this one.

/** As that release leaves an order: without entries of tax. */
const withoutTax = ({ db }: TestShop, orderId: string, kinds = ['tax', 'tax_refund', 'tax_again']) =>
  inTransaction(db, async (tx) => {
    await sql`alter table transfers disable trigger transfers_append_only`.execute(tx)
    await sql`delete from transfers where order_id = ${orderId} and kind = any(${kinds})`.execute(tx)
    await sql`alter table transfers enable trigger transfers_append_only`.execute(tx)
  })

async function start(t: Parameters<typeof startTestShop>[0]) {
  const shop = await startTestShop(t)
  await loadRates(shop, [rateOf('DE', 19)])
  const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive' })
  const productId = await seller.product(1900)
  const sold = async () => {
    const { body } = await seller.order(productId, { country: 'DE' })
    assert.equal((await shop.confirm(body)).status, 200)
    await shop.until(body.orderId, ({ paid }) => paid)
    return body.orderId as string
  }
  const refund = async (orderId: string, amount: number) => {
    const { status } = await seller.browser.call('POST', `/api/orders/${orderId}/refunds`, { amount })
    assert.equal(status, 201)
    await shop.until(orderId, ({ status: now }) => now === 'partially_refunded')
  }
  const invoices = async (on: boolean) =>
    assert.equal((await seller.browser.call('PUT', '/api/invoice-profile', { ...PROFILE, on })).status, 200)
  const differences = () => inTransaction(shop.db, (tx) => trialBalance(tx))
  const tax = async (orderId: string) =>
    (await shop.transfers(orderId)).filter(({ kind }) => kind.startsWith('tax')).map(({ kind, amountMinor }) => [kind, amountMinor]) // oxfmt-ignore
  return { shop, seller, sold, refund, invoices, differences, tax }
}

test('tax that a release before left out of a sale and of a refund is booked once, also by several runs at once', async (t) => {
  const { shop, sold, refund, differences, tax } = await start(t)
  const [whole, part, half] = [await sold(), await sold(), await sold()]
  await refund(part, 633)
  await refund(half, 633)
  await withoutTax(shop, whole)
  await withoutTax(shop, part)
  await withoutTax(shop, half, ['tax_refund'])
  assert.deepEqual((await differences()).map(({ what }) => what).sort(), ['tax_differs', 'tax_differs', 'tax_returned_differs']) // oxfmt-ignore
  await Promise.all([fillIn(shop.db), fillIn(shop.db), fillIn(shop.db)])
  await fillIn(shop.db)
  assert.deepEqual(await differences(), [])
  assert.deepEqual(await tax(whole), [['tax', 303]])
  assert.deepEqual((await tax(part)).sort(), [['tax', 303], ['tax_refund', 101]]) // oxfmt-ignore
  assert.deepEqual((await tax(half)).sort(), [['tax', 303], ['tax_refund', 101]]) // oxfmt-ignore
})

test('two refunds of the same amount that a release before books on two days both get their tax', async (t) => {
  const { shop, sold, refund, differences, tax } = await start(t)
  const orderId = await sold()
  for (let day = 0; day < 2; day++) {
    await refund(orderId, 633)
    await shop.until(orderId, ({ refundedAmount }) => refundedAmount === 633 * (day + 1))
    await inTransaction(shop.db, async (tx) => {
      await sql`alter table transfers disable trigger transfers_append_only`.execute(tx)
      await sql`delete from transfers where order_id = ${orderId} and kind = 'tax_refund' and cause not like '%:filled:%'`.execute(
        tx,
      )
      await sql`alter table transfers enable trigger transfers_append_only`.execute(tx)
    })
    await fillIn(shop.db)
    assert.deepEqual(await differences(), [], `day ${day}`)
  }
  assert.deepEqual(await tax(orderId), [['tax', 303], ['tax_refund', 101], ['tax_refund', 101]]) // oxfmt-ignore
})

test('invoices and credit notes that a release before left out are issued once; orders from before the switch get none', async (t) => {
  const { shop, seller, sold, refund, invoices } = await start(t)
  await invoices(false)
  const before = await sold()
  const [plain, refunded] = [await sold(), await sold()]
  await refund(refunded, 633)
  await invoices(true)
  await fillIn(shop.db)
  assert.deepEqual(await documents(shop), [])
  await sql`update invoice_profiles set on_since = (select paid_at from orders where id = ${before}) + interval '1 microsecond'
    where seller_id = ${seller.sellerId}`.execute(shop.db)
  // another save of the profile does not move it
  await invoices(true)
  const beside = await sold()
  await Promise.all([fillIn(shop.db), fillIn(shop.db)])
  await fillIn(shop.db)
  const kinds = async (orderId: string) =>
    (await documents(shop, orderId)).map(({ kind, amountMinor, taxMinor }) => [kind, amountMinor, taxMinor]).sort()
  assert.deepEqual(await kinds(before), [])
  assert.deepEqual(await kinds(plain), [['invoice', 1900, 303]])
  assert.deepEqual(await kinds(beside), [['invoice', 1900, 303]])
  assert.deepEqual(await kinds(refunded), [['credit_note', 633, 101], ['invoice', 1900, 303]]) // oxfmt-ignore
  const numbers = (await documents(shop)).filter(({ kind }) => kind === 'invoice').map(({ number }) => number.slice(-6))
  assert.deepEqual(numbers, ['000001', '000002', '000003'])
})
