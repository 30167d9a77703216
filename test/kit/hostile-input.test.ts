import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../support/operations.ts'
import { BUSINESS } from '../support/route-shop.ts'
import { assertProblem, sharedShop } from '../support/shop.ts'

const shared = sharedShop({ env: { APP_URL: 'https://pay.shop.example', BASE_URL: 'https://api.shop.example' } })

const HOSTILE = [
  '', ' ', '-1', '1e309', "'; drop table orders; --", '%', '\0', '\r\nx: y', '../../etc/passwd', '<script>alert(1)</script>', '💥', 'a'.repeat(5_000), '__proto__', 'toString',
] // oxfmt-ignore

/** The parameters that pages, and routes that accept anything, read from their address. */
const QUERIES: Record<string, string[]> = {
  '/pay': ['product'],
  '/sign-in': ['returnTo', 'error', 'step'],
  '/account': ['error'],
  '/api/auth/idp': ['returnTo'],
  '/api/auth/idp/callback': ['state', 'code', 'iss', 'error', 'error_description'],
}

test('every route accepts any text in its address without an internal error', async () => {
  const shop = shared()
  const requests: { method: string; address: string; refused: boolean }[] = []
  for (const { path, methods } of await operations(shop)) {
    for (const [method, { parameters = [] }] of Object.entries(methods)) {
      const queries =
        QUERIES[path.replace(/(?<=.)\/$/, '')] ?? parameters.flatMap((one) => (one.in === 'query' ? [one.name] : []))
      const known = path.replaceAll(/\{\w+\}/g, 'x')
      for (const value of HOSTILE.map(encodeURIComponent)) {
        if (path.includes('{')) requests.push({ method, address: path.replaceAll(/\{\w+\}/g, value), refused: true })
        for (const name of queries) requests.push({ method, address: `${known}?${name}=${value}`, refused: false })
      }
      for (const name of queries)
        for (const query of [`${name}=a&${name}=b`, `${name}[]=a`, `${name}[a]=b`, name, '%', '&=&'])
          requests.push({ method, address: `${known}?${query}`, refused: false })
    }
  }
  assert(requests.length > 150, String(requests.length))
  await inParallel(requests, async ({ method, address, refused }) => {
    const answer = await shop.call(method.toUpperCase(), address, method === 'post' ? {} : undefined)
    assert(answer.status < 500 && (!refused || answer.status >= 400), `${method} ${address}: ${answer.status}`)
    if (address.startsWith('/api/') && answer.status >= 400 && method !== 'head')
      assertProblem(answer, answer.status, answer.body.code)
  })
})

test('every route accepts any text in its body without an internal error', async () => {
  const shop = shared()
  const { clientSecret } = await shop.checkout()
  const { orderId } = await shop.checkout()
  const endpointId = `we_${'0'.repeat(26)}`
  const valid = {
    clientSecret,
    rail: 'card',
    scenario: 'decline',
    outcome: 'open',
    productId: await shop.product(),
    email: 'bob@example.com',
    code: '000000',
    descriptor: 'TILL A BOOK',
    password: 'no password of anybody',
    newPassword: 'no password of anybody',
    name: 'Zoe',
    returnTo: '/account/',
    saleMails: 'daily',
    token: 'no-token',
    kind: 'iban',
    iban: 'DE89370400440532013000',
  }
  const wrong: unknown[] = [
    null,
    true,
    0,
    -1,
    1.5,
    '',
    '\0',
    '💥',
    'x'.repeat(10_000),
    [],
    ['card'],
    {},
    { toString: 'x' },
    [[[]]],
  ]
  const productMembers = 'name description amount currency status payWhatYouWant suggestedAmount statementSuffix'.split(
    ' ',
  )
  const members: Record<string, string[]> = {
    'POST /api/checkout': ['productId', 'email'],
    [`POST /api/checkout/${orderId}/payment`]: ['token'],
    [`POST /api/checkout/${orderId}/receipt`]: ['email'],
    [`POST /api/checkout/${orderId}/email`]: ['email', 'code'],
    [`POST /api/orders/${orderId}/email`]: ['email'],
    'POST /api/library/code': ['email'],
    'POST /api/library/verify': ['email', 'code'],
    [`POST /api/orders/${orderId}/refunds`]: ['amount', 'reason'],
    'POST /api/products': productMembers,
    [`PATCH /api/products/${valid.productId}`]: productMembers,
    'POST /api/discounts': ['code', 'percentOff', 'limit', 'startsAt'],
    'PATCH /api/discounts/dsc_00000000000000000000000000': ['active', 'limit', 'expiresAt'],
    'POST /api/sandbox/confirm': ['clientSecret', 'rail', 'scenario'],
    'POST /api/sandbox/refund': ['clientSecret', 'amount'],
    'POST /api/sandbox/dispute': ['clientSecret', 'outcome'],
    'POST /api/withdrawals': ['key', 'email'],
    'POST /api/charges/code': ['email', 'descriptor'],
    'POST /api/charges/verify': ['email', 'code', 'descriptor'],
    'POST /api/auth/otp': ['email'],
    'POST /api/auth/otp/verify': ['email', 'code'],
    'POST /api/auth/password': ['email', 'password'],
    'PUT /api/auth/password': ['newPassword', 'currentPassword'],
    'POST /api/auth/email': ['email'],
    'POST /api/auth/email/verify': ['code'],
    'PATCH /api/auth/seller': ['name', 'supportEmail'],
    'PATCH /api/auth/mails': ['saleMails'],
    'PATCH /api/brand': ['accent', 'websiteUrl', 'refundPolicy', 'asksConsent'],
    [`PATCH /api/products/${valid.productId}/files/file_${'0'.repeat(26)}`]: ['name', 'position'],
    [`POST /api/checkout/${orderId}/email/keep`]: ['token'],
    [`POST /api/checkout/${orderId}/email/consent`]: ['token', 'code'],
    'POST /api/auth/identities': ['returnTo'],
    'POST /api/keys': ['name', 'scopes', 'expiresAt', 'productIds'],
    'POST /api/keys/key_00000000000000000000000000/roll': ['overlapHours'],
    'PUT /api/tax/profile': ['country', 'prices', 'taxIds', 'oss', 'category'],
    'PUT /api/invoice-profile': ['on', 'taxIds'],
    [`PUT /api/checkout/${orderId}/invoice-details`]: ['email'],
    'PUT /api/payouts/account': ['businessType', 'sells', 'pan', 'ifsc', 'account', 'acceptsTerms'],
    'PUT /api/payout-details/EUR': ['kind', 'name', 'country', 'iban', 'bic', 'upiId', 'account', 'lines'],
    'POST /api/webhook-endpoints': ['url', 'events', 'description'],
    [`PATCH /api/webhook-endpoints/${endpointId}`]: ['url', 'events', 'description'],
    [`POST /api/webhook-endpoints/${endpointId}/secret`]: ['overlapHours'],
    [`POST /api/webhook-endpoints/${endpointId}/replay`]: ['since', 'status'],
    [`POST /api/webhook-endpoints/${endpointId}/test`]: ['type', 'weather'],
  }
  // operators' routes read nothing of a request that is not an operator's: test/pages/openapi-fuzz.test.ts sends them wrong bodies
  const reading = (await operations(shop))
    // a site stands in the address, and test/sellers/sites.test.ts sends wrong ones
    .filter(({ path }) => !path.startsWith('/api/operator/') && !path.startsWith('/api/sites/'))
    .flatMap(({ methods }) => Object.keys(methods).filter((method) => /^(post|put|patch)$/.test(method)))
  assert.equal(
    reading.length,
    Object.keys(members).length + 13,
    'and those of notifications, pictures, the logo and files, which read bytes, and of a receipt, a replay, a resumed endpoint, a decision, an answered withdrawal and an account at the processor, which read none',
  )
  for (const [route, names] of Object.entries(members)) {
    const [method, path] = route.split(' ') as [string, string]
    const more = REQUIRED[path.replace(/we_0+|ord_\w+/, '')]
    const optional =
      /^\/api\/auth\/(identities|seller)$/.test(path) ||
      path === '/api/brand' ||
      path.endsWith('/refunds') ||
      /^\/api\/(products|discounts)\//.test(path) ||
      /^\/api\/webhook-endpoints\/\w+(\/secret|\/test)?$/.test(path)
    for (const value of wrong) {
      const whole = await shop.call(method, path, JSON.stringify(value))
      if (!isObject(value) || !optional) assertProblem(whole, 400, 'validation_failed')
      for (const name of names) {
        const answer = await shop.call(method, path, { ...valid, ...more, [name]: value })
        assert(
          answer.status >= 400 && answer.status < 500,
          `${route} ${name} ${JSON.stringify(value)}: ${answer.status}`,
        )
        assertProblem(answer, answer.status, answer.body.code)
        if (answer.status === 400) assert.equal(answer.body.fields[0].path.split('.')[0], name)
      }
      const { [names[0] as 'email']: _left, ...rest } = valid
      if (!optional) assertProblem(await shop.call(method, path, rest), 400, 'validation_failed')
    }
    assertProblem(await shop.call(method, path), 400, 'validation_failed')
  }
  for (const value of wrong)
    assertProblem(await shop.call('POST', '/api/webhooks/sandbox', JSON.stringify(value)), 400, 'invalid_signature')
  assert.equal((await shop.status(orderId)).status, 'pending')
})

const ADDRESS = { address: ['1 Residency Road'], postcode: '10115', city: 'Berlin', country: 'DE' }
const REQUIRED: Record<string, object> = {
  '/api/withdrawals': { key: 'hostile-input-key', name: 'Bob Buyer', contract: 'a book' },
  '/api/keys': { name: 'A key', scopes: ['orders:read'] },
  '/api/tax/profile': { country: 'DE', prices: 'inclusive' },
  '/api/invoice-profile': { on: true, ...ADDRESS, taxIds: [] },
  '/api/checkout//invoice-details': ADDRESS,
  '/api/payouts/account': BUSINESS,
  '/api/products': { amount: 1900, currency: 'USD' },
  '/api/webhook-endpoints': { url: 'https://shop.example/hook', events: ['*'] },
  '/api/webhook-endpoints//replay': { since: '2026-11-01' },
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>, atOnce = 16): Promise<void> {
  const rest = [...items]
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item)
    }),
  )
}
