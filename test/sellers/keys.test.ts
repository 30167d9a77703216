import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newSecret } from '../../src/sellers/keys/secret.ts'
import { hashOf } from '../../src/kit/tokens.ts'
import { makeKey, programWith, signedInAnn } from '../support/keys.ts'
import { newBrowser } from '../support/seller.ts'
import { type TestShop, assertProblem, sharedShop } from '../support/shop.ts'

const shared = sharedShop()

/** As if this time had passed for a key. */
const age = ({ db }: TestShop, id: string, days: number) =>
  sql`update api_keys set created_at = created_at - make_interval(days => ${days}),
    rolled_at = rolled_at - make_interval(days => ${days}), expires_at = expires_at - make_interval(days => ${days})
    where id = ${id}`.execute(db)

test('a request with no right key is refused, and says which key it was', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { secret, id } = await makeKey(ann, ['orders:read'])
  const asked = (authorization: string) => shop.call('GET', '/api/orders', undefined, { authorization })

  for (const wrong of [
    '',
    'x',
    secret.slice(0, -1),
    secret.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    `${secret}\u00e9`,
  ]) {
    const answer = await asked(`Bearer ${wrong}`)
    assertProblem(answer, 401, 'invalid_key')
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="till", error="invalid_token"')
  }
  assertProblem(await asked(`Bearer ${newSecret('test')}`), 401, 'invalid_key')
  // a key for real payments, where payments are tests
  const live = newSecret('live')
  await sql`update api_key_secrets set secret_hash = ${hashOf(live)} where key_id = ${id}`.execute(shop.db)
  const other = await asked(`Bearer ${live}`)
  assertProblem(other, 401, 'invalid_key')
  assert.match(other.body.detail, /real payments/)
  // another kind of authorization is none
  assertProblem(await asked('Basic dGlsbDp0aWxs'), 401, 'not_signed_in')
})

test('a request without a key or a session is told that the route takes keys, and of no error (RFC 6750, 3.1)', async () => {
  const shop = shared()
  const challenge = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await shop.call('GET', path, undefined, headers)
    assertProblem(answer, 401, 'not_signed_in')
    return answer.headers.get('www-authenticate')
  }
  assert.equal(await challenge('/api/orders'), 'Bearer realm="till"')
  assert.equal(await challenge('/api/orders', { authorization: 'Basic dGlsbDp0aWxs' }), 'Bearer realm="till"')
  assert.equal(await challenge('/api/auth/history'), null)
  assert.equal((await (await signedInAnn(shop)).call('GET', '/api/orders')).headers.get('www-authenticate'), null)
})

test('a mistyped key never reaches the database', async (t) => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { secret } = await makeKey(ann, ['orders:read'])
  // a statement that finds the table locked would wait for it
  await shop.db.transaction().execute(async (tx) => {
    await sql`lock table api_key_secrets in access exclusive mode`.execute(tx)
    const mistyped = secret.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
    assertProblem(await programWith(shop, mistyped).call('GET', '/api/orders'), 401, 'invalid_key')
  })
  t.diagnostic('answered while the table of keys was locked')
})

test('an expired and a revoked key are refused under codes of their own', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const expired = await makeKey(ann, ['orders:read'])
  const program = programWith(shop, expired.secret)
  assert.equal((await program.call('GET', '/api/orders')).status, 200)
  await age(shop, expired.id, 91)
  assertProblem(await program.call('GET', '/api/orders'), 401, 'key_expired')

  const revoked = await makeKey(ann, ['orders:read'])
  for (let time = 0; time < 2; time++) assert.equal((await ann.call('DELETE', `/api/keys/${revoked.id}`)).status, 204)
  assertProblem(await programWith(shop, revoked.secret).call('GET', '/api/orders'), 401, 'key_revoked')
  const { body } = await ann.call('GET', '/api/keys?limit=100')
  assert.deepEqual(
    [expired.id, revoked.id].map((wanted) => body.items.find(({ id }: { id: string }) => id === wanted).status),
    ['expired', 'revoked'],
  )
})

test('a key and the cookie of a session together are refused, also when both are right', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { secret } = await makeKey(ann, ['orders:read'])
  for (const token of [secret, 'anything'])
    for (const route of ['/api/orders', '/api/auth/session'])
      assertProblem(
        await ann.call('GET', route, undefined, { authorization: `Bearer ${token}` }),
        400,
        'key_and_session',
      )
  // the session goes on
  assert(await ann.isSignedIn())
})

test('a key without the scope is refused, by the names of scope and key', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { secret } = await makeKey(ann, ['orders:read'], { name: 'Order sync' })
  const program = programWith(shop, secret)
  const refused = await program.call('GET', '/api/balance')
  assertProblem(refused, 403, 'insufficient_scope')
  assert.equal(
    refused.body.detail,
    `This needs balance:read, which the key “Order sync” (till_test_…${secret.slice(-4)}) does not have.`,
  )
  assert.equal(
    refused.headers.get('www-authenticate'),
    'Bearer realm="till", error="insufficient_scope", scope="balance:read"',
  )
  // write does not follow from read, nor read from write
  const order = await shop.paid()
  assertProblem(await program.call('POST', `/api/orders/${order.orderId}/receipt`, {}), 403, 'insufficient_scope')
  const writer = programWith(shop, (await makeKey(ann, ['orders:write'])).secret)
  assertProblem(await writer.call('GET', '/api/orders'), 403, 'insufficient_scope')
  // a list that is also an export takes either scope
  const accountant = programWith(shop, (await makeKey(ann, ['exports:read'])).secret)
  const csv = await accountant.call('GET', '/api/orders', undefined, { accept: 'text/csv' })
  assert.equal(csv.status, 200)
  assert.match(csv.headers.get('content-type')!, /^text\/csv/)
})

test('a key does what its scopes say, without an origin and from any', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { secret } = await makeKey(ann, [
    'products:read',
    'products:write',
    'files:write',
    'orders:read',
    'refunds:write',
  ])
  const program = programWith(shop, secret)
  const made = await program.call('POST', '/api/products', { name: 'A book', amount: 1900, currency: 'USD' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const file = await program.call('POST', `/api/products/${made.body.id}/files?name=a.txt`, 'a book', { 'content-type': 'application/octet-stream' }) // oxfmt-ignore
  assert.equal(file.status, 201, JSON.stringify(file.body))
  for (const origin of ['https://elsewhere.example', 'null', 'http://shop.test'])
    assert.equal(
      (await program.call('PATCH', `/api/products/${made.body.id}`, { status: 'active' }, { origin })).status,
      200,
    )
  const { orderId } = await shop.paid({ productId: made.body.id })
  assert.equal((await program.call('GET', `/api/orders/${orderId}`)).body.status, 'paid')
  assert.equal((await program.call('POST', `/api/orders/${orderId}/refunds`, { amount: 500 })).status, 201)
  // a page of another origin is not invited: its browser asks first, and gets no leave
  const asked = await shop.call('OPTIONS', '/api/products', undefined, {
    origin: 'https://elsewhere.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  })
  assert.equal(asked.headers.get('access-control-allow-origin'), 'http://shop.test')
})

test('what is another seller’s is not found', async () => {
  const shop = shared()
  const { orderId } = await shop.paid()
  const bob = newBrowser(shop)
  await bob.signInByCode()
  const { secret } = await makeKey(bob, ['orders:read', 'keys:write', 'products:read'])
  const program = programWith(shop, secret)
  assertProblem(await program.call('GET', `/api/orders/${orderId}`), 404, 'order_not_found')
  assert.deepEqual((await program.call('GET', '/api/orders')).body.items, [])
  const ann = await signedInAnn(shop)
  const { id } = await makeKey(ann, ['orders:read'])
  assertProblem(await program.call('DELETE', `/api/keys/${id}`), 404, 'key_not_found')
  assertProblem(await bob.call('POST', `/api/keys/${id}/roll`, { overlapHours: 0 }), 404, 'key_not_found')
  const productIds = [await shop.product()]
  assertProblem(await bob.call('POST', '/api/keys', { name: 'x', scopes: ['orders:read'], productIds }), 404, 'product_not_found') // oxfmt-ignore
})

test('the operators’ addresses and those of the account take no key', async (t) => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { body } = await shop.call('GET', '/api/openapi.json')
  const scopes = ['products', 'files', 'discounts', 'orders', 'refunds', 'balance', 'webhooks', 'exports', 'keys']
  const all = scopes.flatMap((scope) => [`${scope}:read`, `${scope}:write`])
  const program = programWith(shop, (await makeKey(ann, all)).secret)
  let asked = 0
  for (const [path, methods] of Object.entries<Record<string, any>>(body.paths))
    for (const [method, { tags, security = [], operationId }] of Object.entries(methods)) {
      const isOperators = tags.includes('Operator')
      const isSessions = security.length > 0 && !security.some((one: object) => 'apiKey' in one)
      if (!isOperators && !isSessions) continue
      const address = path.replaceAll(/\{(\w+)Id\}/g, (_, kind: string) => `${({ session: 'ses', identity: 'idn', order: 'ord', seller: 'sel', file: 'file', confirmation: 'cnf' } as Record<string, string>)[kind] ?? kind}_${'0'.repeat(26)}`) // oxfmt-ignore
      const examples = Object.values<any>(methods[method].requestBody?.content ?? {}).flatMap(({ example, examples = {} }) => [example, ...Object.values<any>(examples).map(({ value }) => value)]) // oxfmt-ignore
      const example = examples.find((one) => one !== undefined)
      const answer = await program.call(method.toUpperCase(), address, example, { origin: 'http://shop.test' })
      if (isOperators) assertProblem(answer, 404, 'not_found')
      else assertProblem(answer, 403, 'key_not_accepted')
      asked += 1
      assert(operationId)
    }
  assert(asked > 20, String(asked))
  t.diagnostic(`${asked} routes`)
})
