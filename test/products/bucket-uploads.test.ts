import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { type S3Server, startS3Server } from '../stand-ins/s3-server.ts'
import { count } from '../support/seller.ts'
import { startDatabaseProxy } from '../support/service.ts'
import { type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { type Uploader, newUploader } from '../support/uploads.ts'

// Files in a bucket: what only a bucket does. The uploads that disk and bucket have in common are in uploads.test.ts.

const EMAIL = 'bob@example.com'

describe('a large upload in pieces to a bucket', () => {
  const PART_BYTES = 8 * 1024 ** 2
  const PARTS_AT_ONCE = 8
  const ends: (() => unknown)[] = []
  let s3!: S3Server
  let shop!: TestShop
  let ann!: Uploader
  before(async () => {
    const later = { after: (end: () => unknown) => ends.push(end) }
    s3 = await startS3Server(later)
    shop = await startTestShop(later, { env: s3.env })
    ann = await newUploader(shop)
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  const begun = async (size: number): Promise<{ address: string; id: string }> => {
    const address = (await ann.begin(size)).headers.get('location')!
    return { address, id: address.split('/').at(-1)! }
  }
  const areWriting = (ids: string[]) => count(shop, 'uploads', sql`id = any(${ids}) and lock_holder is not null`)

  test('stays while the bucket fails, also at an instance that has not read its notes', async (t) => {
    const { address, id } = await begun(10)
    const other = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: s3.env })
    const look = () => ann.send('HEAD', new URL(address, other.url).href, undefined, { 'tus-resumable': '1.0.0' })
    s3.weather.failing = true
    assert.equal((await look()).status, 503)
    s3.weather.failing = false
    const notes = s3.objects.get(`${id}.info`)!
    s3.objects.delete(`${id}.info`)
    assert.equal((await look()).status, 404)
    s3.objects.set(`${id}.info`, notes)
    assert.equal((await look()).headers.get('upload-offset'), '0')
  })

  test('gets nothing more from a writer that can no longer renew its lock, once another one has it', async (t) => {
    const bytes = randomBytes(3_000_000)
    const { address, id } = await begun(bytes.length)
    const proxy = await startDatabaseProxy(t, shop.databaseUrl)
    const other = await startTestShop(t, { databaseUrl: proxy.url, env: s3.env })
    const hanging = await ann.beginRequest('PATCH', new URL(address, other.url).href, bytes.subarray(0, 1_000_000), {
      origin: 'http://shop.test',
      'tus-resumable': '1.0.0',
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream',
      'content-length': bytes.length,
    })
    const ended = new Promise((resolve) => hanging.once('response', resolve).once('close', resolve))
    // the last question before bytes are stored
    await eventually(async () => s3.asked.includes(`GET ${id}.part`), Boolean)
    proxy.stall()
    const head = await eventually(() => ann.head(address), ({ status }) => status === 200) // oxfmt-ignore
    assert.equal(head.headers.get('upload-offset'), '0')
    proxy.flow()
    await ended
    assert.deepEqual(s3.asked.filter((one) => one.startsWith(`PUT ${id}`) && !one.endsWith('.info')), []) // oxfmt-ignore
    assert.equal((await ann.patch(address, 0, bytes)).headers.get('till-file'), id)
    assert(s3.objects.get(id)!.equals(bytes))
  })

  test('in requests of any size is stored in parts of one size, as R2 wants them', async () => {
    const bytes = randomBytes(2.75 * PART_BYTES)
    const { address, id } = await begun(bytes.length)
    let at = 0
    for (const parts of [0.75, 0.875, 1.125]) {
      const piece = bytes.subarray(at, at + parts * PART_BYTES)
      assert.equal((await ann.patch(address, at, piece)).status, 204, String(at))
      at += piece.length
    }
    assert(s3.objects.get(id)!.equals(bytes))
  })

  test('keeps what has come of it when the client leaves in the middle of a part', async () => {
    const bytes = randomBytes(2.25 * PART_BYTES)
    const { address, id } = await begun(bytes.length)
    const piece = 0.75 * PART_BYTES
    assert.equal((await ann.patch(address, 0, bytes.subarray(0, piece))).status, 204)
    const leaving = await ann.beginPatch(address, piece, bytes.subarray(piece, piece + 100_000), piece)
    // it has taken the first piece out of the bucket
    await eventually(async () => s3.asked.includes(`DELETE ${id}.part`), Boolean)
    leaving.destroy()
    const head = await eventually(() => ann.head(address), ({ status }) => status === 200) // oxfmt-ignore
    const at = Number(head.headers.get('upload-offset'))
    assert(at >= piece && at <= piece + 100_000, String(at))
    assert.equal((await ann.patch(address, at, bytes.subarray(at))).headers.get('till-file'), id)
    assert(s3.objects.get(id)!.equals(bytes))
  })

  test('whose bytes are all here loses its lock while the bucket is silent, and the service goes on', async (t) => {
    const bytes = randomBytes(20_000)
    const { address, id } = await begun(bytes.length)
    const proxy = await startDatabaseProxy(t, shop.databaseUrl)
    const other = await startTestShop(t, { databaseUrl: proxy.url, env: s3.env })
    const silence = Promise.withResolvers<void>()
    s3.weather.held = { request: `GET ${id}.part`, until: silence.promise }
    const patched = ann.patch(new URL(address, other.url).href, 0, bytes)
    await eventually(async () => s3.asked.includes(`GET ${id}.part`), Boolean)
    proxy.stall()
    // another writer gets the lock after the first one has stopped
    await eventually(() => ann.head(address), ({ status }) => status === 200) // oxfmt-ignore
    silence.resolve()
    proxy.flow()
    assertProblem(await patched, 423, 'upload_in_progress')
    s3.weather.held = undefined
    assert.equal((await ann.head(address)).headers.get('upload-offset'), '0')
    assert.equal((await ann.patch(address, 0, bytes)).headers.get('till-file'), id)
  })

  test('goes on before a part that the bucket did not take, and the file has all bytes in order', async () => {
    const bytes = randomBytes(3.5 * PART_BYTES)
    const { address, id } = await begun(bytes.length)
    s3.weather.brokenPart = 2
    assertProblem(await ann.patch(address, 0, bytes), 503, 'storage_unavailable')
    s3.weather.brokenPart = 0
    assert.equal((await ann.head(address)).headers.get('upload-offset'), String(PART_BYTES))
    const last = await ann.patch(address, PART_BYTES, bytes.subarray(PART_BYTES))
    assert.equal(last.headers.get('till-file'), id, JSON.stringify(last.body))
    assert(s3.objects.get(id)!.equals(bytes))
  })

  test('that lacks a part before others is given up, whichever request finds it', async () => {
    for (const method of ['HEAD', 'PATCH']) {
      const { address, id } = await begun(3 * PART_BYTES)
      assert.equal((await ann.patch(address, 0, randomBytes(2.25 * PART_BYTES))).status, 204)
      const upload = [...s3.unfinished.values()].find(({ key }) => key === id)
      assert.deepEqual([...upload!.parts.keys()], [1, 2])
      upload!.parts.delete(1)
      const found = method === 'HEAD' ? await ann.head(address) : await ann.patch(address, 1.25 * PART_BYTES, randomBytes(100)) // oxfmt-ignore
      assert.equal(found.status, 410)
      assert.equal((await ann.head(address)).status, 404)
      assert.equal(await count(shop, 'uploads', sql`id = ${id}`), 0)
      assert.deepEqual([...s3.objects.keys()].filter((key) => key.startsWith(id)), []) // oxfmt-ignore
      assert.deepEqual([...s3.unfinished.values()].filter(({ key }) => key === id), []) // oxfmt-ignore
    }
  })

  test('needs a place on the local disk, and gives it back when its client leaves while it waits', async () => {
    const open = async (areReady: (ids: string[]) => Promise<boolean>) => {
      const uploads = await Promise.all(Array.from({ length: PARTS_AT_ONCE }, () => begun(10)))
      const clients = await Promise.all(uploads.map(({ address }) => ann.beginPatch(address, 0, Buffer.alloc(5), 10)))
      const ids = uploads.map(({ id }) => id)
      await eventually(() => areReady(ids), Boolean)
      const leave = async () => {
        clients.forEach((client) => client.destroy())
        await eventually(() => areWriting(ids), (writing) => writing === 0) // oxfmt-ignore
      }
      return { leave }
    }
    // a writer asks for the piece before once it has its place
    const writing = await open(async (ids) => ids.every((id) => s3.asked.includes(`GET ${id}.part`)))
    const waiting = await open(async (ids) => (await areWriting(ids)) === PARTS_AT_ONCE)
    await waiting.leave()
    await writing.leave()
    const { address, id } = await begun(10)
    assert.equal((await ann.patch(address, 0, randomBytes(10))).headers.get('till-file'), id)
  })

  /** Begins a request that sends five bytes of ten, and waits until the bucket is asked about it. */
  const slowly = async ({ address, id }: { address: string; id: string }, at: string) => {
    const client = await ann.beginRequest('PATCH', new URL(address, at).href, Buffer.alloc(5), {
      origin: 'http://shop.test',
      'tus-resumable': '1.0.0',
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream',
      'content-length': 10,
    })
    const status = new Promise((yes) => client.once('response', ({ statusCode }) => yes(statusCode)))
    client.on('error', () => {})
    await eventually(async () => s3.asked.includes(`GET ${id}.part`), Boolean)
    return { client, status }
  }

  test('is refused after a while behind slow ones, and keeps its bytes', async (t) => {
    const deadlines = { partTurnMs: 100, partFillMs: 600_000 }
    const busy = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: s3.env, deadlines })
    const { address, id } = await begun(10)
    await ann.patch(address, 0, Buffer.alloc(5))
    assert.equal((await ann.head(address)).headers.get('upload-offset'), '5')
    const slow = []
    for (let n = 0; n < PARTS_AT_ONCE; n++) slow.push(await slowly(await begun(10), busy.url))
    const there = new URL(address, busy.url).href
    const refused = await ann.patch(there, 5, Buffer.alloc(5))
    assertProblem(refused, 503, 'storage_unavailable')
    assert.equal(refused.headers.get('retry-after'), '5')
    assert.equal((await ann.head(address)).headers.get('upload-offset'), '5')
    for (const { client } of slow) client.destroy()
    const last = await eventually(() => ann.patch(there, 5, Buffer.alloc(5)), ({ status }) => status === 204) // oxfmt-ignore
    assert.equal(last.headers.get('till-file'), id)
  })

  test('keeps its turn no longer than its time when it is slow, and its bytes', async (t) => {
    const deadlines = { partTurnMs: 30_000, partFillMs: 200 }
    const strict = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: s3.env, deadlines })
    const upload = await begun(10)
    const { status } = await slowly(upload, strict.url)
    assert.equal(await status, 423)
    assert.equal((await ann.head(upload.address)).headers.get('upload-offset'), '5')
    assert.equal((await ann.patch(upload.address, 5, Buffer.alloc(5))).headers.get('till-file'), upload.id)
  })
})

test('a signed address opens one file, for reading, for minutes', async (t) => {
  const s3 = await startS3Server(t)
  const shop = await startTestShop(t, { env: s3.env })
  const { orderId } = await shop.paid()
  const other = await shop.paid()
  const linkOf = async (order: string) => new URL((await shop.status(order, EMAIL)).downloads[0]!.url).pathname
  const redirect = await shop.call('GET', await linkOf(orderId))
  assert.deepEqual([redirect.status, redirect.headers.get('cache-control')], [302, 'no-store'])
  const url = new URL(redirect.headers.get('location')!)
  assert.equal(url.searchParams.get('X-Amz-Expires'), '60')
  assert.match(url.searchParams.get('response-content-disposition')!, /^attachment; filename="book.pdf"/)
  assert.equal((await fetch(url)).status, 200)
  const changed = (change: (url: URL) => void) => {
    const one = new URL(url)
    change(one)
    return fetch(one)
  }
  const elsewhere = new URL((await shop.call('GET', await linkOf(other.orderId))).headers.get('location')!).pathname
  assert.equal((await changed((one) => (one.pathname = elsewhere))).status, 403)
  assert.equal((await changed((one) => one.searchParams.set('X-Amz-Expires', '86400'))).status, 403)
  assert.equal((await changed((one) => one.searchParams.set('response-content-disposition', 'inline'))).status, 403)
  assert.equal((await changed((one) => one.searchParams.set('response-content-type', 'text/html'))).status, 403)
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 403)
  s3.refused.length = 0

  // a store that never answers is given up, and costs the buyer no purchase
  const impatient = await startTestShop(t, {
    env: s3.env,
    databaseUrl: shop.databaseUrl,
    deadlines: { storageQuestionMs: 100 },
  })
  s3.weather.frozen = true
  const link = await linkOf(orderId)
  assertProblem(await impatient.call('GET', link), 503, 'storage_unavailable')
  const status = await shop.status(orderId, EMAIL)
  assert.deepEqual([status.paid, status.downloads.length], [true, 1])
  s3.weather.frozen = false
  s3.objects.clear()
  assertProblem(await shop.call('GET', await linkOf(orderId)), 503, 'storage_unavailable')
})
