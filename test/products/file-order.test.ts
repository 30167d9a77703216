import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { openStorage } from '../../src/kit/storage/open.ts'
import type { Product } from '../../src/products/schema.ts'
import { sweepUploads } from '../../src/products/uploads/uploads.ts'
import { liveCode } from '../support/buyer.ts'
import { count, newBrowser, newMailbox } from '../support/seller.ts'
import { assertProblem, sharedShop } from '../support/shop.ts'
import { type Uploader, newUploader } from '../support/uploads.ts'

const shop = sharedShop()
let ann: Uploader

// hooks of a whole file do not wait for each other
beforeEach(async () => {
  ann ??= await newUploader(shop())
})

/** A product of Ann's with files of these names, and a way to change them. */
async function product(names: string[]) {
  const files = names.map((name) => ({ name, bytes: Buffer.from(`the bytes of ${name}`) }))
  const id = await shop().product({ sellerId: ann.sellerId, priceMinor: 0, files })
  const read = async () => (await ann.browser.call<Product>('GET', `/api/products/${id}`)).body.files
  const ids = Object.fromEntries((await read()).map((file) => [file.name, file.id]))
  return {
    id,
    read,
    names: async () => (await read()).map(({ name }) => name),
    change: (name: string, fields: object) =>
      ann.browser.call('PATCH', `/api/products/${id}/files/${ids[name]}`, fields),
  }
}

test('buyers see files in the order that their seller gave them, everywhere', async () => {
  const { id, names, change } = await product(['one', 'two', 'three'])
  const email = newMailbox()
  const { orderId } = await shop().checkout({ productId: id, email })
  assert.equal((await change('three', { position: 1 })).status, 200)
  assert.equal((await change('one', { position: 500 })).status, 200)
  const wanted = ['three', 'two', 'one']
  assert.deepEqual(await names(), wanted)
  const named = (files: { name: string }[]) => files.map(({ name }) => name)
  assert.deepEqual(named((await shop().status(orderId, email)).downloads), wanted)
  assert.deepEqual(named((await ann.browser.call('GET', `/api/orders/${orderId}`)).body.files), wanted)
  const reader = newBrowser(shop())
  await reader.call('POST', '/api/library/code', { email })
  await reader.call('POST', '/api/library/verify', { email, code: await liveCode(shop(), email, reader) })
  assert.deepEqual(named((await reader.call('GET', '/api/library')).body.items[0].downloads), wanted)

  // a new file comes last, and one that takes another's place comes there
  await ann.send('POST', `/api/products/${id}/files?name=four`, Buffer.from('four'))
  const [, two] = (await ann.browser.call<Product>('GET', `/api/products/${id}`)).body.files
  await ann.send('POST', `/api/products/${id}/files?name=two-b&replaces=${two!.id}`, Buffer.from('two-b'))
  assert.deepEqual(await names(), ['three', 'two-b', 'one', 'four'])
})

test('a file that replaces one of several takes its place, also where the seller has moved none', async () => {
  const { id, names, read } = await product(['one', 'two', 'three'])
  const [one] = await read()
  await ann.send('POST', `/api/products/${id}/files?name=one-b&replaces=${one!.id}`, Buffer.from('one-b'))
  assert.deepEqual(await names(), ['one-b', 'two', 'three'])
  await ann.send('POST', `/api/products/${id}/files?name=four`, Buffer.from('four'))
  assert.deepEqual(await names(), ['one-b', 'two', 'three', 'four'])
})

for (const [first, second] of [
  ['v2', 'v3'],
  ['v3', 'v2'],
] as const)
  test(`of two uploads that replace one file, the one begun last stays, also when ${first} is complete before ${second}`, async () => {
    const { id, names, read } = await product(['v1', 'other'])
    const replaces = (await read())[0]!.id
    const begin = async (filename: string) =>
      (await ann.begin(2, { productId: id, filename, replaces })).headers.get('location')!
    const address = { v2: await begin('v2'), v3: await begin('v3') }
    for (const name of [first, second]) assert.equal((await ann.patch(address[name], 0, Buffer.from(name))).status, 204)
    assert.deepEqual(await names(), ['v3', 'other'])
  })

test('of two such uploads the one begun last also stays when the other one takes days longer', async () => {
  const { id, names, read } = await product(['v1', 'other'])
  const replaces = (await read())[0]!.id
  const begin = async (filename: string) =>
    (await ann.begin(2, { productId: id, filename, replaces })).headers.get('location')!
  const address = { v2: await begin('v2'), v3: await begin('v3') }
  const finished = sql`state = 'finished' and product_id = ${id}`
  const sweep = async () => sweepUploads(shop().db, await openStorage(shop().config))
  assert.equal((await ann.patch(address.v3, 0, Buffer.from('v3'))).status, 204)
  await sql`update uploads set expires_at = now() - interval '1 second' where ${finished}`.execute(shop().db)
  await sweep()
  assert.equal((await ann.patch(address.v2, 0, Buffer.from('v2'))).status, 204)
  assert.deepEqual(await names(), ['v3', 'other'])
  await sql`update uploads set expires_at = now() - interval '1 second' where ${finished}`.execute(shop().db)
  await sweep()
  assert.equal(await count(shop(), 'uploads', finished), 0)
})

test('a file whose upload was to replace a removed one is added, and replaces no other', async () => {
  const { id, names, read } = await product(['one', 'two'])
  const replaces = (await read())[0]!.id
  const begun = await ann.begin(3, { productId: id, filename: 'one-b', replaces })
  await ann.browser.call('DELETE', `/api/products/${id}/files/${replaces}`)
  assert.equal((await ann.patch(begun.headers.get('location')!, 0, Buffer.from('new'))).status, 204)
  assert.deepEqual(await names(), ['two', 'one-b'])
})

test('another name reaches earlier buyers of the file, and its bytes stay', async () => {
  const { id, change, names } = await product(['bok.pdf'])
  const email = newMailbox()
  const { orderId } = await shop().checkout({ productId: id, email })
  const { status, body } = await change('bok.pdf', { name: 'book.pdf' })
  assert.deepEqual([status, body.name], [200, 'book.pdf'])
  assert.deepEqual(await names(), ['book.pdf'])
  const [download] = (await shop().status(orderId, email)).downloads
  assert.equal(download!.name, 'book.pdf')
  const got = await shop().call('GET', new URL(download!.url).pathname)
  assert.equal(got.body, 'the bytes of bok.pdf')
  assert.match(got.headers.get('content-disposition')!, /filename="book\.pdf"/)
})

test('moves at once leave every file a place of its own', async () => {
  const all = ['a', 'b', 'c', 'd', 'e']
  const { names, change } = await product(all)
  const answers = await Promise.all(all.map((name) => change(name, { position: 1 })))
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200]) // oxfmt-ignore
  assert.deepEqual((await names()).toSorted(), all)
  // as one after the other: each move but the last was pushed down by those that came later
  await change('e', { position: 3 })
  assert.equal((await names())[2], 'e')
})

test('a wrong name or place, another seller’s file, and a removed one are refused', async () => {
  const { id, change, names, read } = await product(['one', 'two'])
  for (const fields of [
    { name: ' ' },
    { name: '' },
    { name: 'a\nb' },
    { name: '\u202egpj.exe' },
    { name: 'x'.repeat(256) },
    { position: 0 },
    { position: 1.5 },
    { position: 501 },
  ])
    // oxfmt-ignore
    assertProblem(await change('one', fields), 400, 'validation_failed')
  const [one] = await read()
  const eve = newBrowser(shop())
  await eve.signInByCode()
  const address = `/api/products/${id}/files/${one!.id}`
  assertProblem(await newBrowser(shop()).call('PATCH', address, { name: 'x' }), 401, 'not_signed_in')
  assertProblem(await eve.call('PATCH', address, { name: 'x' }), 404, 'product_not_found')
  const other = await product(['three'])
  const [three] = await other.read()
  assertProblem(await ann.browser.call('PATCH', `/api/products/${id}/files/${three!.id}`, { position: 1 }), 404, 'file_not_found') // oxfmt-ignore
  assert.deepEqual(await names(), ['one', 'two'])
  await ann.browser.call('DELETE', address)
  assertProblem(await change('one', { name: 'x' }), 404, 'file_not_found')
  assert.deepEqual((await change('two', {})).body.name, 'two', 'nothing is no change')
})
