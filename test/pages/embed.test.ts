import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import { before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { newBrowser } from '../support/seller.ts'
import { type Answer, sharedShop } from '../support/shop.ts'

const shared = sharedShop()
const file = (name: string) => fs.readFile(new URL(`../../${name}`, import.meta.url))
let productId: string
before(async () => {
  const shop = shared()
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  for (const host of ['shop.example', '*.wild.example', 'localhost:3000'])
    assert.equal((await ann.call('PUT', `/api/sites/${host}`)).status, 200)
  productId = await shop.product()
})

const pay = (query: object): Promise<Answer<string>> =>
  shared().call('GET', `/pay/?${new URLSearchParams({ ...query })}`, undefined, { accept: 'text/html' })
const ancestorsOf = ({ headers }: Answer): string =>
  /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy')!)![1]!
const hostIn = ({ body }: Answer<string>): unknown =>
  JSON.parse(/<script type="application\/json" id="till-data">(.*?)<\/script>/.exec(body)![1]!).host

test('only the seller’s sites may show the checkout in a frame, and only with embed=1', async () => {
  const framed = await pay({ product: productId, embed: '1' })
  assert.equal(ancestorsOf(framed), 'https://*.wild.example http://localhost:3000 https://shop.example')
  assert.equal(framed.headers.get('x-frame-options'), null)
  assert.equal(framed.headers.get('set-cookie'), null)
  for (const query of [{}, { embed: '0' }, { embed: 'true' }, { embed: '' }, { embed: '11' }]) {
    const answer = await pay({ product: productId, ...query })
    assert.equal(ancestorsOf(answer), "'none'", JSON.stringify(query))
    assert.equal(answer.headers.get('x-frame-options'), 'DENY')
  }
})

test('a seller without sites, no product, and a product that is not for sale are shown in no frame', async () => {
  const shop = shared()
  const sellerId = await ensureSeller(shop.db, { name: 'Mallory', email: 'mallory@shop.test', trusted: true })
  const others = await shop.product({ sellerId })
  const draft = await shop.product({ status: 'draft' })
  for (const query of [{ product: others }, { product: draft }, { product: 'prod_x' }, { product: '' }, {}]) {
    const answer = await pay({ ...query, embed: '1', host: 'https://shop.example' })
    assert.equal(ancestorsOf(answer), "'none'")
    assert.equal(answer.headers.get('x-frame-options'), 'DENY')
    assert.equal(hostIn(answer), undefined)
  }
})

test('every other page stays out of frames', async () => {
  for (const path of [
    '/',
    '/order/',
    '/sign-in/',
    '/account/',
    '/shop/',
    '/library/',
    '/charge/',
    '/pricing/',
    '/nowhere',
  ]) {
    const answer = await shared().call('GET', `${path}?embed=1&product=${productId}`, undefined, {
      accept: 'text/html',
    })
    assert.equal(ancestorsOf(answer), "'none'", path)
    assert.equal(answer.headers.get('x-frame-options'), 'DENY', path)
  }
})

test('the page may send messages only to an origin that is one of the sites', async () => {
  const of = async (host: string) => hostIn(await pay({ product: productId, embed: '1', host }))
  for (const host of ['https://shop.example', 'https://a.wild.example', 'http://localhost:3000'])
    assert.equal(await of(host), host)
  for (const host of [
    '*',
    '/',
    'null',
    'https://evil.test',
    'http://shop.example',
    'https://shop.example/',
    'https://shop.example/path',
    'https://shop.example:8443',
    'https://SHOP.example',
    'https://shop.example@evil.test',
    'https://wild.example',
    'javascript:alert(1)',
    '',
  ])
    assert.equal(await of(host), undefined, host)
  const twice = await shared().call('GET', `/pay/?product=${productId}&embed=1&host=https://shop.example&host=*`)
  assert.equal(hostIn(twice), undefined)
  const top = await pay({ product: productId, host: 'https://shop.example' })
  assert.equal(hostIn(top), undefined)
})

test('the script for sites is small, and any site may check its hash', async () => {
  const bytes = await file('dist/till.js')
  assert.ok(gzipSync(bytes).length <= 4096, `${gzipSync(bytes).length} bytes`)
  assert.doesNotMatch(
    String(bytes),
    /innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|setAttribute/,
  )
  const version = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  for (const [path, caching] of [
    ['/till.js', 'public, max-age=3600'],
    [`/till-${version}.js`, 'public, max-age=31536000, immutable'],
  ]) {
    const response = await fetch(shared().url + path)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), caching)
    assert.equal(response.headers.get('access-control-allow-origin'), '*')
    assert(Buffer.from(await response.arrayBuffer()).equals(bytes))
  }
  assert.equal((await fetch(`${shared().url}/till-000000000000.js`)).status, 404)
})

test('the document about frames names the script of this version, and its hash', async () => {
  const bytes = await file('dist/till.js')
  const text = String(await file('docs/embed.md'))
  const version = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  const integrity = `sha384-${createHash('sha384').update(bytes).digest('base64')}`
  assert(text.includes(`/till-${version}.js`), `docs/embed.md: /till-${version}.js`)
  assert(text.includes(`integrity="${integrity}"`), `docs/embed.md: integrity="${integrity}"`)
})

test('the page gets the way back only if it leads to a site of the seller', async () => {
  const backIn = ({ body }: Answer<string>): unknown =>
    JSON.parse(/<script type="application\/json" id="till-data">(.*?)<\/script>/.exec(body)![1]!).cancelUrl
  const back = async (cancelUrl: string, more = {}) => backIn(await pay({ product: productId, cancelUrl, ...more }))
  assert.equal(await back('https://shop.example/cart?a=1#top'), 'https://shop.example/cart?a=1#top')
  assert.equal(await back('https://a.wild.example', { embed: '1' }), 'https://a.wild.example/')
  for (const bad of [
    '',
    'cart',
    'javascript:alert(1)',
    'https://evil.test/',
    'https://shop.example@evil.test/',
    'http://shop.example/',
    `https://shop.example/${'x'.repeat(2000)}`,
  ])
    // oxfmt-ignore
    assert.equal(await back(bad), undefined, bad)
  const twice = await shared().call<string>('GET', `/pay/?product=${productId}&cancelUrl=https://shop.example/&cancelUrl=https://evil.test/`) // oxfmt-ignore
  assert.equal(backIn(twice), undefined)
  const framed = await pay({ product: productId, cancelUrl: 'https://shop.example/' })
  assert.equal(ancestorsOf(framed), "'none'", 'the way back opens no frame')
})
