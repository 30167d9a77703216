import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { razorpayProcessor } from '../../src/processors/razorpay/razorpay.ts'
import { planted, reconciliationOf } from '../support/reconciliation.ts'
import { times } from '../stand-ins/processor.ts'
import { ACCOUNT } from '../support/razorpay-setup.ts'
import { startRazorpayShop } from '../support/razorpay-shop.ts'
import { adapter } from '../support/stripe-setup.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

const HOUR_MS = 3_600_000

describe('real processors', () => {
  test('stripe: days of sales, refunds that waited, disputes in other currencies and strangers differ in nothing', async (t) => {
    const { shop, server, bank } = await startStripeShop(t)
    const productId = await shop.product()
    const buy = async () => intentOf(await shop.checkout({ productId }))
    const stripe = adapter(server)
    // another service's payments, from before the checked days: their refunds do not show whose they are
    bank.now = () => Date.now() - 200 * HOUR_MS
    const strangers = Array.from({ length: 4 }, () => bank.createIntent({ amount: '900', currency: 'usd' })['id'])
    for (const id of strangers) bank.confirm(id)
    // before those days too: a dispute that goes on for weeks
    bank.now = () => Date.now() - 20 * 24 * HOUR_MS
    const longAgo = await buy()
    bank.confirm(longAgo)
    const open = bank.openDispute(longAgo)['id']
    await server.delivered()
    await planted(shop.databaseUrl, `update transfers set created_at = created_at - interval '20 days'`)
    for (const hours of [70, 47, 23, 0]) {
      bank.now = () => Date.now() - hours * HOUR_MS
      const [plain, refunded, disputed, ,] = (await times(4, buy)) as [string, string, string, string]
      for (const id of [plain, refunded, disputed]) bank.confirm(id)
      bank.refundInDashboard(refunded, 500)
      bank.refundsBegin = 'pending'
      const waiting = bank.refundInDashboard(refunded, 300)
      bank.refundsBegin = 'succeeded'
      bank.openDispute(disputed, { amount: 2500, currency: 'cad' })
      const stranger = bank.createIntent({ amount: '900', currency: 'usd' })['id']
      bank.confirm(stranger)
      bank.refundInDashboard(stranger, 100)
      bank.openDispute(stranger)
      await server.delivered()
      bank.settleRefund(waiting['id'])
      await server.delivered()
    }
    const asked = () => server.calls.filter(({ path }) => /^\/v1\/payment_intents\/pi_\w+$/.test(path)).length
    const before = asked()
    const result = await reconciliationOf(shop.databaseUrl, stripe)
    assert.deepEqual([result.differences, result.notAsked], [[], []])
    assert.equal(asked() - before, 5, 'the disputes of another currency, that of long ago, and no stranger')
    assert.equal(
      result.days.reduce((sum, one) => sum + (one.kind === 'capture' ? one.ours : 0), 0),
      12,
    )
    assert(result.days.every((one) => one.listedMinor === one.ourMinor && one.listed === one.ours))
    assert((await reconciliationOf(shop.databaseUrl, stripe, 1)).days.length < result.days.length)

    bank.now = Date.now
    server.knobs.notify = 'never'
    const unheard = await buy()
    bank.confirm(unheard)
    const later = await reconciliationOf(shop.databaseUrl, stripe)
    assert.deepEqual(
      later.differences.map(({ what, id, foundMinor }) => [what, id, foundMinor]),
      [['only_at_processor', `stripe:capture:${bank.charges.at(-1)!['id']}`, null]],
    )

    for (const id of strangers) bank.refundInDashboard(id, 100)
    // the four disputes are in question too
    const shared = await reconciliationOf(shop.databaseUrl, stripe, 3, 5)
    assert.deepEqual(shared.differences, later.differences, 'strangers are no difference, and come after what is ours')
    assert.deepEqual(
      shared.days.flatMap(({ kind, listed, ours }) => (listed === ours ? [] : [[kind, listed - ours]])),
      [['capture', 1]],
    )
    bank.confirm(await buy())
    // of the last sale, whose stranger was disputed after it
    const decided = bank.disputes.at(-2)!['id']
    bank.closeDispute(decided, 'won')
    const { differences } = await reconciliationOf(shop.databaseUrl, stripe, 3, 5)
    assert.equal(differences.find(({ what }) => what === 'dispute_decided')?.id, `stripe:dispute:${decided}`)
    assert.equal(differences.find(({ what }) => what === 'many_more')?.id, '1 payments')
    bank.closeDispute(open, 'won')
    assert.deepEqual(
      (await reconciliationOf(shop.databaseUrl, stripe)).differences.flatMap(({ what, id }) =>
        what === 'dispute_decided' ? [id] : [],
      ),
      [decided, open].map((id) => `stripe:dispute:${id}`),
    )
    server.fail('503 html', { times: 20 })
    const away = await reconciliationOf(shop.databaseUrl, stripe)
    assert.deepEqual([away.differences, away.notAsked.length], [[], 1])
    assert.deepEqual(away.days, [], 'a list that broke off is not compared')
  })

  test('razorpay: sales, refunds, disputes and late captures match, and money without a notification is found', async (t) => {
    const { shop, bank, rupees } = await startRazorpayShop(t)
    const razorpay = razorpayProcessor({ ...ACCOUNT, webhookSecrets: [ACCOUNT.webhookSecret], apiUrl: bank.url })
    const productId = await rupees()
    const orders = await times(5, () => shop.checkout({ productId }))
    const [plain, refunded, disputed, late] = orders.map(({ clientSecret }) => clientSecret!)
    bank.pay(plain!, { method: 'upi' })
    bank.refundInDashboard(bank.pay(refunded!).id, { amount: 10_000 })
    bank.openDispute(bank.pay(disputed!).id)
    const { id } = bank.pay(late!, { method: 'upi', outcome: 'failed' })
    bank.authorize(id)
    await bank.delivered()
    const result = await reconciliationOf(shop.databaseUrl, razorpay)
    assert.deepEqual([result.differences, result.notAsked], [[], []])
    assert(result.days.every((one) => one.listedMinor === one.ourMinor))
    assert.equal(result.days.find(({ kind }) => kind === 'capture')!.ours, 4)
    bank.notifying.when = 'never'
    const unheard = bank.refundInDashboard(bank.payments.get(id)!.id, { amount: 500 })
    const later = await reconciliationOf(shop.databaseUrl, razorpay)
    assert.deepEqual(
      later.differences.map(({ what, id: one, expectedMinor }) => [what, one, expectedMinor]),
      [['only_at_processor', `razorpay:refund:${unheard.id}`, 500]],
    )
  })
})
