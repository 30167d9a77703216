import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { Product } from '../../src/products/schema.ts'
import { type Browser, newBrowser } from '../support/seller.ts'
import { type Answer, assertProblem, sharedShop } from '../support/shop.ts'

const APP_URL = 'https://pay.shop.example'
const shop = sharedShop({ env: { APP_URL, BASE_URL: 'https://api.shop.example' } })
const BOOK = { name: 'A book', amount: 1900, currency: 'USD' }
let ann: Browser
let eve: Browser

let signedIn: Promise<unknown> | undefined
beforeEach(() => {
  ann ??= newBrowser(shop())
  eve ??= newBrowser(shop())
  return (signedIn ??= Promise.all([ann.signInByCode(), eve.signInByCode()]))
})

async function made(fields: object = {}, seller = ann): Promise<Product> {
  const answer = await seller.call<Product>('POST', '/api/products', { ...BOOK, ...fields })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

/** One with a file, on sale. */
async function published(fields: object = {}, seller = ann): Promise<Product> {
  const { id } = await made(fields, seller)
  await shop().file(id)
  const answer = await seller.call<Product>('PATCH', `/api/products/${id}`, { status: 'active' })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

const change = (id: string, fields: object, ifMatch?: string): Promise<Answer> =>
  ann.call('PATCH', `/api/products/${id}`, fields, { 'if-match': ifMatch })

const read = async (id: string): Promise<Product> => (await ann.call<Product>('GET', `/api/products/${id}`)).body

const isForSale = async (id: string): Promise<boolean> =>
  (await shop().call('GET', `/api/products/${id}/public`)).status === 200

function assertField(answer: Answer, path: string, message: RegExp): void {
  assertProblem(answer, 400, 'validation_failed')
  assert.deepEqual([...new Set(answer.body.fields.map((field: { path: string }) => field.path))], [path])
  assert.match(answer.body.fields[0].message, message)
}

test('without a session no product is visible or can be changed', async () => {
  const { id } = await made()
  const file = 'file_01kakd4m2n5p8q1r3s6t9v0w2x'
  for (const [method, path, body] of [
    ['POST', '/api/products', BOOK],
    ['GET', '/api/products'],
    ['GET', `/api/products/${id}`],
    ['PATCH', `/api/products/${id}`, { amount: 1 }],
    ['DELETE', `/api/products/${id}`],
    ['DELETE', `/api/products/${id}/files/${file}`],
    ['PUT', `/api/products/${id}/image`],
    ['DELETE', `/api/products/${id}/image`],
  ] as const)
    assertProblem(await newBrowser(shop()).call(method, path, body), 401, 'not_signed_in')
  assert.equal((await read(id)).amount, 1900)
})

test('another seller’s product is not found, on any route', async () => {
  const { id } = await published()
  const before = await read(id)
  for (const [method, path, body] of [
    ['GET', `/api/products/${id}`],
    ['PATCH', `/api/products/${id}`, { amount: 1 }],
    ['PATCH', `/api/products/${id}`, {}],
    ['DELETE', `/api/products/${id}`],
    ['DELETE', `/api/products/${id}/files/file_01kakd4m2n5p8q1r3s6t9v0w2x`],
    ['PUT', `/api/products/${id}/image`],
    ['DELETE', `/api/products/${id}/image`],
    ['GET', '/api/products/prod_01kakd3v5xq4m8s2t6w0y9r7bn'],
  ] as const)
    assertProblem(await eve.call(method, path, body), 404, 'product_not_found')
  assert.deepEqual(await read(id), before)
  const { body } = await eve.call('GET', '/api/products')
  assert(body.items.every((one: Product) => one.id !== id))
})

test('the refusal names the wrong field, when a product is made and when it is changed', async () => {
  const { id } = await made()
  const wrong: [member: string, values: unknown[], message: RegExp][] = [
    ['name', ['', '   ', 'x'.repeat(201), '\u200e'.repeat(201)], /1 to 200 characters/],
    ['name', ['a\0b', 'a\nb', 'a\u202eb', 'a\u0085b', 'a\u2028b'], /one line/],
    ['name', [null, 1, [], {}], /string/],
    ['description', ['x'.repeat(5001)], /at most 5000/],
    ['description', ['a\0b', 'a\u001bb', 'a\u202eb'], /control characters/],
    ['amount', [-1, 1_000_000_000_000], /must be [<>]=/],
    ['amount', [0.5, '1900', null, true], /integer/],
    ['currency', ['usd', 'XXX', 'XAU', 'US', 'USDT', '', ' USD'], /ISO 4217/],
    ['status', ['sold', '', 'Draft', null], /allowed values/],
    ['payWhatYouWant', ['true', 1, null], /boolean/],
    [
      'statementSuffix',
      ['', '-A', '.', 'A', '1984', 'A*B', 'BÜCHER', 'x'.repeat(17), 'A\nB'],
      /2 to 16 .* with a letter/,
    ],
  ]
  for (const [member, values, message] of wrong) {
    for (const value of values) {
      assertField(await ann.call('POST', '/api/products', { ...BOOK, [member]: value }), member, message)
      assertField(await change(id, { [member]: value }), member, message)
    }
  }
  for (const suggestedAmount of [0, -1, 1.5, '5', 1_000_000_000_000]) {
    const answer = await change(id, { payWhatYouWant: true, suggestedAmount })
    assertProblem(answer, 400, 'validation_failed')
    assert.equal(answer.body.fields[0].path, 'suggestedAmount')
  }
  for (const member of ['name', 'amount', 'currency'])
    assertField(await ann.call('POST', '/api/products', { ...BOOK, [member]: undefined }), member, /required/)
  const both = await ann.call('POST', '/api/products', { ...BOOK, name: ' ', currency: 'XXX' })
  assert.deepEqual(
    both.body.fields.map((field: { path: string }) => field.path),
    ['name', 'currency'],
  )
  assertField(await ann.call('POST', '/api/products', { ...BOOK, status: 'archived' }), 'status', /allowed values/)
  assert.equal((await read(id)).name, 'A book')
})

test('a suggestion goes with the buyer’s choice, and is never below the least', async () => {
  for (const fields of [
    { suggestedAmount: 2000 },
    { suggestedAmount: 1899, payWhatYouWant: true },
    { suggestedAmount: 2000, payWhatYouWant: false },
  ])
    assertField(await ann.call('POST', '/api/products', { ...BOOK, ...fields }), 'suggestedAmount', /not be below/)
  const { id, suggestedAmount } = await made({ amount: 0, payWhatYouWant: true, suggestedAmount: 1 })
  assert.equal(suggestedAmount, 1)
  assertField(await change(id, { amount: 2 }), 'suggestedAmount', /not be below/)
  assertField(await change(id, { payWhatYouWant: false, suggestedAmount: 5 }), 'suggestedAmount', /payWhatYouWant/)
  const raised = await change(id, { amount: 500, suggestedAmount: 1500 })
  assert.deepEqual([raised.body.amount, raised.body.suggestedAmount], [500, 1500])
  assert(!('suggestedAmount' in (await change(id, { suggestedAmount: null })).body))
  await change(id, { suggestedAmount: 900 })
  const fixed = await change(id, { payWhatYouWant: false })
  assert(!('suggestedAmount' in fixed.body), 'without the choice there is nothing to suggest')
  assert(!('suggestedAmount' in (await change(id, { payWhatYouWant: true })).body))
})

test('a product has the sent fields, is a draft, and has its ETag, its address and its page', async () => {
  const answer = await ann.call<Product>('POST', '/api/products', {
    name: '  Bücher & „Töne“  ',
    description: 'One.\r\nTwo.',
    amount: 0,
    currency: 'JPY',
    seller: 'sel_other',
  })
  assert.equal(answer.status, 201)
  const { id, sellerId, createdAt, updatedAt, ...rest } = answer.body
  assert.deepEqual(rest, {
    name: 'Bücher & „Töne“',
    description: 'One.\nTwo.',
    status: 'draft',
    amount: 0,
    currency: 'JPY',
    prices: [{ currency: 'JPY', amount: 0 }],
    payWhatYouWant: false,
    statementSuffix: 'BUCHER TONE',
    files: [],
    payUrl: `${APP_URL}/pay/?product=${id}`,
  })
  assert.equal(sellerId, (await ann.session()).body.seller.id)
  for (const time of [createdAt, updatedAt]) assert.equal(new Date(time).toISOString(), time)
  assert.equal(answer.headers.get('etag'), '"1"')
  assert.equal(answer.headers.get('location'), `https://api.shop.example/api/products/${id}`)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(await isForSale(id), false, 'a draft is not for sale')
  assert.deepEqual(await read(id), answer.body)
})

test('every currency there is can be a price’s, and a name can have any letters', async () => {
  const name = '書'.repeat(100) + '🎁'.repeat(100)
  const { statementSuffix, ...product } = await made({ name, currency: 'KWD', statementSuffix: ' my shop ' })
  assert.deepEqual([product.name, product.currency, statementSuffix], [name, 'KWD', 'MY SHOP'])
  assert.equal((await made({ name })).statementSuffix, 'ORDER')
})

test('a change leaves absent fields as they are, and returns the whole product', async () => {
  const { id } = await made({ description: 'About books.', statementSuffix: 'BOOKS' })
  await shop().file(id)
  const product = await read(id)
  const { status, headers, body } = await change(product.id, { amount: 2400 })
  assert.equal(status, 200)
  assert.deepEqual(
    { ...body, updatedAt: '' },
    {
      ...product,
      amount: 2400,
      prices: [{ currency: 'USD', amount: 2400 }],
      updatedAt: '',
    },
  )
  assert(body.updatedAt > product.updatedAt)
  assert.equal(headers.get('etag'), '"2"')
  const all = { name: 'B', description: '', amount: 5, currency: 'EUR', status: 'active', statementSuffix: 'BE' }
  assert.deepEqual((await change(product.id, all)).body, {
    ...body,
    ...all,
    prices: [{ currency: 'EUR', amount: 5 }],
    updatedAt: (await read(product.id)).updatedAt,
  })
  assert.equal((await change(product.id, {})).headers.get('etag'), '"3"', 'nothing is no change')
  // a client can send the whole product back
  assert.equal((await change(product.id, await read(product.id))).status, 200)
})

test('of two windows that edit one product the second gets a refusal, and overwrites nothing', async () => {
  const { id } = await made()
  const first = await change(id, { name: 'First' }, '"1"')
  assert.equal(first.headers.get('etag'), '"2"')
  for (const ifMatch of ['"1"', 'W/"1"', '"1", "7"', '"x"', '""', 'nonsense', '"99999999999999"', '"9999999999"']) {
    assertProblem(await change(id, { name: 'Second' }, ifMatch), 412, 'changed_meanwhile')
    assertProblem(await change(id, {}, ifMatch), 412, 'changed_meanwhile')
  }
  assert.equal((await read(id)).name, 'First')
  for (const ifMatch of ['"2"', '"3", "1"', 'W/"4"', '*', undefined])
    assert.equal((await change(id, { description: `with ${ifMatch}` }, ifMatch)).status, 200, ifMatch)
  const etag = (await ann.call('GET', `/api/products/${id}`)).headers.get('etag')!
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => change(id, { name }, etag)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412], 'of four at once one')
})

test('the pages of a list hold every product once, also while others are made', async () => {
  const bea = newBrowser(shop())
  await bea.signInByCode()
  const ids: string[] = []
  for (let at = 0; at < 7; at++) ids.unshift((await made({ name: `Book ${at}` }, bea)).id)
  const seen: string[] = []
  let cursor: string | null = ''
  for (let page = 0; cursor !== null; page++) {
    const { body }: Answer = await bea.call('GET', `/api/products?limit=3${cursor && `&cursor=${cursor}`}`)
    assert.equal(body.items.length, [3, 3, 1][page])
    seen.push(...body.items.map(({ id }: Product) => id))
    cursor = body.nextCursor
    await made({ name: 'Another' }, bea)
  }
  assert.deepEqual(seen, ids)
  const { body } = await bea.call('GET', '/api/products')
  assert.deepEqual([body.items.length, body.nextCursor], [10, null])
  assert.deepEqual(body.items.at(-1), (await bea.call('GET', `/api/products/${ids.at(-1)}`)).body)
})

test('an invalid cursor or limit is refused, and an empty shop is an empty list', async () => {
  const bea = newBrowser(shop())
  await bea.signInByCode()
  assert.deepEqual((await bea.call('GET', '/api/products')).body, { items: [], nextCursor: null })
  const foreign = Buffer.from('ord_01kakd3v5xq4m8s2t6w0y9r7bn').toString('base64url')
  for (const cursor of ['x', '', foreign, 'prod_x', '%00', 'a'.repeat(101)])
    assertField(await bea.call('GET', `/api/products?cursor=${cursor}`), 'cursor', /./)
  for (const limit of ['0', '101', '-1', '1.5', 'x', '', '1e1', '9999'])
    assertField(await bea.call('GET', `/api/products?limit=${limit}`), 'limit', /./)
  assertField(await bea.call('GET', '/api/products?status=sold'), 'status', /allowed values/)
  assertField(await bea.call('GET', '/api/products?q=%00'), 'q', /./)
})

test('products are found by status and by a part of the name, as it is typed', async () => {
  const bea = newBrowser(shop())
  await bea.signInByCode()
  await published({ name: 'Über 100% Käse_Brot' }, bea)
  await made({ name: 'Wine' }, bea)
  const names = async (query: Record<string, string>) =>
    (await bea.call('GET', `/api/products?${new URLSearchParams(query)}`)).body.items.map(({ name }: Product) => name)
  for (const q of ['käse', 'ÜBER', '100%', 'e_b', ' brot '])
    assert.deepEqual(await names({ q }), ['Über 100% Käse_Brot'], q)
  for (const q of ['_', '%']) assert.deepEqual(await names({ q }), ['Über 100% Käse_Brot'], 'no wildcard')
  for (const q of ['beer', '\\', "'", 'w%e']) assert.deepEqual(await names({ q }), [])
  assert.deepEqual(await names({ q: '' }), ['Wine', 'Über 100% Käse_Brot'])
  assert.deepEqual(await names({ status: 'active' }), ['Über 100% Käse_Brot'])
  assert.deepEqual(await names({ status: 'draft', q: 'käse' }), [])
})

test('a seller has at most ten thousand products', async () => {
  const many = newBrowser(shop())
  await many.signInByCode()
  const { id } = await made({}, many)
  await sql`
    insert into products (id, seller_id, name, description, status, price_minor, currency, statement_suffix)
    select 'prod_m' || lpad(n::text, 25, '0'), seller_id, name, description, status, price_minor, currency, statement_suffix
    from products, generate_series(1, 9_998) n where id = ${id}`.execute(shop().db)
  const last = { 'idempotency-key': randomUUID() }
  const { id: lastId } = (await many.call('POST', '/api/products', BOOK, last)).body
  assertProblem(await many.call('POST', '/api/products', BOOK), 409, 'too_many_products')
  assert.equal((await many.call('POST', '/api/products', BOOK, last)).body.id, lastId, 'a repeat makes none')
  await made()
})

test('with an idempotency key a product is made once, however often and simultaneously it is asked for', async () => {
  const key = { 'idempotency-key': randomUUID() }
  const body = { ...BOOK, name: 'Made once', amount: 900 }
  const answers = await Promise.all(Array.from({ length: 8 }, () => ann.call('POST', '/api/products', body, key)))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  const ids = new Set(answers.map((answer) => answer.body.id))
  assert.equal(ids.size, 1)
  const [id] = ids
  assert.equal((await ann.call('GET', '/api/products?q=Made%20once')).body.items.length, 1)
  // a repeat sees the product as it is by then, whatever the order of the members
  await change(id, { amount: 1000 })
  const turnedOf = (one: object) => Object.fromEntries(Object.entries(one).reverse())
  const turned = turnedOf(body)
  assert.deepEqual((await ann.call('POST', '/api/products', turned, key)).body, await read(id))
  assertProblem(await ann.call('POST', '/api/products', { ...body, amount: 901 }, key), 409, 'idempotency_key_reused')
  // also of those within
  const [nested, prices] = [
    { 'idempotency-key': randomUUID() },
    [
      { currency: 'USD', amount: 900 },
      { currency: 'JPY', amount: 1500 },
    ],
  ]
  const made = await ann.call('POST', '/api/products', { name: 'Two prices', prices }, nested)
  const again = await ann.call('POST', '/api/products', { prices: prices.map(turnedOf), name: 'Two prices' }, nested)
  assert.deepEqual([made.status, again.status, again.body.id], [201, 201, made.body.id])
  // the key of another seller is another key
  const other = await eve.call('POST', '/api/products', body, key)
  assert.equal(other.status, 201)
  assert.notEqual(other.body.id, id)
  // a refused request has used no key
  const refused = { 'idempotency-key': randomUUID() }
  assertProblem(await ann.call('POST', '/api/products', { ...body, name: '' }, refused), 400, 'validation_failed')
  assert.equal((await ann.call('POST', '/api/products', body, refused)).status, 201)
  for (const short of ['short', 'x'.repeat(256)])
    assertProblem(await ann.call('POST', '/api/products', body, { 'idempotency-key': short }), 400, 'validation_failed')
})

test('an archived product is not for sale, stays with its buyers, and can come back', async () => {
  const { id: sellerId } = (await ann.session()).body.seller
  const id = await shop().product({ sellerId })
  const order = await shop().paid({ productId: id })
  const version = () => ann.call('GET', `/api/products/${id}`).then(({ headers }) => headers.get('etag'))
  for (let time = 0; time < 2; time++) assert.equal((await ann.call('DELETE', `/api/products/${id}`)).status, 204)
  assert.equal(await version(), '"2"', 'a repeat changes nothing')
  assert.equal((await read(id)).status, 'archived')
  assert.equal(await isForSale(id), false)
  const refused = await shop().call('POST', '/api/checkout', { productId: id, email: 'bob@example.com' })
  assertProblem(refused, 404, 'product_not_found')
  const { downloads } = await shop().status(order.orderId, 'bob@example.com')
  assert.equal(downloads.length, 1)
  assert.equal((await shop().call('GET', new URL(downloads[0]!.url).pathname)).body, 'a book')
  assert.equal((await change(id, { status: 'active' })).status, 200)
  assert.equal(await isForSale(id), true)
})

test('a removed file is gone for the next buyer, and stays with the last', async () => {
  const { id: sellerId } = (await ann.session()).body.seller
  const id = await shop().product({
    sellerId,
    files: ['one', 'two'].map((name) => ({ name, bytes: Buffer.from(name) })),
  })
  const order = await shop().paid({ productId: id })
  const [one, two] = (await read(id)).files
  assert.deepEqual([one!.name, one!.size, one!.contentType], ['one', 3, 'application/pdf'])
  assert.equal(new Date(one!.createdAt).toISOString(), one!.createdAt)
  const path = `/api/products/${id}/files/`
  for (let time = 0; time < 2; time++) assert.equal((await ann.call('DELETE', path + one!.id)).status, 204)
  const other = await shop().product({ sellerId })
  const [foreign] = (await read(other)).files
  for (const fileId of [foreign!.id, 'file_01kakd4m2n5p8q1r3s6t9v0w2x'])
    assertProblem(await ann.call('DELETE', path + fileId), 404, 'file_not_found')
  assertProblem(await ann.call('DELETE', `${path}x`), 404, 'file_not_found')
  assert.deepEqual((await read(id)).files, [two])
  assert.equal((await read(other)).files.length, 1)
  const names = async (orderId: string) =>
    (await shop().status(orderId, 'bob@example.com')).downloads.map(({ name }) => name)
  assert.deepEqual(await names(order.orderId), ['one', 'two'])
  assert.deepEqual(await names((await shop().paid({ productId: id })).orderId), ['two'])
})

test('another price or currency changes no existing order', async () => {
  const { id } = await published()
  const order = await shop().checkout({ productId: id })
  await change(id, { amount: 5, currency: 'EUR', name: 'Other' })
  const status = await shop().status(order.orderId, 'bob@example.com')
  assert.deepEqual([status.amount, status.currency, status.product?.name], [1900, 'USD', 'A book'])
})

test('the list of a seller with a thousand products is one statement that finds its rows by index', async () => {
  const { id: sellerId } = (await eve.session()).body.seller
  await sql`
    insert into products (id, seller_id, name, price_minor, currency, statement_suffix)
    select 'prod_' || lpad(n::text, 26, '0'), ${sellerId}, 'Book ' || n, 100, 'USD', 'BOOK'
    from generate_series(1, 1000) n`.execute(shop().db)
  const { body } = await eve.call('GET', '/api/products?limit=100&q=book 7')
  assert.equal(body.items.length, 100)
  const { rows } = await sql<{ 'QUERY PLAN': string }>`
    explain select id from products where seller_id = ${sellerId} and id < 'prod_~' order by id desc limit 26`.execute(
    shop().db,
  )
  assert.match(JSON.stringify(rows), /products_seller/)
})
