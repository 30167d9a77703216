import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { beforeEach, test } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import { sql } from 'kysely'
import sharp from 'sharp'
import { openStorage } from '../../src/kit/storage/open.ts'
import { sweepImages } from '../../src/products/images/images.ts'
import type { Product } from '../../src/products/schema.ts'
import { type Browser, count, newBrowser } from '../support/seller.ts'
import { type Answer, assertProblem, eventually, sharedShop } from '../support/shop.ts'

const BASE_URL = 'https://api.shop.example'
const APP_URL = 'https://pay.shop.example'
const shop = sharedShop({
  env: { APP_URL, BASE_URL, STORAGE_QUOTA_BYTES: '2500000000', STORAGE_QUOTA_UNTRUSTED_BYTES: '0' },
})
let ann: Browser
let signedIn: Promise<unknown> | undefined
beforeEach(() => {
  ann ??= newBrowser(shop())
  return (signedIn ??= ann.signInByCode())
})

async function newProduct(status = 'active'): Promise<string> {
  const fields = { name: 'A „book“', amount: 1900, currency: 'USD' }
  const { id } = (await ann.call<Product>('POST', '/api/products', fields)).body
  await shop().file(id)
  await ann.call('PATCH', `/api/products/${id}`, { status })
  return id
}

/** Handles a chosen picture as a page does. */
async function put(productId: string, bytes: Uint8Array, headers: Record<string, string> = {}): Promise<Answer> {
  const address = `/api/products/${productId}/image`
  const response = await fetch(shop().url + address, {
    method: 'PUT',
    headers: {
      'content-type': 'image/png',
      cookie: ann.jar.header(new URL(address, BASE_URL)),
      origin: APP_URL,
      ...headers,
    },
    body: new Uint8Array(bytes),
  })
  return { status: response.status, body: JSON.parse(await response.text()), headers: response.headers }
}

async function show(address: string) {
  const response = await fetch(shop().url + new URL(address).pathname)
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

const plain = (width: number, height: number, background: string = '#c04020') =>
  sharp({ create: { width, height, channels: 3, background } })

/** A PNG that says it is that large, with hardly anything in it. */
function pngOf(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const framed = Buffer.alloc(body.length + 8)
    framed.writeUInt32BE(data.length, 0)
    body.copy(framed, 4)
    framed.writeUInt32BE(crc32(body), body.length + 4)
    return framed
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0])
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.alloc(100))), chunk('IEND', Buffer.alloc(0))]) // oxfmt-ignore
}

test('a file that is no picture is refused, whatever type it claims', async () => {
  const productId = await newProduct()
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'
  const png = await plain(90, 60).png().toBuffer()
  const wrong: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    text: Buffer.from('a picture'),
    html: Buffer.from('<!doctype html><script>alert(1)</script>'),
    svg: Buffer.from(svg),
    'svg with a declaration': Buffer.from(`<?xml version="1.0"?>${svg}`),
    pdf: Buffer.from('%PDF-1.4\n%%EOF\n'),
    tiff: await plain(9, 9).tiff().toBuffer(),
    ppm: Buffer.from('P6 1 1 255\nabc'),
    'a PNG’s beginning': Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    'a GIF’s beginning that is HTML': Buffer.from('GIF89a/*<script>alert(1)</script>*/=1;'),
    'half a PNG': png.subarray(0, png.length / 2),
  }
  for (const kind of ['jpeg', 'webp', 'avif', 'gif'] as const) {
    const noisy = sharp({ create: { width: 90, height: 60, channels: 3, background: '#888', noise: { type: 'gaussian', mean: 128, sigma: 40 } } }) // oxfmt-ignore
    const bytes = await noisy[kind]().toBuffer()
    wrong[`half a ${kind}`] = bytes.subarray(0, bytes.length / 2)
  }
  for (const [what, bytes] of Object.entries(wrong)) {
    const answer = await put(productId, bytes)
    assert.equal(answer.status, 422, what)
    assertProblem(answer, 422, 'image_not_readable')
  }
  const { body } = await ann.call<Product>('GET', `/api/products/${productId}`)
  assert(!('imageUrl' in body) && !('images' in body))
  assert.equal(await count(shop(), 'images', sql`product_id = ${productId}`), 0)
})

test('a picture of too many pixels is refused by its header, before it takes any memory', async () => {
  const productId = await newProduct()
  const before = process.memoryUsage().rss
  for (const [width, height] of [
    [50_000, 50_000],
    [7072, 7071],
    [50_000_001, 1],
  ] as const)
    // oxfmt-ignore
    assertProblem(await put(productId, pngOf(width, height)), 413, 'image_too_large')
  assert(process.memoryUsage().rss - before < 100_000_000)
  // one that says it is large, or small, and is not
  assertProblem(await put(productId, pngOf(7000, 7000)), 422, 'image_not_readable')
  const avif = await plain(1000, 1000).avif({ effort: 0 }).toBuffer()
  const size = avif.indexOf('ispe') + 8
  assert.equal(avif.readUInt32BE(size), 1000)
  for (const at of [size, size + 4]) avif.writeUInt32BE(90, at)
  assertProblem(await put(productId, avif), 422, 'image_not_readable')
})

test('more than ten megabytes are refused, announced or not', async () => {
  const productId = await newProduct()
  const address = `/api/products/${productId}/image`
  const headers = { cookie: ann.jar.header(new URL(address, BASE_URL)), origin: APP_URL, 'content-type': 'image/png' }
  const send = async (bytes: number, more: http.OutgoingHttpHeaders) => {
    const request = http.request(shop().url + address, { method: 'PUT', headers: { ...headers, ...more } })
    const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
      request.on('response', resolve).on('error', reject),
    )
    request.write(Buffer.alloc(bytes))
    if (bytes === 10_000_000) request.end()
    const response = await answered
    const body = JSON.parse(Buffer.concat(await response.toArray()).toString())
    request.on('error', () => {}).destroy()
    return [response.statusCode, body.code]
  }
  assert.deepEqual(await send(1, { 'content-length': 10_000_001 }), [413, 'image_too_large'])
  assert.deepEqual(await send(10_000_001, {}), [413, 'image_too_large'])
  assert.deepEqual(await send(10_000_000, {}), [422, 'image_not_readable'])
})

test('an interrupted or compressed upload of a picture changes nothing', async () => {
  const productId = await newProduct()
  const answer = await put(productId, await plain(9, 9).png().toBuffer(), { 'content-encoding': 'gzip' })
  assertProblem(answer, 415, 'unsupported_media_type')
  const address = `/api/products/${productId}/image`
  const headers = { cookie: ann.jar.header(new URL(address, BASE_URL)), origin: APP_URL, 'content-length': 500 }
  for (let time = 0; time < 10; time++) {
    const request = http.request(shop().url + address, { method: 'PUT', headers })
    request.on('error', () => {})
    await new Promise<void>((resolve) => request.write(Buffer.alloc(99), () => resolve()))
    request.destroy()
  }
  // the places they held are free again
  const png = await plain(9, 9).png().toBuffer()
  await eventually(
    () => put(productId, png),
    ({ status }) => status === 200,
  )
})

test('every kind of picture becomes the sizes that pages show, never enlarged', async () => {
  const productId = await newProduct()
  const rgba = sharp({
    create: { width: 1600, height: 800, channels: 4, background: { r: 9, g: 99, b: 9, alpha: 0.5 } },
  })
  const kinds: Record<string, Buffer> = {
    png: await rgba.png().toBuffer(),
    jpeg: await plain(1600, 800).jpeg({ progressive: true }).toBuffer(),
    'grey png': await plain(1600, 800).greyscale().png().toBuffer(),
    'cmyk jpeg': await plain(1600, 800).toColourspace('cmyk').jpeg().toBuffer(),
    webp: await plain(1600, 800).webp().toBuffer(),
    avif: await plain(1600, 800).avif({ effort: 0 }).toBuffer(),
    gif: await plain(1600, 800).gif().toBuffer(),
  }
  const addresses = new Set<string>()
  for (const [kind, bytes] of Object.entries(kinds)) {
    const { status, body } = await put(productId, bytes, { 'content-type': 'application/octet-stream' })
    assert.equal(status, 200, `${kind}: ${JSON.stringify(body)}`)
    assert.deepEqual(Object.keys(body.images), ['320', '640', '1280', 'preview'])
    assert.equal(body.imageUrl, body.images['1280'])
    for (const width of [320, 640, 1280]) {
      const { status, headers, bytes } = await show(body.images[width])
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'image/webp')
      const shown = await sharp(bytes).metadata()
      assert.deepEqual([shown.format, shown.width, shown.height], ['webp', width, width / 2], kind)
    }
    const preview = await show(body.images.preview)
    assert.equal(preview.headers.get('content-type'), 'image/jpeg')
    const shown = await sharp(preview.bytes).metadata()
    assert.deepEqual([shown.format, shown.width, shown.height], ['jpeg', 1200, 630], kind)
    addresses.add(body.imageUrl)
  }
  assert.equal(addresses.size, Object.keys(kinds).length, 'another picture has another address')

  const small = (await put(productId, await plain(40, 5000).png().toBuffer())).body
  for (const [width, size] of [
    [320, [5, 640]],
    [640, [10, 1280]],
    [1280, [20, 2560]],
  ] as const) {
    // oxfmt-ignore
    const { bytes } = await show(small.images[width])
    const shown = await sharp(bytes).metadata()
    assert.deepEqual([shown.width, shown.height], size)
  }
  const dot = (await put(productId, await plain(1, 1).png().toBuffer())).body
  assert.equal((await sharp((await show(dot.imageUrl)).bytes).metadata()).width, 1)
})

test('a picture’s place is removed, and its orientation stays', async () => {
  const exif = { IFD0: { Make: 'Camera of Ann' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' } }
  const taken = await plain(300, 200).withExif(exif).withMetadata({ orientation: 6 }).jpeg().toBuffer()
  const withPlace = await sharp(taken).keepMetadata().withExifMerge(exif).jpeg().toBuffer()
  const { exif: held, orientation } = await sharp(withPlace).metadata()
  assert(held?.includes('Camera of Ann') && orientation === 6, 'the test’s own picture has it')
  const { body } = await put(await newProduct(), withPlace)
  for (const address of Object.values<string>(body.images)) {
    const { bytes } = await show(address)
    assert(!bytes.includes('Camera of Ann') && !bytes.includes('GPS'))
    const { exif, icc, xmp, orientation } = await sharp(bytes).metadata()
    assert.deepEqual([exif, icc, xmp, orientation], [undefined, undefined, undefined, undefined])
  }
  const { width, height } = await sharp((await show(body.images['1280'])).bytes).metadata()
  assert.deepEqual([width, height], [200, 300], 'turned as it was held')
})

test('of an animation the first frame is shown, and hidden data of the file is not', async () => {
  const frames = await Promise.all(['#ff0000', '#0000ff'].map((colour) => plain(60, 40, colour).png().toBuffer()))
  const moving = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer()
  assert.equal((await sharp(moving).metadata()).pages, 2)
  const { body } = await put(await newProduct(), Buffer.concat([moving, Buffer.from('<script>alert(1)</script>')]))
  const { bytes } = await show(body.images['1280'])
  const { pages, width, height } = await sharp(bytes).metadata()
  assert.deepEqual([pages, width, height], [undefined, 60, 40])
  const { dominant } = await sharp(bytes).stats()
  assert(dominant.r > 200 && dominant.b < 60)
  for (const address of Object.values<string>(body.images)) assert(!(await show(address)).bytes.includes('alert'))
})

test('the response with a picture is cached for ever, and can only be a picture', async () => {
  const { body } = await put(await newProduct('draft'), await plain(9, 9).png().toBuffer())
  const { headers, bytes } = await show(body.imageUrl)
  assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('content-security-policy'), "default-src 'none';frame-ancestors 'none'")
  assert.equal(headers.get('content-disposition'), 'inline')
  assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
  assert.equal(headers.get('content-length'), String(bytes.length))
  assert.equal(headers.get('set-cookie'), null)
  const { pathname } = new URL(body.imageUrl)
  const wrong = ['321', '0', '1280.webp', 'preview/', '../1280', '..%2f1280', '1280-x', 'constructor']
  const others = wrong.map((size) => pathname.replace('1280', size))
  others.push(
    pathname.replace('img_', 'file_'),
    '/api/images/img_01kakd3v5xq4m8s2t6w0y9r7bn/320',
    '/api/images/..%2f..%2fx/320',
  )
  for (const address of others) {
    const answer = await shop().call('GET', address)
    assertProblem(answer, 404, 'not_found')
  }
})

test('two at once leave one picture, and each that was replaced stays for a month', async () => {
  const productId = await newProduct()
  const colours = ['#ff0000', '#00ff00', '#0000ff']
  const pictures = await Promise.all(colours.map((colour) => plain(30, 20, colour).png().toBuffer()))
  const answers = await Promise.all(pictures.map((bytes) => put(productId, bytes)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  const { rows } = await sql<{ id: string; unused: boolean }>`
    select id, unused_since is not null as unused from images where product_id = ${productId}`.execute(shop().db)
  assert.deepEqual(rows.map(({ unused }) => unused).sort(), [false, true, true])
  const { body } = await ann.call<Product>('GET', `/api/products/${productId}`)
  assert(body.imageUrl!.includes(rows.find(({ unused }) => !unused)!.id))

  const storage = await openStorage(shop().config)
  const kept = async () => {
    const found = await fs.readdir(shop().config.storageDir, { recursive: true })
    return rows.map(({ id }) => found.filter((file) => path.basename(file).endsWith(id)).length)
  }
  await sweepImages(shop().db, storage)
  assert.deepEqual(await kept(), [4, 4, 4])
  await sql`update images set unused_since = unused_since - interval '31 days' where product_id = ${productId}`.execute(shop().db) // oxfmt-ignore
  for (let time = 0; time < 2; time++) await sweepImages(shop().db, storage)
  assert.deepEqual(
    await kept(),
    rows.map(({ unused }) => (unused ? 0 : 4)),
  )
  assert.equal(await count(shop(), 'images', sql`product_id = ${productId}`), 1)
  assert.equal((await show(body.imageUrl!)).status, 200)
})

test('a seller’s fourth picture at once is refused for a moment', async () => {
  const productId = await newProduct()
  const png = await plain(1500, 1500).png().toBuffer()
  const busy: Awaited<ReturnType<typeof put>>[] = []
  // on a busy machine the service can read them one after the other, and is done with the first before the fourth is here
  for (let round = 0; busy.length === 0; round++) {
    assert(round < 50, 'none of six at once was refused in fifty rounds')
    const answers = await Promise.all(Array.from({ length: 6 }, () => put(productId, png)))
    busy.push(...answers.filter(({ status }) => status !== 200))
  }
  assert(busy.length <= 3)
  for (const answer of busy) {
    assertProblem(answer, 503, 'images_busy')
    assert.equal(answer.headers.get('retry-after'), '5')
  }
})

test('slow clients, from any number of shops, take no place from others', async () => {
  const slow = await Promise.all(
    [1, 2, 3].map(async () => {
      const eve = newBrowser(shop())
      await eve.signInByCode()
      const { body } = await eve.call('POST', '/api/products', { name: 'A book', amount: 1, currency: 'USD' })
      const path = `/api/products/${body.id}/image`
      const headers = { cookie: eve.jar.header(new URL(path, BASE_URL)), origin: APP_URL, 'content-length': 1000 }
      return [1, 2, 3].map(() => {
        const request = http.request(shop().url + path, { method: 'PUT', agent: false, headers })
        request.on('error', () => {}).write('x')
        return request
      })
    }),
  )
  const productId = await newProduct()
  const png = await plain(9, 9).png().toBuffer()
  for (let tried = 0; tried < 3; tried++) assert.equal((await put(productId, png)).status, 200)
  for (const request of slow.flat()) request.destroy()
})

test('pictures have no more room than files, those that were replaced included', async () => {
  const productId = await newProduct()
  const png = await plain(9, 9).png().toBuffer()
  const { body: before } = await put(productId, png)
  // as many as fit into 2.5 GB
  await sql`
    insert into images (id, product_id, unused_since)
    select 'img_' || lpad(n::text, 26, '0'), ${productId}, now() from generate_series(1, 999) n`.execute(shop().db)
  assertProblem(await put(productId, png), 413, 'quota_exceeded')
  assert.equal((await ann.call<Product>('GET', `/api/products/${productId}`)).body.imageUrl, before.imageUrl)
  await sql`delete from images where id like 'img_000000%'`.execute(shop().db)
  assert.equal((await put(productId, png)).status, 200)
})

test('while the storage is down the product stays as it was, and both sides get an error', async () => {
  const productId = await newProduct()
  const png = await plain(9, 9).png().toBuffer()
  const { body: before } = await put(productId, png)
  const { storageDir } = shop().config
  await fs.rename(storageDir, `${storageDir}-away`)
  await fs.writeFile(storageDir, 'a file where the folder was')
  try {
    assertProblem(await put(productId, png), 503, 'storage_unavailable')
    assertProblem(await shop().call('GET', new URL(before.imageUrl).pathname), 503, 'storage_unavailable')
  } finally {
    await fs.rm(storageDir)
    await fs.rename(`${storageDir}-away`, storageDir)
  }
  assert.equal((await ann.call<Product>('GET', `/api/products/${productId}`)).body.imageUrl, before.imageUrl)
  assert.equal((await show(before.imageUrl)).status, 200)
})

test('a picture is in the product’s page, in the preview of its link, and in the receipt', async () => {
  const productId = await newProduct()
  const { body: product } = await put(productId, await plain(600, 900).png().toBuffer())
  const { body: view } = await shop().call('GET', `/api/products/${productId}/public`)
  assert.deepEqual([view.imageUrl, view.images], [product.imageUrl, product.images])
  assert(view.imageUrl.startsWith(`${BASE_URL}/api/images/img_`))
  const page = await shop().call<string>('GET', `/pay/?product=${productId}`, undefined, { accept: 'text/html' })
  assert(page.body.includes(`<meta property="og:image" content="${product.images.preview}" />`))
  assert.match(page.body, /og:image:width" content="1200".*og:image:height" content="630"/s)
  assert.match(page.headers.get('content-security-policy')!, /img-src 'self' https: data:;/)

  // the mails of a seller whom the operator does not trust yet have no picture
  await sql`update sellers set trusted_at = now() where id = ${product.sellerId}`.execute(shop().db)
  const email = 'with-picture@example.com'
  await shop().paid({ productId, email })
  const [receipt] = await eventually(
    () => shop().mails(email),
    (mails) => mails.length > 0,
  )
  const [image] = /<img [^>]+>/.exec(receipt!.html)!
  assert(image.includes(`src="${product.images.preview}"`) && image.includes('alt="A „book“"'))
  assert(!receipt!.text.includes('/api/images/'))

  assert.equal((await ann.call('DELETE', `/api/products/${productId}/image`)).status, 204)
  assert.equal((await ann.call('DELETE', `/api/products/${productId}/image`)).status, 204)
  const { body: without } = await shop().call('GET', `/api/products/${productId}/public`)
  assert(!('imageUrl' in without) && !('images' in without))
  assert.equal((await show(product.images.preview)).status, 200, 'the mail shows it still')
})

test('a picture on another server is shown until an uploaded one replaces it', async () => {
  const { id: sellerId } = (await ann.session()).body.seller
  const productId = await shop().product({ sellerId, imageUrl: '/demo-cover.png' })
  const read = async () => (await ann.call<Product>('GET', `/api/products/${productId}`)).body
  assert.equal((await read()).imageUrl, '/demo-cover.png')
  assert(!('images' in (await read())))
  await put(productId, await plain(9, 9).png().toBuffer())
  assert.match((await read()).imageUrl!, /\/1280$/)
  await ann.call('DELETE', `/api/products/${productId}/image`)
  assert(!('imageUrl' in (await read())))
})
