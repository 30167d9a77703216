import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newBrowser } from '../support/seller.ts'
import { type Ends, eventually } from '../support/shop.ts'
import { startStripeShop } from '../support/stripe-shop.ts'

const APP = 'https://pay.till.test'

/** A shop with payments by Stripe, and its signed-in seller. */
async function startShop(t: Ends) {
  const { shop, server: stripe } = await startStripeShop(t, { env: { BASE_URL: APP, APP_URL: APP } })
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const add = async (host: string) => assert.equal((await ann.call('PUT', `/api/sites/${host}`)).status, 200)
  const hosts = () => stripe.bank.methodDomains.map((one) => one['domain_name'])
  const until = (wanted: string[]) =>
    eventually(
      async () => hosts(),
      (now) => now.length === wanted.length,
    )
  return { stripe, add, hosts, until }
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

test('an outage delays it, and a host that its owner has switched off stays off', async (t) => {
  const { stripe, add, until } = await startShop(t)
  stripe.bank.addMethodDomain('pay.till.test', false)
  const isHosts = { match: ({ path }: { path: string }) => path === '/v1/payment_method_domains' }
  stripe.fail('503 html', isHosts)
  await add('shop.example')
  await eventually(
    async () => stripe.calls.filter(isHosts.match).length,
    (count) => count > 0,
  )
  // the seller adds it again, and need not wait for the next try
  await add('shop.example')
  await until(['pay.till.test', 'shop.example'])
  assert.equal(stripe.bank.methodDomains.find((one) => one['domain_name'] === 'pay.till.test')!['enabled'], false)
})
