import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogueOf } from '../../src/words/catalogues.ts'
import { LOCALES } from '../../src/kit/locales.ts'
import { say } from '../../src/words/say.ts'
import { BOB } from '../support/aged-orders.ts'
import { lookUp } from '../support/buyer.ts'
import { startRazorpayShop } from '../support/razorpay-shop.ts'
import { newBrowser } from '../support/seller.ts'
import { type TestShop, eventually } from '../support/shop.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

// Where the processor or the bank chooses the line on the statement, no page and no mail names our statement descriptor as that line.

const LINE = 'TILL* A BOOK'

/** The `n` mails to the buyer. */
const mails = (shop: TestShop, n: number) =>
  eventually(
    () => shop.mails(BOB),
    (sent) => sent.length >= n,
  )
const mailsWithLine = async (shop: TestShop, n: number) =>
  (await mails(shop, n)).filter(({ text, html }) => `${text} ${html}`.includes(LINE)).length
/** The rail and the field in the status that the buyer reads. */
async function told(shop: TestShop, orderId: string) {
  const { statementDescriptor, onStatement, rail } = await shop.status(orderId, BOB)
  assert.equal(statementDescriptor, LINE)
  return [rail, onStatement]
}
async function toldOfCharge(shop: TestShop) {
  const [order] = (await lookUp(shop, BOB, { descriptor: LINE })).body.orders
  assert.equal(order.statementDescriptor, LINE)
  return order.onStatement
}

test('Razorpay chooses the line: the offer, the order, its status and the look-up say so, and no mail names ours', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const productId = await rupees()
  const { body: offer } = await shop.call('GET', `/api/products/${productId}/public`)
  assert.deepEqual([offer.payments.onStatement, offer.prices[0].payments.onStatement], [false, false])
  const order = await shop.checkout({ productId })
  assert.deepEqual([order.statementDescriptor, order.onStatement], [LINE, false])
  assert.deepEqual(await told(shop, order.orderId), [null, false])
  assert.equal((await shop.status(order.orderId)).onStatement, undefined, 'the line is not for anybody')
  const { id } = bank.pay(order.clientSecret!, { method: 'card' })
  await bank.delivered()
  assert.equal((await told(shop, order.orderId))[1], false)
  bank.openDispute(id)
  await bank.delivered()
  assert.deepEqual([(await shop.status(order.orderId)).status, await toldOfCharge(shop)], ['disputed', false])
  assert.equal(await mailsWithLine(shop, 2), 0)
  const seller = newBrowser(shop)
  await seller.signInByCode('ann@shop.test')
  const { body: sold } = await seller.call('GET', `/api/orders/${order.orderId}`)
  assert.deepEqual([sold.statementDescriptor, sold.onStatement], [LINE, false])
  const { disputedNoLine } = (await catalogueOf('en')).mail
  assert.ok((await mails(shop, 2)).some(({ text }) => text.includes(say(disputedNoLine, { product: 'A book' }))))
})

test('Stripe prints our line for cards of both kinds, and for no other way to pay', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const productId = await shop.product()
  const { body: offer } = await shop.call('GET', `/api/products/${productId}/public`)
  assert.equal('onStatement' in offer.payments, false, 'most buyers pay by card')
  const pay = async (method: string, outcome: 'succeed' | 'processing' = 'succeed') => {
    const order = await shop.checkout({ productId })
    assert.equal(order.onStatement, undefined)
    bank.confirm(intentOf(order), { method, outcome })
    await server.delivered()
    return order
  }
  for (const [method, rail, onStatement] of [
    ['card', 'card', undefined],
    ['debit_card', 'debit', undefined],
    ['apple_pay', 'apple_pay', undefined],
    ['sepa_debit', 'debit', false],
    ['ideal', 'bank_transfer', false],
    ['klarna', 'wallet', false],
  ] as const)
    assert.deepEqual(await told(shop, (await pay(method)).orderId), [rail, onStatement], method)
  assert.equal(await mailsWithLine(shop, 6), 3)

  const slow = await pay('sepa_debit', 'processing')
  assert.deepEqual(await told(shop, slow.orderId), [null, false])
  bank.finish(intentOf(slow), 'succeed')
  await server.delivered()
  assert.deepEqual(await told(shop, slow.orderId), ['debit', false])
  assert.equal(await mailsWithLine(shop, 7), 3)
})

test('the mail about a dispute names no line where it is not ours, in every language', async () => {
  for (const locale of LOCALES) {
    const { disputedText, disputedNoLine } = (await catalogueOf(locale)).mail
    assert.ok(disputedText.includes('{line}') && disputedText.includes('{product}'), locale)
    assert.ok(!disputedNoLine.includes('{line}') && disputedNoLine.includes('{product}'), locale)
  }
})
