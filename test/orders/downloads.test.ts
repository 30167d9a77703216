import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Created, OrderStatus } from '../../src/checkout/schema.ts'
import { connect } from '../../src/kit/database.ts'
import { newId } from '../../src/kit/ids.ts'
import { newSigner } from '../../src/kit/signing.ts'
import { openDisk } from '../../src/kit/storage/disk.ts'
import { downloadToken } from '../../src/orders/downloads.ts'
import { addFile, createProduct } from '../../src/products/products.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { startService } from '../support/service.ts'
import {
  assertProblem,
  eventually,
  newDatabase,
  SECRET,
  sharedShop,
  startTestShop,
  temporaryFolder,
  type TestShop,
} from '../support/shop.ts'

const shared = sharedShop()
const EMAIL = 'bob@example.com'
const BOOK = Buffer.from(Array.from({ length: 1000 }, (_, at) => at % 251))

interface Bought {
  orderId: string
  clientSecret?: string | undefined
  downloads: OrderStatus['downloads']
}

/** An order that is paid, and the links that its status gives. */
async function bought(shop: TestShop, files = [{ name: 'book.pdf', bytes: BOOK }]): Promise<Bought> {
  const order = await shop.paid({ productId: await shop.product({ files }) })
  return { ...order, downloads: (await shop.status(order.orderId, EMAIL)).downloads }
}

const pathOf = (link: { url: string } | undefined): string => new URL(link!.url).pathname

/** A download as raw bytes, without anything that fetch would add or undo. */
async function get(shop: { url: string }, address: string, headers: http.OutgoingHttpHeaders = {}, method = 'GET') {
  const request = http.request(shop.url + address, { method, headers })
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end()
  })
  const bytes = Buffer.concat(await response.toArray())
  return { status: response.statusCode, headers: response.headers, bytes }
}

test('a link gives the file, whole, as an attachment, and with its checksum', async () => {
  const shop = shared()
  const { downloads } = await bought(shop)
  const { status, headers, bytes } = await get(shop, pathOf(downloads[0]))
  assert.equal(status, 200)
  assert.deepEqual(bytes, BOOK)
  const sha256 = createHash('sha256').update(BOOK)
  assert.equal(headers['repr-digest'], `sha-256=:${sha256.copy().digest('base64')}:`)
  assert.deepEqual([downloads[0]!.sha256, downloads[0]!.size], [sha256.digest('hex'), 1000])
  assert.equal(headers['content-length'], '1000')
  assert.equal(headers['content-type'], 'application/pdf')
  assert.equal(headers['content-disposition'], `attachment; filename="book.pdf"; filename*=UTF-8''book.pdf`)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['accept-ranges'], 'bytes')
  assert.equal(headers['content-security-policy'], "default-src 'none';frame-ancestors 'none'")
})

test('no cache stores a link, and no other site learns it', async () => {
  const shop = shared()
  const { orderId, downloads } = await bought(shop)
  const { headers } = await get(shop, pathOf(downloads[0]))
  assert.deepEqual([headers['cache-control'], headers['referrer-policy']], ['no-store', 'no-referrer'])
  const [mail] = await eventually(
    () => shop.mails(),
    (mails) => mails.some(({ text }) => text.includes(orderId)),
  )
  assert.doesNotMatch(
    mail!.text + mail!.html,
    /api\/downloads/,
    'a mail carries the way to the page, not a link that opens by itself',
  )
})

test('a requested part, the rest and the end of a file are correct', async () => {
  const shop = shared()
  const { downloads } = await bought(shop)
  for (const [range, from, to] of [
    ['bytes=0-0', 0, 0],
    ['bytes=200-299', 200, 299],
    ['bytes=900-', 900, 999],
    ['bytes=900-5000', 900, 999],
    ['bytes=-100', 900, 999],
    ['bytes=-1000', 0, 999],
    ['bytes=0-', 0, 999],
  ] as const) {
    const { status, headers, bytes } = await get(shop, pathOf(downloads[0]), { range })
    assert.equal(status, 206, range)
    assert.equal(headers['content-range'], `bytes ${from}-${to}/1000`)
    assert.equal(headers['content-length'], String(to - from + 1))
    assert.deepEqual(bytes, BOOK.subarray(from, to + 1))
  }
})

test('a part that the file does not have is refused with the length it has', async () => {
  const shop = shared()
  const { downloads } = await bought(shop)
  for (const range of ['bytes=1000-', 'bytes=5000-6000', 'bytes=-0', 'bytes=x', 'bytes=9-1']) {
    const { status, headers, bytes } = await get(shop, pathOf(downloads[0]), { range })
    assert.equal(status, 416, range)
    assert.equal(headers['content-range'], 'bytes */1000')
    assert.equal(JSON.parse(String(bytes)).code, 'range_not_satisfiable')
  }
})

test('several ranges at once, and unknown units, give the whole file', async () => {
  const shop = shared()
  const { downloads } = await bought(shop)
  for (const range of ['bytes=0-99,200-299', 'chapters=1-2', 'nonsense']) {
    const { status, bytes } = await get(shop, pathOf(downloads[0]), { range })
    assert.equal(status, 200, range)
    assert.deepEqual(bytes, BOOK)
  }
  const { bytes } = await get(shop, pathOf(downloads[0]), { range: `bytes=${'0-999,'.repeat(200)}0-999` })
  assert.deepEqual(bytes, BOOK, 'asked for two hundred times, given once')
})

test('an interrupted download goes on where it stopped, with a new link too', async () => {
  const shop = shared()
  const { orderId, downloads } = await bought(shop)
  const first = await get(shop, pathOf(downloads[0]), { range: 'bytes=0-499' })
  const { downloads: renewed } = await shop.status(orderId, EMAIL)
  const lastModified = first.headers['last-modified']!
  const rest = await get(shop, pathOf(renewed[0]), { range: 'bytes=500-', 'if-range': lastModified })
  assert.equal(rest.status, 206)
  assert.deepEqual(Buffer.concat([first.bytes, rest.bytes]), BOOK)
  // the beginning was of another file, so the whole file comes from the start
  for (const ifRange of ['Mon, 01 Jan 2024 00:00:00 GMT', '"etag"']) {
    const whole = await get(shop, pathOf(renewed[0]), { range: 'bytes=500-', 'if-range': ifRange })
    assert.equal(whole.status, 200)
    assert.deepEqual(whole.bytes, BOOK)
  }
  for (const headers of [{ 'if-match': '"etag"' }, { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' }]) {
    const refused = await get(shop, pathOf(renewed[0]), { range: 'bytes=500-', ...headers })
    assert.equal(refused.status, 412)
    assert.equal(JSON.parse(String(refused.bytes)).code, 'precondition_failed')
  }
})

test('a program may look before it downloads, as often as it likes', async () => {
  const shop = shared()
  const { downloads } = await bought(shop)
  const whole = await get(shop, pathOf(downloads[0]))
  for (let at = 0; at < 20; at++) {
    const head = await get(shop, pathOf(downloads[0]), {}, 'HEAD')
    assert.equal(head.status, 200)
    assert.equal(head.bytes.length, 0)
    for (const name of [
      'content-length',
      'content-type',
      'content-disposition',
      'accept-ranges',
      'last-modified',
      'repr-digest',
    ])
      assert.equal(head.headers[name], whole.headers[name], name)
  }
  const part = await get(shop, pathOf(downloads[0]), { range: 'bytes=10-19' }, 'HEAD')
  assert.deepEqual([part.status, part.headers['content-length'], part.bytes.length], [206, '10', 0])
  assert.deepEqual((await get(shop, pathOf(downloads[0]))).bytes, BOOK)
})

test('a hundred downloads at once all end well', async () => {
  const shop = shared()
  const large = randomBytes(500_000)
  const { downloads } = await bought(shop, [{ name: 'large.bin', bytes: large }])
  const answers = await Promise.all(Array.from({ length: 100 }, () => get(shop, pathOf(downloads[0]))))
  assert(answers.every(({ status, bytes }) => status === 200 && bytes.equals(large)))
})

test('a link that was changed in any place opens nothing', async () => {
  const shop = shared()
  const files = ['one', 'two'].map((name) => ({ name, bytes: BOOK }))
  const mine = await bought(shop, files)
  const other = await bought(shop)
  const token = (link: { url: string } | undefined) => pathOf(link).slice('/api/downloads/'.length)
  const [order, file, expiry, signature] = token(mine.downloads[0]).split('.') as [string, string, string, string]
  const flipped = (text: string, at: number) => text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1)
  const later = (Number.parseInt(expiry, 36) + 86_400).toString(36)
  const forged = [
    `${order}.${mine.downloads[1]!.fileId}.${expiry}.${signature}`,
    `${order}.${other.downloads[0]!.fileId}.${expiry}.${signature}`,
    `${other.orderId}.${other.downloads[0]!.fileId}.${expiry}.${signature}`,
    `${order}.${file}.${later}.${signature}`,
    `${order}.${file}.zzzzzzzzz.${signature}`,
    `${order}.${file}.${expiry.toUpperCase()}.${signature}`,
    `${order}.${file}..${signature}`,
    `${order}.${file}.${expiry}.${token(mine.downloads[1]).split('.')[3]}`,
    `${order}.${file}.${expiry}.`,
    `${order}.${file}.${expiry}`,
    `${order}.${file}`,
    `${order}.${file}.${expiry}.${signature}.${signature}`,
    `${order}.${file}.${expiry}.${signature}=`,
    `${order}.${file}.${expiry}.%20${signature}`,
    `${order}.${file}.${expiry}.${signature}%00`,
    `.${order}.${file}.${expiry}.${signature}`,
    `${order}.${file}.${expiry}.${newSigner([SECRET], 'other').sign(`${order}.${file}.${expiry}`)}`,
    `${order}.${file}.${expiry}.${newSigner(['x'.repeat(32)], 'download').sign(`${order}.${file}.${expiry}`)}`,
    ...Array.from({ length: signature.length }, (_, at) => `${order}.${file}.${expiry}.${flipped(signature, at)}`),
    'x',
    '...',
    '%00',
    'a'.repeat(300),
  ]
  for (const one of forged) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(shop, `/api/downloads/${one}`, {}, method)
      assert.equal(answer.status, 403, one)
      if (method === 'GET') assert.equal(JSON.parse(String(answer.bytes)).code, 'download_link_invalid')
    }
  }
  assert.equal((await get(shop, `/api/downloads/${'a'.repeat(301)}`)).status, 400)
  for (const method of ['DELETE', 'PUT', 'POST', 'PATCH'])
    assertProblem(await shop.call(method, pathOf(mine.downloads[0])), 405, 'method_not_allowed')
})

test('a link that we signed for the file of another order opens nothing', async () => {
  const shop = shared()
  const [mine, other] = [await bought(shop), await bought(shop)]
  const signer = newSigner([SECRET], 'download')
  const soon = new Date(Date.now() + 60_000)
  for (const [orderId, fileId] of [
    [mine.orderId, other.downloads[0]!.fileId],
    [mine.orderId, newId('file')],
    [newId('ord'), mine.downloads[0]!.fileId],
  ] as const) {
    const answer = await shop.call('GET', `/api/downloads/${downloadToken(signer, orderId, fileId, soon)}`)
    assertProblem(answer, 403, 'download_not_available')
  }
  const { orderId } = await shop.checkout()
  const unpaid = downloadToken(signer, orderId, mine.downloads[0]!.fileId, soon)
  assertProblem(await shop.call('GET', `/api/downloads/${unpaid}`), 403, 'download_not_available')
})

test('a link ends after its hour, and the order’s page has a new one', async () => {
  const shop = shared()
  const { orderId, downloads } = await bought(shop)
  const { fileId } = downloads[0]!
  const signer = newSigner([SECRET], 'download')
  const at = async (seconds: number) => {
    const token = downloadToken(signer, orderId, fileId, new Date(Date.now() + seconds * 1000))
    return shop.call('GET', `/api/downloads/${token}`)
  }
  assert.equal((await at(30)).status, 200)
  for (const seconds of [-2, -3600, -Date.now() / 1000]) assertProblem(await at(seconds), 403, 'download_link_expired')
  assert.equal((await get(shop, pathOf((await shop.status(orderId, EMAIL)).downloads[0]))).status, 200)
})

test('a link ends by the clock of the database: one with a wrong clock on the service works too', async (t) => {
  const shop = shared()
  const { orderId } = await bought(shop)
  const realNow = Date.now
  for (const hours of [-3, 3]) {
    const wrong = t.mock.method(Date, 'now', () => realNow() + hours * 3_600_000)
    const [link] = (await shop.status(orderId, EMAIL)).downloads
    wrong.mock.restore()
    assert.equal((await get(shop, pathOf(link))).status, 200, `${hours} hours`)
    const { rows } = await sql<{ ahead: boolean }>`
      select ${link!.expiresAt}::timestamptz > now() + interval '2 hours' as ahead`.execute(shop.db)
    assert.equal(rows[0]!.ahead, false, `${hours} hours`)
  }
})

test('a link outlives a rotation of the secret, and not the secret’s removal', async (t) => {
  const shop = shared()
  const { downloads } = await bought(shop)
  const fresh = 'another secret that is also long enough'
  const common = { STORAGE_URL: `file:${shop.config.storageDir}` }
  const rotated = await startTestShop(t, {
    databaseUrl: shop.databaseUrl,
    env: { ...common, SECRET: `${fresh},${SECRET}` },
  })
  assert.equal((await get(rotated, pathOf(downloads[0]))).status, 200)
  const renewed = await rotated.status(downloads[0]!.url.split('/').at(-1)!.split('.')[0]!, EMAIL)
  assert.equal((await get(shop, pathOf(renewed.downloads[0]))).status, 403, 'the first secret of the list signs')
  const renewedOnly = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: { ...common, SECRET: fresh } })
  assert.equal((await get(renewedOnly, pathOf(downloads[0]))).status, 403)
  assert.equal((await get(renewedOnly, pathOf(renewed.downloads[0]))).status, 200)
})

test('a refund ends a link that was given before', async () => {
  const shop = shared()
  const { orderId, clientSecret, downloads } = await bought(shop)
  await shop.call('POST', '/api/sandbox/refund', { clientSecret, amount: 400 })
  await shop.until(orderId, ({ status }) => status === 'partially_refunded')
  assert.equal((await get(shop, pathOf(downloads[0]))).status, 200, 'a part of the money back leaves the files')
  await shop.call('POST', '/api/sandbox/refund', { clientSecret })
  await shop.until(orderId, ({ status }) => status === 'refunded')
  for (const headers of [{}, { range: 'bytes=500-' }])
    assertProblem(
      await shop.call('GET', pathOf(downloads[0]), undefined, headers as Record<string, string>),
      403,
      'download_not_available',
    )
})

test('a dispute ends a link until it is won', async () => {
  const shop = shared()
  const { orderId, clientSecret, downloads } = await bought(shop)
  const move = async (outcome: string, wanted: string) => {
    await shop.call('POST', '/api/sandbox/dispute', { clientSecret, outcome })
    await shop.until(orderId, ({ status }) => status === wanted)
    return get(shop, pathOf(downloads[0]))
  }
  assert.equal((await move('open', 'disputed')).status, 403)
  assert.equal((await move('won', 'paid')).status, 200)
  assert.equal((await move('open', 'disputed')).status, 403)
  assert.equal((await move('lost', 'charged_back')).status, 403)
})

test('buyers keep the files that were sold, whatever the seller replaces or removes', async () => {
  const shop = shared()
  const productId = await shop.product({ files: [{ name: 'first edition.pdf', bytes: BOOK }] })
  const early = await shop.paid({ productId })
  const linked = (await shop.status(early.orderId, EMAIL)).downloads[0]

  const storage = await openDisk(shop.config.storageDir)
  await sql`update files set removed_at = now() where product_id = ${productId}`.execute(shop.db)
  await addFile(shop.db, storage, productId, { name: 'second edition.pdf', contentType: 'application/pdf', bytes: Readable.from([Buffer.from('2')]) }) // oxfmt-ignore
  await sql`update products set status = 'archived', name = 'Another name' where id = ${productId}`.execute(shop.db)

  const names = async (orderId: string) => (await shop.status(orderId, EMAIL)).downloads.map(({ name }) => name)
  assert.deepEqual(await names(early.orderId), ['first edition.pdf', 'second edition.pdf'])
  assert.deepEqual((await get(shop, pathOf(linked))).bytes, BOOK)
  assert.equal((await shop.status(early.orderId, EMAIL)).product!.name, 'A book')

  await sql`update products set status = 'active' where id = ${productId}`.execute(shop.db)
  const late = await shop.paid({ productId })
  assert.deepEqual(await names(late.orderId), ['second edition.pdf'])
  const token = downloadToken(
    newSigner([SECRET], 'download'),
    late.orderId,
    linked!.fileId,
    new Date(Date.now() + 60_000),
  )
  assertProblem(await shop.call('GET', `/api/downloads/${token}`), 403, 'download_not_available')
})

test('a file that cannot be read now is a failure of the storage, and the order stays paid', async () => {
  const shop = shared()
  const { orderId, downloads } = await bought(shop)
  const storage = await openDisk(shop.config.storageDir)
  const { root, path: below } = storage.locate(downloads[0]!.fileId)
  await fs.rename(path.join(root, below), path.join(root, `${below}.away`))
  const answer = await shop.call('GET', pathOf(downloads[0]))
  assertProblem(answer, 503, 'storage_unavailable')
  assert.match(answer.headers.get('retry-after')!, /^\d+$/)
  assert.doesNotMatch(JSON.stringify(answer.body), new RegExp(root))
  const status = await shop.status(orderId, EMAIL)
  assert.deepEqual([status.paid, status.downloads.length], [true, 1])
  await fs.rename(path.join(root, `${below}.away`), path.join(root, below))
  assert.equal((await get(shop, pathOf(downloads[0]))).status, 200)
})

test('no file name breaks out of its header', async () => {
  const shop = shared()
  const names = [
    'a "quoted" name.pdf', 'line\r\nset-cookie: a=b\r\n\r\n<script>.pdf', 'Über größe.pdf', '本.epub', '🎁.zip', '../../etc/passwd', '..\\..\\boot.ini', 'semi;colon=1.pdf',
    '100%25.pdf', "it's (1)*.pdf", '\u202efdp.exe', ' ', '.', `${'n'.repeat(251)}.pdf`, '\t\0'.replace('\0', ''), 'tab\tbell\u0007.txt',
  ] // oxfmt-ignore
  const { downloads } = await bought(
    shop,
    names.map((name) => ({ name, bytes: Buffer.from(name) })),
  )
  assert.equal(downloads.length, names.length)
  for (const link of downloads) {
    const { status, headers, bytes } = await get(shop, pathOf(link))
    assert.equal(status, 200)
    assert.equal(String(bytes), link.name, 'and it is the file of that name')
    assert.equal(headers['set-cookie'], undefined)
    const shown = /^attachment; filename="([^"\\%;\r\n]+)"; filename\*=UTF-8''([\w.~%-]+)$/.exec(
      headers['content-disposition']!,
    )
    assert(shown, headers['content-disposition'])
    for (const name of [shown[1]!, decodeURIComponent(shown[2]!)]) {
      assert.doesNotMatch(name, /[/\\\p{Cc}\p{Cf}]/u)
      assert(name.trim().length > 0 && name.length <= 200)
    }
    assert.equal(path.extname(decodeURIComponent(shown[2]!)), path.extname(link.name.replaceAll(/[/\\]/g, '_')))
  }
})

test('a file of 2 GB is streamed: the service holds none of it, also when the client stops reading', async (t) => {
  const databaseUrl = await newDatabase(t)
  const dataDir = await temporaryFolder(t)
  const size = 2 * 1024 ** 3
  const { db, close } = connect({ connectionString: databaseUrl }, { connections: 2, patient: true })
  const storage = await openDisk(path.join(dataDir, 'files'))
  const service = await startService(t, dataDir, { DATABASE_URL: databaseUrl })
  const sellerId = await ensureSeller(db, { name: 'Ann', email: 'ann@shop.test' })
  const { id: productId } = await createProduct(db, { sellerId, name: 'A film', description: '', priceMinor: 900, currency: 'EUR', status: 'active' }) // oxfmt-ignore
  const fileId = await addFile(db, storage, productId, { name: 'film.mkv', contentType: 'video/x-matroska', bytes: Readable.from([Buffer.from('start')]) }) // oxfmt-ignore
  const { root, path: below } = storage.locate(fileId)
  await fs.truncate(path.join(root, below), size)
  await sql`update files set size_bytes = ${size} where id = ${fileId}`.execute(db)
  await close()

  const ask = async <Body>(method: string, address: string, body?: object): Promise<Body> => {
    const headers = body && { 'content-type': 'application/json' }
    const response = await fetch(service.url + address, {
      method,
      ...(body && { headers, body: JSON.stringify(body) }),
    })
    assert(response.ok, await response.clone().text())
    return (await response.json()) as Body
  }
  const { orderId, clientSecret } = await ask<Created>('POST', '/api/checkout', { productId, email: EMAIL })
  await ask('POST', '/api/sandbox/confirm', { clientSecret, rail: 'card' })
  const { downloads } = await eventually(
    () => ask<OrderStatus>('GET', `/api/checkout/${orderId}/status?email=${EMAIL}`),
    ({ paid }) => paid,
  )
  assert.equal(downloads[0]!.size, size)

  const wanted = 100 * 1024 ** 2
  // the first megabytes warm up memory that a process keeps
  await read(downloads[0]!.url, 0, 20 * 1024 ** 2)
  const before = residentBytes(service.child.pid!)
  const stalled = await stalledReader(downloads[0]!.url)
  let most = 0
  const received = await read(downloads[0]!.url, size - wanted, size, () => {
    most = Math.max(most, residentBytes(service.child.pid!))
  })
  stalled.destroy()
  assert.equal(received, wanted)
  const grown = (most - before) / 1024 ** 2
  assert(grown < 80, `${grown.toFixed()} MB more memory for 100 MB read of 2 GB`)
})

/** Reads and forgets the bytes of a range; returns how many came. */
async function read(url: string, from: number, to: number, look: () => void = () => {}): Promise<number> {
  const request = http.get(url, { headers: { range: `bytes=${from}-${to - 1}` } })
  const response = await new Promise<http.IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  )
  assert.equal(response.statusCode, 206)
  let received = 0
  let next = 0
  for await (const chunk of response) {
    received += (chunk as Buffer).length
    if (received < next) continue
    look()
    next = received + 8 * 1024 ** 2
  }
  return received
}

/** A client that requests the whole file and then reads nothing. */
async function stalledReader(url: string): Promise<http.IncomingMessage> {
  const request = http.get(url, { agent: false })
  const response = await new Promise<http.IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  )
  response.pause().on('error', () => {})
  request.on('error', () => {})
  return response
}

test('a download whose client has stopped reading does not delay the stop of the service', async (t) => {
  const shop = await startTestShop(t)
  const { downloads } = await bought(shop, [{ name: 'film.mp4', bytes: randomBytes(64 * 1024 ** 2) }])
  const reader = await stalledReader(shop.url + pathOf(downloads[0]))
  const ended = new Promise((resolve) => reader.once('close', resolve))
  await shop.close(100)
  // the bytes that the machine had already taken still come, and then the connection has ended
  reader.resume()
  await ended
  assert(!reader.complete, 'the file did not come whole')
})

/** How much memory a process holds, in bytes. */
function residentBytes(pid: number): number {
  const file = `/proc/${pid}/status`
  const kilobytes = existsSync(file)
    ? /VmRSS:\s+(\d+) kB/.exec(readFileSync(file, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kilobytes) * 1024
}

test('a damaged or expired link shows a person a page that leads to a new one, and a program a problem', async () => {
  const shop = shared()
  const { orderId } = await shop.paid()
  const { downloads } = await shop.status(orderId, 'bob@example.com')
  const path = new URL(downloads[0]!.url).pathname
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const follow = (link: string) => shop.call<string>('GET', link, undefined, browser)
  assert.equal((await follow(path)).status, 200)
  await sql`update orders set email_changed_at = now() + interval '1 minute' where id = ${orderId}`.execute(shop.db)
  for (const [link, status, said, way] of [
    [path, 403, 'The link has expired', `/order/?order=${orderId}`],
    [path.slice(0, -3), 403, 'The link is not valid', `/order/?order=${orderId}`],
    [`${path}${'x'.repeat(300)}`, 400, 'The link is not valid', `/order/?order=${orderId}`],
    [`${path}/more`, 404, 'The link is not valid', '/order/'],
    ['/api/downloads/<script>', 403, 'The link is not valid', '/order/'],
    ['/api/nowhere', 404, 'There is nothing here', '/order/'],
  ] as const) {
    const answer = await follow(link)
    assert.equal(answer.status, status, link)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.match(answer.headers.get('content-security-policy')!, /script-src 'self'/)
    assert(answer.body.includes(`<h1>${said}</h1>`), answer.body)
    assert(answer.body.includes(`href="http://shop.test${way}`), way)
    assert.doesNotMatch(answer.body, /<script>(?!<)/)
    const program = await shop.call('GET', link)
    assert.equal(program.headers.get('content-type'), 'application/problem+json')
    assert.equal(program.status, status)
  }
  // only a page that is opened gets HTML: a script's request, also of a page, gets JSON as always
  assertProblem(await shop.call('POST', '/api/checkout', {}, browser), 400, 'validation_failed')
})
