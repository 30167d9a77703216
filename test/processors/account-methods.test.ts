import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { ProductView } from '../../src/checkout/product-schema.ts'
import type { Log } from '../../src/kit/log.ts'
import type { Processor } from '../../src/processors/processor.ts'
import { ProcessorRefused } from '../../src/processors/refusals.ts'
import { accountMethods } from '../../src/processors/account-methods.ts'
import { atEnd } from '../support/ends.ts'
import { startRazorpayShop } from '../support/razorpay-shop.ts'
import { type TestShop, eventually, newDatabase, startTestShop } from '../support/shop.ts'
import { startStripeShop, stripeSettings } from '../support/stripe-shop.ts'
import { startStripeServer } from '../stand-ins/stripe-server.ts'

const SAFE = ['card', 'debit']

async function railsOf(shop: TestShop, currency = 'USD'): Promise<string[]> {
  const productId = await shop.product({ currency, priceMinor: 49_900 })
  return (await shop.call<ProductView>('GET', `/api/products/${productId}/public`)).body.rails
}
/** A start waits only a moment for the account's methods, and the first look can come before them. */
const expectRails = (shop: TestShop, rails: string[], currency?: string) =>
  eventually(
    () => railsOf(shop, currency),
    (found) => isDeepStrictEqual(found, rails),
  )
const asked = (calls: { path: string }[]) =>
  calls.filter(({ path }) => path === '/v1/payment_method_configurations').length

test('a product shows the rails that the account offers in its currency, and one request to the processor serves all', async (t) => {
  const server = await startStripeServer()
  atEnd(t, server.close)
  for (const way of ['ideal', 'us_bank_account', 'sepa_debit']) server.bank.switchedOn.add(way)
  for (const way of ['apple_pay', 'link', 'google_pay']) server.bank.switchedOn.delete(way)
  server.bank.notActivated.add('sepa_debit')
  const shop = await startTestShop(t, { env: stripeSettings(server) })
  await expectRails(shop, ['card', 'debit', 'bank_transfer'], 'EUR')
  for (let i = 0; i < 3; i++) assert.deepEqual(await railsOf(shop, 'EUR'), ['card', 'debit', 'bank_transfer'])
  assert.deepEqual(await railsOf(shop, 'USD'), SAFE)
  assert.equal(asked(server.calls), 1)
})

test('a method that is switched on in the dashboard appears after a while, and no page waits for the answer', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  await expectRails(shop, ['card', 'wallet', 'debit', 'apple_pay', 'google_pay'])
  bank.switchedOn.delete('apple_pay')
  bank.switchedOn.delete('google_pay')
  // another instance, later: the answer that is kept is old
  await sql`update processor_ways set asked_at = now() - interval '1 hour'`.execute(shop.db)
  const second = await startTestShop(t, { env: stripeSettings(server), databaseUrl: shop.databaseUrl })
  await expectRails(second, ['card', 'wallet', 'debit'])
  assert.equal(asked(server.calls), 2)
})

test('without an answer of the processor the last one stays, and without any the minimum', async (t) => {
  const databaseUrl = await newDatabase(t)
  const server = await startStripeServer()
  atEnd(t, server.close)
  server.knobs.forbidden = ['/v1/payment_method_configurations']
  const first = await startTestShop(t, { env: stripeSettings(server), databaseUrl })
  assert.deepEqual(await railsOf(first), SAFE)
  assert((await first.checkout()).clientSecret, 'and it sells')
  await sql`
    insert into processor_ways (processor, ways, asked_at) values ('stripe', '{card,link}', now() - interval '1 day')`.execute(
    first.db,
  )
  const second = await startTestShop(t, { env: stripeSettings(server), databaseUrl })
  await expectRails(second, ['card', 'wallet', 'debit'])
  server.fail('hang', { match: ({ path }) => path.includes('configurations') })
  const third = await startTestShop(t, { env: stripeSettings(server), databaseUrl })
  await expectRails(third, ['card', 'wallet', 'debit'])
})

test('missing rights of the key are logged once an hour, however often the service tries', async (t) => {
  const { db } = await startTestShop(t)
  let [time, asked, failing] = [0, 0, true]
  const warnings: number[] = []
  const log = { warn: () => void warnings.push(time) } as unknown as Log
  const keeper = accountMethods(db, log, () => time)
  const fetchMethods = async () => {
    asked++
    if (failing) throw new ProcessorRefused('the key may not read this')
    return ['card']
  }
  const minute = async (tries: number) => {
    time += 61_000
    keeper.of('stripe')
    await eventually(
      async () => asked,
      (times) => times === tries,
    )
  }
  await keeper.begin(new Map([['stripe', { fetchMethods } as unknown as Processor]]))
  for (let at = 2; at <= 62; at++) await minute(at)
  await eventually(
    async () => warnings,
    ({ length }) => length === 2,
  )
  assert.deepEqual(warnings, [0, 60 * 61_000])
  failing = false
  await minute(63)
  await eventually(
    async () => keeper.of('stripe'),
    (ways) => ways !== undefined,
  )
})

test('in India the account’s own methods are shown, and none that is switched off', async (t) => {
  const { shop } = await startRazorpayShop(t)
  await expectRails(shop, ['card', 'upi', 'bank_transfer', 'wallet', 'debit'], 'INR')
  const { shop: other, bank } = await startRazorpayShop(t)
  Object.assign(bank.methods, { netbanking: [], wallet: { mobikwik: false }, debit_card: false })
  await sql`update processor_ways set asked_at = now() - interval '1 hour'`.execute(other.db)
  const again = await startTestShop(t, {
    databaseUrl: other.databaseUrl,
    env: Object.fromEntries(
      Object.entries({
        RAZORPAY_KEY_ID: other.config.razorpay!.keyId,
        RAZORPAY_KEY_SECRET: other.config.razorpay!.keySecret,
        RAZORPAY_WEBHOOK_SECRET: 'the webhook’s secret',
        RAZORPAY_API_URL: bank.url,
      }),
    ),
  })
  await expectRails(again, ['card', 'upi'], 'INR')
})
