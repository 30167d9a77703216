import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { operations } from '../support/operations.ts'
import { type Browser, newBrowser, sessionToken } from '../support/seller.ts'
import { type Answer, type TestShop, assertProblem, sharedShop, startTestShop } from '../support/shop.ts'
import { OPERATOR, ageSignIns, logOf, operatorOf, reviewedOrder, sellerOf } from './support.ts'

const shop = sharedShop({ env: { OPERATORS: OPERATOR } })

interface Route {
  method: string
  address: string
}

/** Every route of the operators that the API's description has, with ids of things that exist. */
async function operatorRoutes(at: TestShop): Promise<Route[]> {
  const { sellerId, productId } = await sellerOf(at)
  const orderId = await reviewedOrder(at, productId)
  const { rows } = await sql<{ id: string }>`select id from files where product_id = ${productId}`.execute(at.db)
  const runId = newId('run')
  await sql`insert into payout_runs (id, cutoff_at, created_by) values (${runId}, now(), 'a test')`.execute(at.db)
  const ids: Record<string, string> = { sellerId, orderId, fileId: rows[0]!.id, runId, currency: 'USD', payoutId: newId('po') } // oxfmt-ignore
  const found = (await operations(at)).filter(({ path }) => path.startsWith('/api/operator/'))
  return found.flatMap(({ path, methods }) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      address: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]!),
    })),
  )
}

/** Everything of an answer that a client can compare, without the values that are new with each request. */
function outline({ status, body, headers }: Answer) {
  const named = Object.fromEntries(headers)
  for (const name of ['x-request-id', 'date', 'content-length', 'keep-alive', 'connection']) delete named[name]
  const text = typeof body === 'string' ? body.replaceAll(/Request [\w-]+/g, '') : { ...body, requestId: '' }
  return { status, text, headers: named }
}

const TRICKS: { what: string; body?: unknown; headers?: Record<string, string> }[] = [
  { what: 'nothing' },
  { what: 'a right body', body: { reason: 'a virus', quotaBytes: 1 } },
  { what: 'a broken body', body: '{"reason":' },
  { what: 'another type', body: '<a/>', headers: { 'content-type': 'text/xml' } },
  { what: 'a browser’s address bar', headers: { accept: 'text/html' } },
  { what: 'a key of the API', headers: { authorization: 'Bearer till_live_0123456789abcdef0123456789abcdef' } },
]

test('for strangers and sellers every operator’s address, with any method, is an unknown address', async () => {
  const at = shop()
  const routes = await operatorRoutes(at)
  assert(routes.length >= 29, `${routes.length} routes`)
  const { browser: seller } = await sellerOf(at)
  const aged = await operatorOf(at)
  await aged.call('DELETE', '/api/auth/session')
  const others: [string, Browser][] = [
    ['a stranger', newBrowser(at)],
    ['a seller', seller],
    ['an operator who has signed out', aged],
  ]
  const more = ['/api/operator/orders?limit=x', '/operator/', '/operator', '/operator/?x=1']
  for (const address of [...routes.map((one) => one.address), ...more]) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND']) {
      const plain = address.replace(/\?.*$/, '')
      const unknown = plain.replace('/operator', '/nowhere')
      const tries = others.flatMap(([who, browser]) => TRICKS.map((trick) => ({ who, browser, ...trick })))
      const fits = tries.filter(({ body }) => body === undefined || /POST|PUT|PATCH|DELETE/.test(method))
      await Promise.all(
        fits.map(async ({ who, browser, what, body, headers }) => {
          const one = await browser.call(method, address, body, headers)
          const other = await browser.call(method, unknown, body, headers)
          assert.deepEqual(outline(one), outline(other), `${who}: ${method} ${address} with ${what}`)
          if (method !== 'OPTIONS') assert.equal(one.status, 404)
        }),
      )
    }
  }
})

test('a seller’s session stays as it was, and two sessions at once tell nothing', async () => {
  const at = shop()
  const { browser } = await sellerOf(at)
  assertProblem(await browser.call('GET', '/api/operator/orders'), 404, 'not_found')
  assert.equal(await browser.isSignedIn(), true)
  const operator = await operatorOf(at)
  const cookie = [operator, browser].map(({ jar }) => jar.header(new URL('http://shop.test/'))).join('; ')
  const answer = await at.call('GET', '/api/operator/orders', undefined, { cookie })
  assertProblem(answer, 404, 'not_found')
  assert.equal(answer.headers.get('set-cookie'), null)
  assert.equal(await operator.isSignedIn(), true)
})

test('an operator is known beside cookies that are no session, or a second one of the same operator', async () => {
  const at = shop()
  const [operator, elsewhere] = [await operatorOf(at), await operatorOf(at)]
  const dead = () => randomBytes(32).toString('base64url')
  const statusFor = async (address: string, tokens: readonly string[]) => {
    const cookie = tokens.map((token) => `till_session=${token}`).join('; ')
    const { status, headers } = await at.call('GET', address, undefined, { cookie, accept: 'text/html' })
    assert.equal(headers.get('set-cookie'), null)
    return status
  }
  const live = sessionToken(operator)
  for (const address of ['/api/operator/orders', '/operator/']) {
    const kinds = [
      [live, dead()],
      [dead(), live],
      [live, sessionToken(elsewhere)],
    ]
    for (const tokens of kinds)
      assert.equal(await statusFor(address, tokens), 200, `${address} ${kinds.indexOf(tokens)}`)
    assert.equal(await statusFor(address, [dead(), dead()]), 404)
    assert.equal(
      await statusFor(address, [live, ...Array.from({ length: 50 }, dead)]),
      404,
      'somebody else set so many',
    )
  }
  assert.equal(await operator.isSignedIn(), true)
})

test('a page that was drawn for another account does nothing in an operator’s session, and tells others nothing', async () => {
  const at = shop()
  const operator = await operatorOf(at)
  const { browser, sellerId } = await sellerOf(at)
  const own = (await operator.session()).body.seller.id as string
  const quota = (by: Browser, drawnFor: string, quotaBytes: number) =>
    by.call('PUT', `/api/operator/sellers/${sellerId}/quota`, { quotaBytes }, { 'till-seller': drawnFor })
  assertProblem(await quota(operator, sellerId, 1), 409, 'other_account')
  assertProblem(await quota(browser, own, 1), 404, 'not_found')
  assertProblem(await quota(browser, sellerId, 1), 404, 'not_found')
  assert.deepEqual(await logOf(operator, sellerId), [])
  assert.equal((await quota(operator, own, 1)).status, 200)
  assert.deepEqual(
    (await logOf(operator, sellerId)).map(({ actor }) => actor),
    [OPERATOR],
  )
})

test('where nobody is named an operator, nobody is one', async (t) => {
  const none = await startTestShop(t)
  const browser = newBrowser(none)
  await browser.signInByCode(OPERATOR)
  assertProblem(await browser.call('GET', '/api/operator/orders'), 404, 'not_found')
})

test('a mailbox that nobody has proven is no operator’s', async () => {
  const operator = await operatorOf(shop())
  await sql`update sellers set email_proven_at = null where email = ${OPERATOR}`.execute(shop().db)
  assertProblem(await operator.call('GET', '/api/operator/orders'), 404, 'not_found')
  await sql`update sellers set email_proven_at = now() where email = ${OPERATOR}`.execute(shop().db)
  assert.equal((await operator.call('GET', '/api/operator/orders')).status, 200)
})

test('an operator reads with an old sign-in, and moves neither money nor people', async () => {
  const at = shop()
  const routes = await operatorRoutes(at)
  const operator = await operatorOf(at)
  await ageSignIns(at, operator)
  const done = async () => (await sql`select 1 from operator_actions`.execute(at.db)).rows.length
  const before = await done()
  const body = { reason: 'a virus', quotaBytes: 1, amount: 1, currency: 'USD', items: [], selection: '' }
  const statuses = new Map<string, number>()
  for (const { method, address } of routes) {
    const answer = await operator.call(method, address, method === 'GET' ? undefined : body)
    const isResend = address.endsWith('/receipt')
    statuses.set(`${method} ${address}`, answer.status)
    // a bank file has names and account numbers
    const isBankFile = address.includes('/files/') && method === 'GET'
    if (method === 'GET' && !isBankFile) assert.equal(answer.status, 200, `${address} ${JSON.stringify(answer.body)}`)
    else if (!isResend) assertProblem(answer, 403, 'recent_sign_in_required')
  }
  assert.equal(await done(), before, 'nothing was done')
})

test('an operator without the page’s origin changes nothing', async () => {
  const operator = await operatorOf(shop())
  const { sellerId } = await sellerOf(shop())
  const answer = await operator.call('PUT', `/api/operator/sellers/${sellerId}/suspension`, undefined, {
    origin: 'https://evil.example',
  })
  assertProblem(answer, 403, 'origin_not_allowed')
})

test('the page is there for an operator, and its address without the slash leads to it', async () => {
  const operator = await operatorOf(shop())
  const page = await operator.call('GET', '/operator/', undefined, { accept: 'text/html' })
  assert.equal(page.status, 200)
  assert.match(page.body, /<title>Operator/)
  assert.equal(page.headers.get('cache-control'), 'no-store')
  const short = await operator.call('GET', '/operator', undefined, { accept: 'text/html' })
  assert.deepEqual([short.status, short.headers.get('location')], [308, '/operator/'])
})
