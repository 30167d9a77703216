import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import sharp from 'sharp'
import { type Browser, count, newBrowser } from '../support/seller.ts'
import { type Answer, assertProblem, eventually, sharedShop } from '../support/shop.ts'

const BASE_URL = 'https://api.shop.example'
const APP_URL = 'https://pay.shop.example'
const shop = sharedShop({ env: { APP_URL, BASE_URL } })

async function newSeller(): Promise<{ browser: Browser; sellerId: string; productId: string }> {
  const browser = newBrowser(shop())
  await browser.signInByCode()
  const { id: sellerId } = (await browser.call('GET', '/api/auth/session')).body.seller
  const product = { name: 'A book', amount: 1900, currency: 'USD' }
  const { id: productId } = (await browser.call('POST', '/api/products', product)).body
  await shop().file(productId)
  await browser.call('PATCH', `/api/products/${productId}`, { status: 'active' })
  return { browser, sellerId, productId }
}

const logo = (width = 800, height = 200) =>
  sharp({ create: { width, height, channels: 4, background: { r: 200, g: 20, b: 20, alpha: 0.5 } } })
    .png()
    .toBuffer()

async function putLogo({ jar }: Browser, bytes: Uint8Array, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${shop().url}/api/brand/logo`, {
    method: 'PUT',
    headers: {
      'content-type': 'image/png',
      cookie: jar.header(new URL('/api/brand/logo', BASE_URL)),
      origin: APP_URL,
      ...headers,
    },
    body: new Uint8Array(bytes),
  })
  return { status: response.status, body: JSON.parse(await response.text()), headers: response.headers }
}

const inThePast = (sellerId: string) =>
  sql`update sessions set created_at = created_at - interval '1 hour' where seller_id = ${sellerId}`.execute(shop().db)

test('what a link or a colour must not be is refused, and nothing changes', async () => {
  const { browser } = await newSeller()
  for (const url of [
    'http://shop.example/',
    'javascript:alert(1)',
    'shop.example',
    'https://ann:secret@shop.example/',
    'data:text/html,x',
    // nine times as long, once it is an address
    `https://shop.example/${'书'.repeat(400)}`,
  ])
    // oxfmt-ignore
    for (const name of ['websiteUrl', 'termsUrl', 'privacyUrl'])
      assertProblem(await browser.call('PATCH', '/api/brand', { accent: '#ffffff', [name]: url }), 422, 'link_not_valid')
  for (const accent of ['red', '#fff', '#12345g', 'light-dark(#fff, #000)', ''])
    assertProblem(await browser.call('PATCH', '/api/brand', { accent }), 400, 'validation_failed')
  assertProblem(await browser.call('PATCH', '/api/brand', {}), 400, 'validation_failed')
  assertProblem(await browser.call('PATCH', '/api/brand', { refundPolicy: 'x'.repeat(1001) }), 400, 'validation_failed')
  assert.deepEqual((await browser.call('GET', '/api/brand')).body, { asksConsent: false })
})

test('another link needs a fresh sign-in, because a stolen session must not lead buyers elsewhere; a colour does not', async () => {
  const { browser, sellerId } = await newSeller()
  const termsUrl = 'https://shop.example/terms'
  assert.equal((await browser.call('PATCH', '/api/brand', { termsUrl })).body.termsUrl, termsUrl)
  await inThePast(sellerId)
  const other = { termsUrl: 'https://evil.example/terms' }
  assertProblem(await browser.call('PATCH', '/api/brand', other), 403, 'recent_sign_in_required')
  assertProblem(await browser.call('PATCH', '/api/brand', { termsUrl: null }), 403, 'recent_sign_in_required')
  const { status, body } = await browser.call('PATCH', '/api/brand', { termsUrl, accent: '#AA0000' })
  assert.deepEqual([status, body.termsUrl, body.accent], [200, termsUrl, '#aa0000'])
})

test('nobody but the seller, in a session, sees or changes a brand', async () => {
  const stranger = newBrowser(shop())
  assertProblem(await stranger.call('GET', '/api/brand'), 401, 'not_signed_in')
  assertProblem(await stranger.call('PATCH', '/api/brand', { accent: '#000000' }), 401, 'not_signed_in')
  assertProblem(await stranger.call('DELETE', '/api/brand/logo'), 401, 'not_signed_in')
  assertProblem(await putLogo(stranger, await logo()), 401, 'not_signed_in')
})

test('a logo is made small and keeps its transparency; what is no picture is refused; the ten newest stay', async () => {
  const { browser, sellerId } = await newSeller()
  assertProblem(
    await putLogo(browser, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
    422,
    'image_not_readable',
  )
  assert.equal(await count(shop(), 'logos', sql`seller_id = ${sellerId}`), 0)
  const first = (await putLogo(browser, await logo())).body.logoUrl
  const response = await fetch(shop().url + new URL(first).pathname)
  assert.deepEqual(
    [response.status, response.headers.get('content-type'), response.headers.get('cache-control')],
    [200, 'image/webp', 'public, max-age=31536000, immutable'],
  )
  const { width, height, hasAlpha } = await sharp(Buffer.from(await response.arrayBuffer())).metadata()
  assert.deepEqual([width, height, hasAlpha], [400, 100, true])
  for (let at = 0; at < 10; at++) await putLogo(browser, await logo(40 + at, 20))
  assert.equal(await count(shop(), 'logos', sql`seller_id = ${sellerId}`), 10)
  assert.equal((await fetch(shop().url + new URL(first).pathname)).status, 404)
  const { body: brand } = await browser.call('GET', '/api/brand')
  assert.equal((await fetch(shop().url + new URL(brand.logoUrl).pathname)).status, 200)
  assert.equal((await browser.call('DELETE', '/api/brand/logo')).status, 204)
  assert.equal((await browser.call('GET', '/api/brand')).body.logoUrl, undefined)
  // mails still show it
  assert.equal((await fetch(shop().url + new URL(brand.logoUrl).pathname)).status, 200)
})

test('an address that is no logo’s is not found', async () => {
  for (const id of ['logo_1', 'img_01hzzzzzzzzzzzzzzzzzzzzzzz', '%00', 'logo_01hzzzzzzzzzzzzzzzzzzzzzzz'])
    assertProblem(await shop().call('GET', `/api/logos/${id}`), 404, 'not_found')
})

test('buyers see the brand on the product, and on the order with its address; a stranger sees none of it', async () => {
  const { browser, productId } = await newSeller()
  const links = {
    websiteUrl: 'https://shop.example/',
    termsUrl: 'https://shop.example/terms',
    privacyUrl: 'https://shop.example/privacy',
    refundPolicy: 'Thirty days.\nNo questions.',
  }
  await browser.call('PATCH', '/api/brand', { ...links, accent: '#c00000' })
  await putLogo(browser, await logo())
  const { seller } = (await shop().call('GET', `/api/products/${productId}/public`)).body
  const { logoUrl, theme, name, ...rest } = seller
  assert.deepEqual(rest, links)
  assert.match(logoUrl, /^https:\/\/api\.shop\.example\/api\/logos\/logo_/)
  assert.match(theme.accent, /^light-dark\(#c00000, #[0-9a-f]{6}\)$/)
  const { body: order } = await shop().call('POST', '/api/checkout', { productId, email: 'bob@example.com' })
  const status = (query = '') => shop().call('GET', `/api/checkout/${order.orderId}/status${query}`)
  assert.equal((await status()).body.seller, undefined)
  const shown = (await status('?email=bob@example.com')).body.seller
  assert.deepEqual([shown.termsUrl, shown.logoUrl, shown.name], [links.termsUrl, logoUrl, name])
})

test('the receipt of a trusted seller has the logo, the colour, the files and the payment method; of others only their number', async () => {
  const { browser, sellerId, productId } = await newSeller()
  await browser.call('PATCH', '/api/brand', { accent: '#c00000' })
  await putLogo(browser, await logo())
  await shop().file(productId)
  const receipt = async (email: string) => {
    const { body: order } = await shop().call('POST', '/api/checkout', { productId, email })
    await shop().call('POST', '/api/sandbox/confirm', { clientSecret: order.clientSecret, rail: 'card' })
    const { body } = await eventually(
      () => shop().call('GET', `/api/outbox?to=${email}`),
      (answer) => answer.body.length > 0,
    )
    return body[0] as { html: string; text: string }
  }
  const stranger = await receipt('bob@stranger.example')
  assert.doesNotMatch(stranger.html, /api\/logos|#c00000/)
  assert.match(stranger.text, /Files +2 files/)
  assert.match(stranger.text, /Paid with +Card/)
  await sql`update sellers set trusted_at = now() where id = ${sellerId}`.execute(shop().db)
  const known = await receipt('bob@known.example')
  assert.match(known.html, /<img src="https:\/\/api\.shop\.example\/api\/logos\/logo_\w+" alt="[^"]+"/)
  assert.match(known.html, /background:#c00000;color:#ffffff/)
  assert.match(known.text, /Files +\S+.*, \S+/)
})
