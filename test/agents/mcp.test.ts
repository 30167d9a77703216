import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assistantWith } from '../support/assistant.ts'
import { type MadeKey, makeKey, programWith, signedInAnn } from '../support/keys.ts'
import { newBrowser } from '../support/seller.ts'
import { type Ends, assertProblem, sharedShop, startTestShop, type TestShop } from '../support/shop.ts'

const shared = sharedShop()
const READS = ['products:read', 'orders:read', 'discounts:read', 'balance:read', 'keys:read', 'webhooks:read']
const ALL = ['list_products', 'get_product', 'create_product', 'change_product', 'list_orders', 'get_order', 'resend_receipt', 'refund_order', 'list_discounts', 'create_discount', 'get_balance', 'list_transfers', 'get_statistics', 'list_events', 'create_key', 'get_proposal'] // oxfmt-ignore

/** Ann's shop with one order, and an assistant with a key of these scopes. */
async function prepared(t: Ends, scopes: readonly string[] = READS) {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const key = await makeKey(ann, scopes)
  const productId = await shop.product({ name: 'The Quiet Handbook' })
  const { orderId } = await shop.paid({ productId })
  return { shop, ann, key, productId, orderId, ...(await assistantWith(t, shop, key.secret)) }
}

const post = (shop: TestShop, headers: Record<string, string>, body: unknown = LIST) =>
  shop.call('POST', '/mcp', body, { accept: 'application/json, text/event-stream', ...headers })
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const bearer = ({ secret }: MadeKey) => ({ authorization: `Bearer ${secret}` })

test('only a key opens it: no key, a wrong one, a session, and both together are refused before anything is read', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const key = await makeKey(ann, READS)
  const without = await post(shop, {})
  assertProblem(without, 401, 'invalid_key')
  assert.equal(without.headers.get('www-authenticate'), 'Bearer realm="till"')
  assert.match(without.body.detail, /^Send an API key/)
  const wrong = await post(shop, { authorization: 'Bearer till_test_nothing' })
  assertProblem(wrong, 401, 'invalid_key')
  assert.match(wrong.headers.get('www-authenticate')!, /^Bearer .*error="invalid_token"/)
  const headers = { accept: 'application/json, text/event-stream' }
  assertProblem(await ann.call('POST', '/mcp', LIST, headers), 401, 'invalid_key')
  assertProblem(await ann.call('POST', '/mcp', LIST, { ...headers, ...bearer(key) }), 400, 'key_and_session')
  await ann.call('DELETE', `/api/keys/${key.id}`)
  assertProblem(await post(shop, bearer(key)), 401, 'key_revoked')
})

test('a page of another site, a large body and another method are refused', async () => {
  const shop = shared()
  const key = await makeKey(await signedInAnn(shop), READS)
  assertProblem(await post(shop, { ...bearer(key), origin: 'https://evil.example' }), 403, 'origin_not_allowed')
  assertProblem(await post(shop, { ...bearer(key), origin: 'null' }), 403, 'origin_not_allowed')
  assert.equal((await post(shop, { ...bearer(key), origin: 'http://shop.test' })).status, 200)
  const large = { ...LIST, params: { text: 'x'.repeat(70_000) } }
  assertProblem(await post(shop, bearer(key), large), 413, 'body_too_large')
  for (const method of ['GET', 'DELETE'])
    assertProblem(await shop.call(method, '/mcp', undefined, bearer(key)), 405, 'method_not_allowed')
  for (const body of [[], 'text', { jsonrpc: '1.0' }, { ...LIST, method: 'nothing/there' }]) {
    const { status, body: said } = await post(shop, bearer(key), body)
    assert(status === 200 || (status >= 400 && status < 500), `${status} ${JSON.stringify(said)}`)
    assert(said.error || said.code || /"error"/.test(String(said)), JSON.stringify(said))
  }
})

test('an earlier client, which begins with a handshake, is served too', async () => {
  const shop = shared()
  const key = await makeKey(await signedInAnn(shop), READS)
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'old', version: '1' } }
  const { status, body } = await post(shop, bearer(key), { jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })
  assert.equal(status, 200)
  assert.match(String(body), /"protocolVersion":"2025-06-18".*"serverInfo":\{"name":"till"/)
  assert.equal((await post(shop, bearer(key), { jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202)
})

test('the limit of a key counts what its tools do', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'key=20/3600' } })
  const key = await makeKey(await signedInAnn(shop), READS)
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_balance', arguments: {} } }
  const answers: number[] = []
  while (answers.length < 30 && answers.at(-1) !== 429) answers.push((await post(shop, bearer(key), call)).status)
  assert.equal(answers.at(-1), 429)
  assert(answers.length <= 11, `${answers.length} calls`)
  const { headers } = await shop.call('GET', '/api/balance', undefined, bearer(key))
  assert.equal(headers.get('ratelimit-remaining'), '0')
})

test('a key sees the tools of its scopes, and their schemas are those of the routes', async (t) => {
  const { client } = await prepared(t, [...READS, 'products:write', 'orders:write'])
  const { tools } = await client.listTools()
  assert.deepEqual(tools.map(({ name }) => name).sort(), [...ALL].sort())
  const refund = tools.find(({ name }) => name === 'refund_order')!
  assert.deepEqual(refund.inputSchema.required, ['orderId'])
  assert.deepEqual(Object.keys(refund.inputSchema.properties!), ['orderId', 'amount', 'reason'])
  assert.match(refund.description!, /only proposes/)
  for (const tool of tools) {
    assert(tool.title && tool.description, tool.name)
    assert.equal(tool.annotations!.readOnlyHint, /^(?:list|get)_/.test(tool.name), tool.name)
  }
  const few = await prepared(t, ['orders:read'])
  const seen = (await few.client.listTools()).tools.map(({ name }) => name)
  assert.deepEqual(seen, ['list_orders', 'get_order', 'refund_order', 'get_proposal'])
})

test('each tool that reads answers as its route does', async (t) => {
  const { shop, key, call, productId, orderId } = await prepared(t)
  const program = programWith(shop, key.secret)
  const reads: [string, Record<string, unknown>, string][] = [
    ['list_products', { limit: 5 }, '/api/products?limit=5'],
    ['get_product', { productId }, `/api/products/${productId}`],
    ['list_orders', { productId, status: 'paid' }, `/api/orders?productId=${productId}&status=paid`],
    ['get_order', { orderId }, `/api/orders/${orderId}`],
    ['list_discounts', {}, '/api/discounts'],
    ['get_balance', {}, '/api/balance'],
    ['list_transfers', { orderId }, `/api/transfers?orderId=${orderId}`],
    ['list_events', { limit: 3 }, '/api/events?limit=3'],
    ['get_statistics', { from: '2026-01-01', to: '2026-02-01' }, '/api/stats?from=2026-01-01&to=2026-02-01'],
  ]
  for (const [name, given, address] of reads) {
    const { isError, said } = await call(name, given)
    assert.equal(isError, false, `${name} ${JSON.stringify(said)}`)
    assert.deepEqual(said, (await program.call('GET', address)).body, name)
  }
})

test('a tool refuses as its route does: missing scope, wrong argument, other seller’s data, unknown tool', async (t) => {
  const { client, call, orderId, productId, shop } = await prepared(t, ['orders:read', 'products:read'])
  const codeOf = async (name: string, given: Record<string, unknown> = {}) => {
    const { isError, said } = await call(name, given)
    assert.equal(isError, true, JSON.stringify(said))
    return said.code
  }
  assert.equal(await codeOf('get_balance'), 'insufficient_scope')
  assert.equal(await codeOf('resend_receipt', { orderId }), 'insufficient_scope')
  assert.equal(await codeOf('create_product', { name: 'x', amount: 1, currency: 'USD' }), 'insufficient_scope')
  assert.equal(await codeOf('create_discount', { code: 'SPRING', percentOff: 20 }), 'insufficient_scope')
  assert.equal(await codeOf('create_key', { name: 'x', scopes: ['orders:read'] }), 'insufficient_scope')
  assert.equal(await codeOf('get_order', { orderId: '../products' }), 'validation_failed')
  assert.equal(await codeOf('get_order', { orderId: '..' }), 'validation_failed')
  assert.equal(await codeOf('get_order'), 'validation_failed')
  assert.equal(await codeOf('get_order', { orderId, status: 'paid' }), 'validation_failed')
  assert.equal(await codeOf('list_orders', { format: 'csv' }), 'validation_failed')
  for (const name of ['constructor', 'toString', 'hasOwnProperty'])
    assert.equal(await codeOf('refund_order', { orderId, [name]: 'x' }), 'validation_failed')
  assert.equal(await codeOf('refund_order', { orderId, amount: '5' }), 'validation_failed')
  for (const change of [{ name: 'a\0b' }, { prices: [{ currency: 'U\0D', amount: 5 }] }])
    assert.equal(await codeOf('change_product', { productId, ...change }), 'validation_failed')
  assert.equal(await codeOf('refund_order', { orderId, amount: 5_000_000 }), 'refund_too_large')
  await assert.rejects(() => client.callTool({ name: 'drop_tables', arguments: {} }), /There is no tool drop_tables/)

  const bob = newBrowser(shop)
  await bob.signInByCode()
  const foreign = await assistantWith(t, shop, (await makeKey(bob, READS)).secret)
  assert.equal((await foreign.call('get_order', { orderId })).said.code, 'order_not_found')
  assert.equal((await foreign.call('refund_order', { orderId })).said.code, 'order_not_found')
})

test('a defect while it proposes is an internal error, without the words of the database', async (t) => {
  const shop = await startTestShop(t)
  const key = await makeKey(await signedInAnn(shop), READS)
  const { call } = await assistantWith(t, shop, key.secret)
  const { orderId } = await shop.paid()
  await sql`alter table confirmations rename to elsewhere`.execute(shop.db)
  const { isError, said } = await call('refund_order', { orderId })
  assert.deepEqual([isError, said.code, said.status], [true, 'internal_error', 500])
  assert.doesNotMatch(JSON.stringify(said), /relation|confirmations/)
})

test('a key that is bound to a product sees nothing else through the tools either', async (t) => {
  const { shop, ann, productId, orderId } = await prepared(t)
  const bound = await makeKey(ann, READS, { productIds: [await shop.product()] })
  const { call } = await assistantWith(t, shop, bound.secret)
  assert.equal((await call('get_product', { productId })).said.code, 'product_not_found')
  assert.equal((await call('refund_order', { orderId })).said.code, 'order_not_found')
  assert.equal((await call('create_key', { name: 'x', scopes: ['orders:read'] })).said.code, 'key_bound_to_products')
})

test('what a key may write and costs nobody anything is done at once, and noted as the key’s', async (t) => {
  const { ann, call, orderId } = await prepared(t, ['products:write', 'orders:write', 'keys:read'])
  const { said } = await call('create_product', { name: 'By an assistant', amount: 500, currency: 'USD' })
  assert.equal(said.status, 'draft')
  assert.equal((await ann.call('GET', `/api/products/${said.id}`)).body.name, 'By an assistant')
  assert.equal((await call('resend_receipt', { orderId })).isError, false)
  const { body } = await ann.call('GET', '/api/activity')
  const paths = body.items.slice(0, 2).map(({ path }: { path: string }) => path)
  assert.deepEqual(paths, [`/api/orders/${orderId}/receipt`, '/api/products'], 'and /mcp itself is not')
})
