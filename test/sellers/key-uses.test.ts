import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { newId } from '../../src/kit/ids.ts'
import { SCOPES } from '../../src/sellers/keys/scopes.ts'
import { makeKey, programWith, signedInAnn } from '../support/keys.ts'
import { count } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'

const shared = sharedShop()

test('a bound key reaches its products and their orders', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const [one, two] = [await shop.product(), await shop.product()]
  const [sold, other] = [await shop.paid({ productId: one }), await shop.paid({ productId: two })]
  const { secret } = await makeKey(ann, SCOPES, { productIds: [one] })
  const program = programWith(shop, secret)
  const products = await program.call('GET', '/api/products?limit=100')
  assert.deepEqual(products.body.items.map(({ id }: { id: string }) => id), [one]) // oxfmt-ignore
  const orders = await program.call('GET', '/api/orders?limit=100')
  assert.deepEqual(orders.body.items.map(({ orderId }: { orderId: string }) => orderId), [sold.orderId]) // oxfmt-ignore
  const csv = await program.call<string>('GET', '/api/orders?q=book', undefined, { accept: 'text/csv' })
  assert(csv.body.includes(sold.orderId) && !csv.body.includes(other.orderId))
  assert.equal((await program.call('GET', `/api/orders?productId=${two}`)).body.items.length, 0)
  assert.equal((await program.call('GET', `/api/orders/${sold.orderId}`)).status, 200)
  assert.equal((await program.call('PATCH', `/api/products/${one}`, { name: 'Another' })).status, 200)
  assert.equal((await program.call('POST', `/api/orders/${sold.orderId}/refunds`, { amount: 100 })).status, 201)
  assertProblem(await program.call('GET', `/api/orders/${other.orderId}`), 404, 'order_not_found')
  assertProblem(await program.call('PATCH', `/api/products/${two}`, { name: 'Another' }), 404, 'product_not_found')
  assertProblem(await program.call('GET', '/api/balance'), 403, 'key_bound_to_products')
  assertProblem(await program.call('POST', '/api/products', { name: 'A', amount: 1, currency: 'USD' }), 403, 'key_bound_to_products') // oxfmt-ignore
})

test('a bound key manages the codes and the files of its products, and no others', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const [one, two] = [await shop.product(), await shop.product()]
  const made = async (code: string, more: object) =>
    (await ann.call('POST', '/api/discounts', { code, percentOff: 10, ...more })).body.id as string
  const [ofOne, ofTwo, ofAll] = [await made('ONE-1', { productId: one }), await made('TWO-2', { productId: two }), await made('ALL-3', {})] // oxfmt-ignore
  const program = programWith(shop, (await makeKey(ann, SCOPES, { productIds: [one] })).secret)
  const listed = await program.call('GET', '/api/discounts')
  assert.deepEqual(listed.body.items.map(({ id }: { id: string }) => id), [ofOne]) // oxfmt-ignore
  assert.equal((await program.call('GET', `/api/discounts?productId=${two}`)).body.items.length, 0)
  const own = await program.call('POST', '/api/discounts', { code: 'MINE', percentOff: 5, productId: one })
  assert.equal(own.status, 201, JSON.stringify(own.body))
  for (const productId of [undefined, two])
    assertProblem(await program.call('POST', '/api/discounts', { code: 'OTHER', percentOff: 5, productId }), 404, 'product_not_found') // oxfmt-ignore
  for (const id of [ofTwo, ofAll]) {
    assertProblem(await program.call('PATCH', `/api/discounts/${id}`, { active: false }), 404, 'discount_not_found')
    assertProblem(await program.call('DELETE', `/api/discounts/${id}`), 404, 'discount_not_found')
  }
  assert.equal((await program.call('PATCH', `/api/discounts/${ofOne}`, { active: false })).status, 200)
  assert.equal((await program.call('DELETE', `/api/discounts/${ofOne}`)).status, 204)

  const begin = (by: { call: typeof program.call }, productId: string) =>
    by.call('POST', '/api/uploads', undefined, {
      'tus-resumable': '1.0.0',
      'upload-length': '3',
      'upload-metadata': `productId ${btoa(productId)},filename ${btoa('a.txt')}`,
    })
  const look = (at: string) => program.call('HEAD', new URL(at, shop.url).pathname, undefined, { 'tus-resumable': '1.0.0' }) // oxfmt-ignore
  assertProblem(await begin(program, two), 404, 'product_not_found')
  const begun = await begin(program, one)
  assert.equal(begun.status, 201, JSON.stringify(begun.body))
  assert.equal((await look(begun.headers.get('location')!)).status, 200)
  const ofAnother = await begin(programWith(shop, (await makeKey(ann, ['files:write'])).secret), two)
  assert.equal(ofAnother.status, 201)
  assert.equal((await look(ofAnother.headers.get('location')!)).status, 404)
})

test('no route gives a bound key what is not its own', async (t) => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const [one, two] = [await shop.product(), await shop.product()]
  const { orderId } = await shop.paid({ productId: two })
  const fileId = await shop.file(two)
  const discount = await ann.call('POST', '/api/discounts', { code: 'FOR-TWO', percentOff: 10, productId: two })
  const endpoint = await ann.call('POST', '/api/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['*'] })
  const test = await ann.call('POST', `/api/webhook-endpoints/${endpoint.body.id}/test`, {})
  const ids: Record<string, string> = { productId: two, orderId, fileId, id: fileId, discountId: discount.body.id, keyId: (await makeKey(ann, SCOPES)).id, endpointId: endpoint.body.id, eventId: test.body.eventIds[0], payoutId: `po_${'0'.repeat(26)}`, confirmationId: `cnf_${'0'.repeat(26)}` } // oxfmt-ignore
  const program = programWith(shop, (await makeKey(ann, SCOPES, { productIds: [one] })).secret)
  const { body: api } = await shop.call('GET', '/api/openapi.json')
  const passed: string[] = []
  for (const [path, methods] of Object.entries<Record<string, any>>(api.paths))
    for (const [method, { security = [], requestBody }] of Object.entries(methods)) {
      if (!security.some((way: object) => 'apiKey' in way)) continue
      const [media] = Object.values<any>(requestBody?.content ?? {})
      const [named] = Object.values<any>(media?.examples ?? {})
      const example = media?.example ?? named?.value
      const body = example && { ...example, ...('productId' in example && { productId: two }) }
      const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `${name}_${'0'.repeat(26)}`)
      const headers = method === 'post' && path === '/api/uploads' ? { 'tus-resumable': '1.0.0', 'upload-length': '3', 'upload-metadata': `productId ${btoa(two)},filename ${btoa('a.txt')}` } : {} // oxfmt-ignore
      const query = path.endsWith('/files') ? '?name=a.txt' : path.endsWith('/report') ? '?period=2026' : ''
      const answer = await program.call(method.toUpperCase(), address + query, body, headers as Record<string, string>)
      if (answer.status >= 300)
        assert([403, 404].includes(answer.status), `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`) // oxfmt-ignore
      else {
        passed.push(`${method} ${path}`)
        for (const foreign of [two, orderId, fileId, discount.body.id]) assert(!JSON.stringify(answer.body).includes(foreign), `${method} ${path}`) // oxfmt-ignore
      }
    }
  // the lists, each narrowed; and a key that a bound key makes is bound as it is
  t.diagnostic(passed.join(', '))
  assert.deepEqual(passed.sort(), ['get /api/discounts', 'get /api/orders', 'get /api/products', 'post /api/keys'])
})

test('the last use is noted to the hour with its route, at most once an hour', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { id, secret } = await makeKey(ann, ['orders:read', 'products:read'])
  const program = programWith(shop, secret)
  const { orderId } = await shop.paid()
  const used = async () => {
    const { body } = await ann.call('GET', '/api/keys?limit=100')
    return body.items.find((one: { id: string }) => one.id === id)
  }
  await program.call('GET', `/api/orders/${orderId}`)
  const first = await used()
  assert.match(first.lastUsedAt, /:00:00\.000Z$/)
  assert.equal(first.lastUsedRoute, 'GET /api/orders/:orderId')
  // within the hour nothing is written, whatever comes
  await sql`update api_keys set last_used_at = last_used_at + interval '1 hour' where id = ${id}`.execute(shop.db)
  const version = async () => (await sql<{ xmin: string }>`select xmin::text from api_keys where id = ${id}`.execute(shop.db)).rows[0]!.xmin // oxfmt-ignore
  const before = await version()
  await Promise.all(Array.from({ length: 20 }, () => program.call('GET', '/api/products')))
  assert.equal(await version(), before)
  await sql`update api_keys set last_used_at = last_used_at - interval '2 hours' where id = ${id}`.execute(shop.db)
  await Promise.all(Array.from({ length: 20 }, () => program.call('GET', '/api/products')))
  assert.equal((await used()).lastUsedRoute, 'GET /api/products')
})

test('every change by a key is in the list of what keys have done, also a refused one, and no reading', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { id, secret } = await makeKey(ann, ['products:read', 'products:write', 'orders:read'], { name: 'Catalogue' })
  const program = programWith(shop, secret)
  const made = await program.call('POST', '/api/products', { name: 'A', amount: 100, currency: 'USD' })
  const at = `/api/products/${made.body.id}`
  await program.call('GET', `${at}?a=b`)
  await program.call('PATCH', `${at}?a=b`, { status: 'active' })
  await program.call('DELETE', at)
  // nothing changes when the key may not: the guard ends the request
  await program.call('POST', '/api/discounts', { code: 'NO', percentOff: 10 })
  const listed = await eventually(
    async () => (await ann.call('GET', `/api/activity?keyId=${id}`)).body.items as Record<string, unknown>[],
    (items) => items.length >= 3 && items.every(({ status }) => status !== null),
  )
  assert.deepEqual(
    listed.map(({ at: _, ...one }) => one),
    [
      ['DELETE', at, 204],
      ['PATCH', at, 409],
      ['POST', '/api/products', 201],
    ].map(([method, path, status]) => ({ keyId: id, keyName: 'Catalogue', lastFour: secret.slice(-4), method, path, status })), // oxfmt-ignore
  )
  // page by page, and for all keys
  const first = await ann.call('GET', '/api/activity?limit=2')
  assert.equal(first.body.items.length, 2)
  const next = await ann.call('GET', `/api/activity?limit=2&cursor=${first.body.nextCursor}`)
  assert.notDeepEqual(next.body.items[0], first.body.items[0])
  // a word, and a number that is larger than any id
  for (const wrong of ['x', '9'.repeat(19)])
    assertProblem(
      await ann.call('GET', `/api/activity?cursor=${Buffer.from(wrong).toString('base64url')}`),
      400,
      'validation_failed',
    )
  assertProblem(await program.call('GET', '/api/activity'), 403, 'insufficient_scope')
})

test('the list of what keys have done begins with the newest change, also where the numbers get a digit more', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { id, secret } = await makeKey(ann, ['products:write'])
  await sql`select setval(pg_get_serial_sequence('key_activity', 'id'), 9998)`.execute(shop.db)
  const paths = [1, 2, 3].map(() => `/api/products/${newId('prod')}`)
  for (const path of paths) await programWith(shop, secret).call('DELETE', path)
  const listed: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await ann.call('GET', `/api/activity?keyId=${id}&limit=1${cursor && `&cursor=${cursor}`}`)
    listed.push(...page.body.items.map(({ path }: { path: string }) => path))
    cursor = page.body.nextCursor as string | null
  }
  assert.deepEqual(listed, paths.toReversed())
})

test('a change is written down before it happens', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { id, secret } = await makeKey(ann, ['products:write'])
  const productId = await shop.product()
  let asked: Promise<unknown> | undefined
  // the change waits for the product, which is locked, as when the process ends in the middle of it
  await shop.db.transaction().execute(async (tx) => {
    await sql`select 1 from products where id = ${productId} for update`.execute(tx)
    asked = programWith(shop, secret).call('PATCH', `/api/products/${productId}`, { name: 'Another' })
    await eventually(
      () => count(shop, 'key_activity', sql`key_id = ${id} and status is null`),
      (rows) => rows === 1,
    )
  })
  await asked
  await eventually(
    () => count(shop, 'key_activity', sql`key_id = ${id} and status = 200`),
    (rows) => rows === 1,
  )
})

test('the outcome of a change is not claimed when the program has gone before the answer', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { id, secret } = await makeKey(ann, ['products:write'])
  const productId = await shop.product()
  const gone = new AbortController()
  await shop.db.transaction().execute(async (tx) => {
    await sql`select 1 from products where id = ${productId} for update`.execute(tx)
    const asked = fetch(`${shop.url}/api/products/${productId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: '{"name":"Another"}',
      signal: gone.signal,
    })
    await eventually(
      () => count(shop, 'key_activity', sql`key_id = ${id}`),
      (rows) => rows === 1,
    )
    gone.abort()
    await assert.rejects(asked)
  })
  // a later change of the same key has its outcome, and the one before has none
  await programWith(shop, secret).call('PATCH', `/api/products/${productId}`, { name: 'A third' })
  await eventually(
    () => count(shop, 'key_activity', sql`key_id = ${id} and status = 200`),
    (rows) => rows === 1,
  )
  assert.equal(await count(shop, 'key_activity', sql`key_id = ${id} and status is null`), 1)
})

test('a question about a list without its body needs the same scope', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const [reader, other] = [await makeKey(ann, ['orders:read']), await makeKey(ann, ['products:read'])]
  const statusFor = async (secret: string) => (await programWith(shop, secret).call('HEAD', '/api/orders')).status
  assert.deepEqual([await statusFor(reader.secret), await statusFor(other.secret)], [200, 403])
})

test('a key has a limit of its own, and learns from each answer how much is left', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'key=3/60' } })
  const ann = await signedInAnn(shop)
  const [one, two] = [await makeKey(ann, ['orders:read']), await makeKey(ann, ['orders:read'])]
  const ask = (secret: string, route = '/api/orders') => programWith(shop, secret).call('GET', route)
  for (const left of ['2', '1', '0']) {
    // requests without the scope count too
    const answer = await ask(one.secret, left === '1' ? '/api/balance' : '/api/orders')
    assert.equal(answer.headers.get('ratelimit-limit'), '3')
    assert.equal(answer.headers.get('ratelimit-remaining'), left)
    assert(Number(answer.headers.get('ratelimit-reset')) <= 60)
  }
  const refused = await ask(one.secret)
  assertProblem(refused, 429, 'rate_limited')
  assert.equal(refused.headers.get('ratelimit-remaining'), '0')
  assert(Number(refused.headers.get('retry-after')) >= 1)
  // both secrets of a key share its limit
  const rolled = await ann.call('POST', `/api/keys/${one.id}/roll`, { overlapHours: 1 })
  assertProblem(await ask(rolled.body.secret), 429, 'rate_limited')
  assert.equal((await ask(two.secret)).status, 200)
})

test('the log holds no key, whatever becomes of the request', async (t) => {
  let lines = ''
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines += String(chunk)
      done()
    },
  })
  // at its most talkative, and without the filter that cuts secrets from the lines of the service
  const shop = await startTestShop(t, { log: pino({ level: 'trace' }, stream) })
  const ann = await signedInAnn(shop)
  const { id, secret } = await makeKey(ann, ['orders:read', 'products:write'])
  const program = programWith(shop, secret)
  await program.call('GET', '/api/orders')
  await program.call('GET', `/api/orders?q=${secret}`)
  await program.call('GET', `/api/${secret}`)
  await program.call('POST', '/api/products', '{')
  await program.call('POST', '/api/products', { name: secret, amount: -1, currency: secret })
  await program.call('GET', '/api/balance')
  await programWith(shop, `${secret}x`).call('GET', '/api/orders')
  await ann.call('GET', '/api/orders', undefined, { authorization: `Bearer ${secret}` })
  await ann.call('DELETE', `/api/keys/${id}`)
  await program.call('GET', '/api/orders')
  await sql`alter table api_key_secrets rename to gone`.execute(shop.db)
  assertProblem(await program.call('GET', '/api/orders'), 500, 'internal_error')
  await eventually(async () => lines, (text) => text.includes('a request failed')) // oxfmt-ignore
  assert(lines.split('\n').length > 10)
  assert(!lines.includes(secret.slice(10, -4)))
  assert(!lines.includes(secret.slice(-10)))
})
