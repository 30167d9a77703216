import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startRazorpayShop } from '../support/razorpay-shop.ts'
import { type TestShop, sharedShop } from '../support/shop.ts'
import { startStripeShop } from '../support/stripe-shop.ts'

// The payment page may load the processor's files, and no other page may load any.

const sandbox = sharedShop()

async function headersOf(shop: TestShop, path: string) {
  const { headers } = await shop.call('GET', path, undefined, { accept: 'text/html' })
  const policy = new Map(
    headers
      .get('content-security-policy')!
      .split('; ')
      .map((directive): [string, string[]] => [directive.split(' ')[0]!, directive.split(' ').slice(1)]),
  )
  return { policy, headers }
}

const OTHERS = ['/', '/pay/', '/pay/?product=prod_none', '/order/', '/pricing/', '/sign-in/', '/account/', '/nowhere']
/** All directives but the hashes of a page's own script and style. */
const strangers = (policy: Map<string, string[]>) =>
  [...policy].flatMap(([name, sources]) =>
    sources
      .filter((source) => !/^('self'|'none'|'sha256-.*'|https:|data:|http:\/\/shop\.test)$/.test(source))
      .map((source) => `${name} ${source}`),
  )

async function assertOnlyThere(shop: TestShop, productId: string, expected: string[]): Promise<void> {
  const { policy, headers } = await headersOf(shop, `/pay/?product=${productId}`)
  assert.deepEqual(strangers(policy), expected)
  assert.deepEqual(policy.get('default-src'), ["'none'"])
  assert.deepEqual(policy.get('form-action'), ["'self'"])
  assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin-allow-popups')
  for (const path of OTHERS) {
    const other = await headersOf(shop, path)
    assert.deepEqual(strangers(other.policy), [], path)
    assert.equal(other.headers.get('cross-origin-opener-policy'), 'same-origin', path)
  }
}

test('the sandbox’s form needs no other host, on any page', async () => {
  const shop = sandbox()
  for (const path of [`/pay/?product=${await shop.product()}`, ...OTHERS]) {
    const { policy, headers } = await headersOf(shop, path)
    assert.deepEqual(strangers(policy), [], path)
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path)
  }
})

test('where Stripe serves the product its script, frames and API are allowed, there alone', async (t: TestContext) => {
  const { shop } = await startStripeShop(t)
  await assertOnlyThere(shop, await shop.product(), [
    'script-src https://js.stripe.com',
    'script-src https://*.js.stripe.com',
    'connect-src https://api.stripe.com',
    'frame-src https://js.stripe.com',
    'frame-src https://*.js.stripe.com',
    'frame-src https://hooks.stripe.com',
    "style-src-attr 'unsafe-inline'",
  ])
})

test('where Razorpay serves the product its script and frames are allowed, there alone', async (t: TestContext) => {
  const { shop, rupees } = await startRazorpayShop(t)
  await assertOnlyThere(shop, await rupees(), [
    'script-src https://checkout.razorpay.com',
    'script-src https://cdn.razorpay.com',
    'connect-src https://*.razorpay.com',
    'frame-src https://*.razorpay.com',
    "style-src-elem 'unsafe-inline'",
    "style-src-attr 'unsafe-inline'",
  ])
  // no processor takes another currency: no payment, no script
  const { policy } = await headersOf(shop, `/pay/?product=${await shop.product({ currency: 'USD' })}`)
  assert.deepEqual(strangers(policy), [])
})
