import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startStripeServer } from '../stand-ins/stripe-server.ts'
import { atEnd } from '../support/ends.ts'
import { newBrowser } from '../support/seller.ts'
import { type Ends, assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { startStripeShop, stripeSettings } from '../support/stripe-shop.ts'

const APP = 'https://pay.till.test'

/** A shop with payments by Stripe, and its signed-in seller. */
async function startShop(t: Ends, more: Record<string, string> = {}) {
  const { shop, server: stripe } = await startStripeShop(t, { env: { BASE_URL: APP, APP_URL: APP, ...more } })
  const env = { BASE_URL: APP, APP_URL: APP, ...stripeSettings(stripe) }
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const put = (host: string) => ann.call('PUT', `/api/sites/${host}`)
  const add = async (host: string) => assert.equal((await put(host)).status, 200)
  const hosts = () => stripe.bank.methodDomains.map((one) => one['domain_name'])
  const until = (wanted: string[]) =>
    eventually(
      async () => hosts(),
      (now) => now.length === wanted.length,
    )
  return { shop, stripe, env, put, add, hosts, until }
}

test('wallets are let onto a site’s host and ours, once, and not onto what no processor can register', async (t) => {
  const { stripe, add, until } = await startShop(t)
  for (const host of ['*.shop.example', 'localhost:3000', 'shop.example:8443', 'shop.example']) await add(host)
  assert.deepEqual((await until(['shop.example', 'pay.till.test'])).toSorted(), ['pay.till.test', 'shop.example'])
  await add('other.example')
  await until(['shop.example', 'pay.till.test', 'other.example'])
  const made = stripe.calls.filter(({ method, path }) => method === 'POST' && path === '/v1/payment_method_domains')
  assert.equal(made.length, 3)
})

test('a repeat tells the processor nothing, and a seller adds only so many sites in an hour', async (t) => {
  const { stripe, add, until, put } = await startShop(t, { LIMITS: 'site=4/3600' })
  await add('shop.example')
  await until(['shop.example', 'pay.till.test'])
  const asked = () => stripe.calls.filter(({ path }) => path === '/v1/payment_method_domains').length
  const before = asked()
  await add('shop.example')
  await add('Shop.Example')
  // the jobs of a queue run one after the other, so this one shows that the repeats have made none
  await add('other.example')
  await until(['shop.example', 'pay.till.test', 'other.example'])
  // it asks for its own host last
  const during = await eventually(
    async () => asked() - before,
    (count) => count >= 3,
  )
  assert.equal(during, 3, 'asked for both hosts, and made one')
  assertProblem(await put('shop.example'), 429, 'rate_limited')
})

test('an outage delays it until the next start at the latest, and a host that its owner has switched off stays off', async (t) => {
  const { stripe, shop, add, hosts, until, env } = await startShop(t)
  stripe.bank.addMethodDomain('pay.till.test', false)
  const isHosts = { match: ({ path }: { path: string }) => path === '/v1/payment_method_domains' }
  stripe.fail('503 html', isHosts)
  await add('shop.example')
  await eventually(
    async () => stripe.calls.filter(isHosts.match).length,
    (count) => count > 0,
  )
  await shop.close()
  if (!hosts().includes('shop.example')) await startTestShop(t, { env, databaseUrl: shop.databaseUrl })
  await until(['pay.till.test', 'shop.example'])
  assert.equal(stripe.bank.methodDomains.find((one) => one['domain_name'] === 'pay.till.test')!['enabled'], false)
})

test('sites from before Stripe was set up are registered when it is, once, and not those of a suspended seller', async (t) => {
  const server = await startStripeServer()
  atEnd(t, server.close)
  const env = { BASE_URL: APP, APP_URL: APP }
  const before = await startTestShop(t, { env })
  const ann = newBrowser(before)
  await ann.signInByCode('ann@shop.test')
  for (const host of ['shop.example', 'shop.example:8443', '*.wild.example'])
    assert.equal((await ann.call('PUT', `/api/sites/${host}`)).status, 200)
  const eve = newBrowser(before)
  await eve.signInByCode('eve@shop.test')
  assert.equal((await eve.call('PUT', '/api/sites/eve.example')).status, 200)
  await sql`update sellers set suspended_at = now() where email = 'eve@shop.test'`.execute(before.db)
  await before.close()
  for (let starts = 0; starts < 2; starts++) {
    const shop = await startTestShop(t, { databaseUrl: before.databaseUrl, env: { ...env, ...stripeSettings(server) } })
    const asked = () => server.calls.filter(({ method, path }) => method === 'GET' && path === '/v1/payment_method_domains').length // oxfmt-ignore
    await eventually(
      async () => [asked(), server.bank.methodDomains.length],
      ([calls, made]) => calls! > starts && made === 2,
    )
    await shop.close()
  }
  assert.deepEqual(server.bank.methodDomains.map((one) => one['domain_name']).toSorted(), ['pay.till.test', 'shop.example']) // oxfmt-ignore
  const made = server.calls.filter(({ method, path }) => method === 'POST' && path === '/v1/payment_method_domains')
  assert.equal(made.length, 2)
})
