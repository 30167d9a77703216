import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import type { ProductView } from '../../src/checkout/product-schema.ts'
import { readPage } from '../../src/pages/html.ts'
import { escapeHtml } from '../../src/words/in-html.ts'
import { assertProblem, newDatabase, sharedShop, startTestShop, type TestShop } from '../support/shop.ts'

const APP_URL = 'https://pay.shop.example'
const BASE_URL = 'https://api.shop.example'
const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const shared = sharedShop({ env: { APP_URL, BASE_URL, DEMO: '1' } })

/** The minimal settings of a public service. */
const PUBLIC = { PUBLIC: '1', BASE_URL, APP_URL, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Shop <shop@shop.example>', PROCESSORS: 'sandbox', LIMITS: 'status=1000/60', TRUST_PROXY: 'none' } // oxfmt-ignore

const DATA = /<script type="application\/json" id="till-data">(.*?)<\/script>/s

const page = (shop: TestShop, path: string) => shop.call<string>('GET', path, undefined, { accept: 'text/html' })

/** The data that the server has put into a page for its script. */
function dataOf(html: string) {
  const data = DATA.exec(html)?.[1]
  assert(data, 'the page carries data')
  return JSON.parse(data)
}

/** The contents of `<tag>` that stand in the page itself. */
const inline = (html: string, tag: string) =>
  [...html.matchAll(new RegExp(`<${tag}(\\s[^>]*)?>([\\s\\S]*?)</${tag}>`, 'g'))]
    .filter(([, attributes = '', body]) => body !== '' && !/application\/(?:ld\+)?json/.test(attributes))
    .map(([, , body]) => body!)

const metaOf = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)"/g)].map(([, name, content]) => [
      name,
      content,
    ]),
  ) as Record<string, string | undefined>

test('the hosted page arrives with its product in it, and in the preview of its link', async () => {
  const shop = shared()
  const productId = await shop.product({
    name: 'Wörter & Töne',
    description: 'Ein „Buch“.',
    priceMinor: 12_345,
    currency: 'KWD',
    imageUrl: '/demo-cover.png',
  })
  const { status, headers, body } = await page(shop, `/pay/?product=${productId}`)
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(headers.get('cache-control'), 'no-store')
  const { body: view } = await shop.call('GET', `/api/products/${productId}/public`)
  assert.deepEqual(dataOf(body), { baseUrl: BASE_URL, mode: { demo: true, outbox: true }, product: view })
  assert.match(body, /<title>Wörter &amp; Töne<\/title>/)
  const meta = metaOf(body)
  assert.equal(meta['og:title'], 'Wörter &amp; Töne')
  assert.equal(meta['og:description'], 'Ein „Buch“.')
  assert.equal(meta['og:url'], `${APP_URL}/pay/?product=${productId}`)
  assert.equal(meta['og:image'], `${APP_URL}/demo-cover.png`)
  assert.equal(meta['og:type'], 'product')
  assert.equal(meta['product:price:amount'], '12.345')
  assert.equal(meta['product:price:currency'], 'KWD')
  assert.equal(body.match(/<title>/g)?.length, 1)
})

const HOSTILE = [
  '</script><script>alert(1)</script>', '<!--<script>', ']]>', '$& $` $\' $1 $$', '"><img src=x onerror=alert(1)>', "' onload='x", '\u2028\u2029', '&lt;b&gt;', '</title><b>', '<!--till:head-->',
  '<!--till:title--><!--/till:title-->', '<script type="application/json" id="till-data"></script>', '{{x}} ${x}', '\\u003c/script\\u003e', 'a\0b'.replace('\0', ''), '🎁\ud83d'.toWellFormed(),
] // oxfmt-ignore

test('nothing that a seller types becomes part of the page', async () => {
  const shop = shared()
  const plain = await page(shop, `/pay/?product=${await shop.product({ imageUrl: 'https://shop.example/a' })}`)
  const tags = (html: string) => html.replace(DATA, '').match(/<[a-z!/][^\s>]*/gi)
  for (const text of HOSTILE) {
    const productId = await shop.product({ name: text, description: text, imageUrl: `https://shop.example/${text}` })
    const { status, body, headers } = await page(shop, `/pay/?product=${productId}`)
    assert.equal(status, 200)
    const { product } = dataOf(body)
    assert.deepEqual([product.name, product.description], [text, text], 'the script reads what was typed')
    assert.deepEqual(tags(body), tags(plain.body), `not one tag more with ${text}`)
    assert.equal(metaOf(body)['og:title'], escapeHtml(text))
    assert.equal(headers.get('content-security-policy'), plain.headers.get('content-security-policy'))
  }
})

test('a picture’s address that is none is left out of the preview, and never a script', async () => {
  const shop = shared()
  for (const imageUrl of ['https://', 'http://[', 'javascript:alert(1)', 'data:text/html,x']) {
    const { body } = await page(shop, `/pay/?product=${await shop.product({ imageUrl })}`)
    const image = metaOf(body)['og:image']
    assert(image === undefined || /^https?:/.test(image), image)
  }
})

test('a product that is not for sale gets a page that says so, with nothing of the question in it', async () => {
  const shop = shared()
  const draft = await shop.product({ status: 'draft', name: 'Secret plans' })
  const asked = [
    'prod_x',
    draft,
    '<script>alert(1)</script>',
    '"><b>',
    "' or 1=1",
    '\0',
    'a'.repeat(8000),
    '__proto__',
    '../../x',
  ]
  for (const product of asked) {
    const { status, headers, body } = await page(shop, `/pay/?product=${encodeURIComponent(product)}`)
    assert.equal(status, 404)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-store')
    const { product: given } = dataOf(body)
    assert.deepEqual([given.error.code, given.error.status], ['product_not_found', 404])
    assert.doesNotMatch(body, /alert\(1\)|Secret plans|or 1=1|aaaaaaaa/)
    assert.equal(metaOf(body)['og:title'], undefined)
  }
})

test('the hosted page without a product, or with several, is a page without a product', async () => {
  const shop = shared()
  for (const query of ['', '?product=', '?product=a&product=b', '?product[]=a', '?Product=a', '?%', '?product']) {
    const { status, body } = await page(shop, `/pay/${query}`)
    assert.equal(status, 200, query)
    assert(!('product' in dataOf(body)))
  }
})

test('each page runs its own script and style, and no other', async () => {
  const shop = shared()
  for (const path of [
    '/',
    '/pay/',
    `/pay/?product=${await shop.product()}`,
    '/order/',
    '/charge/',
    '/library/',
    '/pricing/',
    '/sign-in/',
    '/account/',
    '/shop/',
    '/outbox/',
    '/nowhere',
  ]) {
    const { headers, body } = await page(shop, path)
    const policy = new Map(
      headers
        .get('content-security-policy')!
        .split(/; ?/)
        .map((directive) => {
          const [name, ...sources] = directive.split(' ')
          return [name!, sources]
        }),
    )
    for (const [tag, directive] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const hashes = inline(body, tag).map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
      assert.deepEqual(policy.get(directive)!.sort(), ["'self'", ...hashes].sort(), `${path} ${directive}`)
    }
    assert.deepEqual(policy.get('default-src'), ["'none'"])
    assert.deepEqual(policy.get('frame-ancestors'), ["'none'"])
    assert.deepEqual(policy.get('base-uri'), ["'none'"])
    assert.deepEqual(policy.get('form-action'), ["'self'"])
    assert.deepEqual(policy.get('connect-src'), ["'self'", BASE_URL])
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.doesNotMatch(body.replace(DATA, ''), /\son\w+\s*=\s*["']|javascript:/i, 'no script in an attribute')
    if (path !== '/outbox/') assert.doesNotMatch(headers.get('content-security-policy')!, /unsafe/)
    // the requested files exist
    const assets = [...body.matchAll(/(?:src|href)="(\/(?:assets\/|favicon)[^"]+)"/g)].map(([, asset]) => asset!)
    for (const asset of assets) assert.equal((await shop.call('GET', asset)).status, 200, asset)
  }
})

test('the pages and the API on one host need no other origin', async (t) => {
  const shop = await startTestShop(t)
  const { headers, body } = await page(shop, '/')
  assert.match(headers.get('content-security-policy')!, /connect-src 'self';/)
  assert.deepEqual(dataOf(body), { baseUrl: 'http://shop.test', mode: { demo: false, outbox: true }, demoProducts: [] })
})

test('the first page of a new service offers the demo’s products, and each can be bought', async () => {
  const shop = shared()
  const { demoProducts } = dataOf((await page(shop, '/')).body)
  assert.deepEqual(
    demoProducts.map(({ currency, free, payWhatYouWant }: ProductView) => [currency, free, payWhatYouWant]),
    [
      ['INR', false, false],
      ['USD', false, false],
      ['USD', true, false],
      ['USD', false, true],
    ],
  )
  for (const { id, free, payWhatYouWant, takesCode, imageUrl } of demoProducts) {
    const answer = await shop.call('POST', '/api/checkout', {
      productId: id,
      email: 'bob@example.com',
      ...(payWhatYouWant && { chosenAmount: 700 }),
      ...(takesCode && { discountCode: 'spring' }),
    })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    const { orderId, discountAmount, clientSecret } = answer.body
    assert.equal(discountAmount > 0, takesCode === true)
    if (!free) assert.equal((await shop.confirm({ clientSecret })).status, 200)
    assert.equal((await shop.until(orderId, ({ paid }) => paid)).downloads.length, 3)
    assert.equal(
      (await shop.call('GET', new URL(imageUrl, shop.url).pathname)).headers.get('content-type'),
      'image/png',
    )
  }
})

test('an address without its last slash leads to the page, with its question', async () => {
  const shop = shared()
  for (const [from, to] of [
    ['/pay', '/pay/'],
    ['/pay?product=prod_x&a=b%20c', '/pay/?product=prod_x&a=b%20c'],
    ['/order?order=ord_x', '/order/?order=ord_x'],
    ['/pricing', '/pricing/'],
    ['/outbox', '/outbox/'],
    ['/charge', '/charge/'],
    ['/library', '/library/'],
    ['/sign-in?returnTo=/account/', '/sign-in/?returnTo=/account/'],
    ['/account', '/account/'],
    ['/pay?//evil.example', '/pay/?//evil.example'],
    ['/pay?%0d%0ax:y', '/pay/?%0d%0ax:y'],
  ] as const) {
    const { status, headers } = await page(shop, from)
    assert.deepEqual([status, headers.get('location'), headers.get('x')], [308, to, null])
  }
})

test('the sellers’ pages know whether sign-up is open, and the identity provider’s name', async (t) => {
  const plain = shared()
  for (const path of ['/sign-in/', '/account/', '/shop/']) {
    const { status, body } = await page(plain, path)
    assert.equal(status, 200)
    const mode = { demo: true, outbox: true }
    assert.deepEqual(dataOf(body), { baseUrl: BASE_URL, mode, signup: 'open', statementPrefix: 'TILL' })
  }
  const IDP = { IDP_ISSUER: 'http://127.0.0.1:1', IDP_CLIENT_ID: 'till', IDP_CLIENT_SECRET: 'x', IDP_LABEL: '<b>Works' }
  const shop = await startTestShop(t, { env: { ...IDP, SIGNUP: 'closed' } })
  const { body } = await page(shop, '/sign-in/')
  const { signup, idpLabel } = dataOf(body)
  assert.deepEqual([signup, idpLabel], ['closed', '<b>Works'])
  assert.doesNotMatch(body, /<b>Works/)
})

test('a page for sellers under another name of this machine leads to the name of the session, and no other host anywhere', async (t) => {
  const ask = async (shop: TestShop, host: string, path: string) => {
    const request = http.get(`${shop.url}${path}`, { headers: { host } })
    const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve))
    response.resume()
    return [response.statusCode, response.headers.location]
  }
  const here = await startTestShop(t, { env: { APP_URL: 'http://127.0.0.1:4000', BASE_URL: 'http://127.0.0.1:4000' } })
  for (const host of ['localhost:4000', 'LOCALHOST:4000', '[::1]:4000', '127.1.2.3:4000']) {
    for (const path of [
      '/sign-in/?returnTo=/pricing/&again=1',
      '/account/',
      '/account/?//evil.example',
      '/charge/',
      '/library/',
    ])
      assert.deepEqual(await ask(here, host, path), [302, `http://127.0.0.1:4000${path}`])
    assert.deepEqual(await ask(here, host, '/pricing/'), [200, undefined], 'what needs no session stays where it is')
  }
  for (const host of ['127.0.0.1:4000', 'localhost:8080', 'localhost', 'till.localhost:4000'])
    assert.deepEqual(await ask(here, host, '/sign-in/'), [200, undefined], host)
  for (const host of ['evil.example:4000', '127.0.0.1.evil.example:4000', 'localhost.evil.example:4000'])
    assert.deepEqual(await ask(here, host, '/sign-in/'), [421, undefined], host)
  // a public name is none of this machine's
  assert.deepEqual(await ask(shared(), 'localhost:443', '/sign-in/'), [200, undefined])
})

test('a mistyped address is a page for a person and a problem for a program', async () => {
  const shop = shared()
  const inApi = ['/api', '/api/', '/api?x=y', '/api/nowhere', '/api/checkout/x']
  for (const path of ['/nowhere', '/pay/x', '/index.html', '/pay/index.html', ...inApi]) {
    const person = await page(shop, path)
    assert.equal(person.status, 404)
    assert.equal(person.headers.get('content-type'), 'text/html; charset=utf-8')
    assertProblem(await shop.call('GET', path, undefined, { accept: 'application/json' }), 404, 'not_found')
  }
})

test('mails can be read by everybody only where there is no mail server and no public', async (t) => {
  const without = await startTestShop(t)
  assert.equal((await page(without, '/outbox/')).status, 200)
  assert.deepEqual((await without.call('GET', '/api/outbox')).body, [])

  for (const env of [{ SMTP_URL: 'smtp://127.0.0.1:1' }, PUBLIC] as Record<string, string>[]) {
    const shop = await startTestShop(t, { env, databaseUrl: await newDatabase(t) })
    for (const path of ['/outbox/', '/outbox']) assert.equal((await page(shop, path)).status, 404)
    for (const path of ['/api/outbox', '/api/outbox?to=bob@example.com'])
      assertProblem(await shop.call('GET', path), 404, 'not_found')
    assert.deepEqual(dataOf((await page(shop, '/')).body).mode, { demo: false, outbox: false })
    assert(!('/api/outbox' in (await shop.call('GET', '/api/openapi.json')).body.paths))
  }
})

test('the pricing page, its files and its headers name no payment processor', async () => {
  const shop = shared()
  const names =
    /stripe|razorpay|adyen|paypal|braintree|checkout\.com|worldpay|mollie|klarna|payu\b|cashfree|phonepe|paytm|squareup|authorize\.net|2checkout|paddle|fastspring|lemon ?squeezy|gumroad|polar\.sh|juspay|hyperswitch|btcpay|cybersource|fiserv|wise\.com|gocardless|dlocal|rapyd|nuvei|sandbox/i
  const seen = new Set<string>()
  const queue = ['/pricing/', '/pricing']
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue
    seen.add(path)
    const { headers, body } = await page(shop, path)
    // “sandbox” is our own, and stands in a frame’s attribute and in files that other pages share
    const found = path.startsWith('/pricing') ? names : new RegExp(names.source.replace('|sandbox', ''), 'i')
    assert.doesNotMatch(String(body), found, path)
    for (const [name, value] of headers) assert.doesNotMatch(`${name}: ${value}`, found)
    if (!/^\/pricing|\.js$|\.css$/.test(path)) continue
    for (const [, asset] of String(body).matchAll(
      /["'(](?:\.\/|(?=\/))((?:\/assets\/)?[\w.-]+\.(?:js|css|svg|png|woff2))["')]/g,
    ))
      queue.push(asset!.startsWith('/') ? asset! : `/assets/${asset}`)
  }
  assert(seen.size > 2, 'files were looked at too')
  const { body } = await page(shop, '/pricing/')
  for (const rail of [/card/i, /debit/i, /bank transfer/i, /UPI/, /apple pay/i, /google pay/i, /wallet/i, /2\s?%/])
    assert.match(body, rail)
})

test('a page is compressed for clients that accept it, with the same content', async () => {
  const { url } = shared()
  const get = (coding: string) => compressedPage(`${url}/pricing/`, coding)
  const [br, gzip, plain] = [await get('br, gzip'), await get('gzip, br;q=0'), await get('')]
  assert.deepEqual([br.coding, gzip.coding, plain.coding], ['br', 'gzip', undefined])
  assert.match(String(br.vary), /accept-encoding/i)
  assert(brotliDecompressSync(br.bytes).equals(plain.bytes))
  assert(gunzipSync(gzip.bytes).equals(plain.bytes))
  assert(br.bytes.length < plain.bytes.length / 2)
  assert((await get('br')).bytes.equals(br.bytes), 'it is compressed once')
})

test('the files of the pages were compressed by the build: each comes as it lies there, with the same content', async () => {
  const { url } = shared()
  const assets = join(DIST, 'assets')
  const names = fs.readdirSync(assets)
  const large = names.filter((name) => /\.(?:js|css)$/.test(name) && fs.statSync(join(assets, name)).size > 1000)
  assert(large.length > 10)
  for (const name of large) {
    const plain = fs.readFileSync(join(assets, name))
    for (const [file, unpack] of [
      [`${name}.br`, brotliDecompressSync],
      [`${name}.gz`, gunzipSync],
    ] as const) {
      const ready = fs.readFileSync(join(assets, file))
      assert(ready.length < plain.length && unpack(ready).equals(plain), file)
    }
  }
  const [name = ''] = large
  const read = (file: string) => fs.readFileSync(join(assets, file))
  for (const [accept, coding, file] of [
    ['gzip, deflate, br', 'br', `${name}.br`],
    ['gzip', 'gzip', `${name}.gz`],
    ['', undefined, name],
    ['br;q=0', undefined, name],
  ] as const) {
    const answer = await compressedPage(`${url}/assets/${name}`, accept)
    assert.deepEqual([answer.coding, answer.status], [coding, 200], accept)
    assert(answer.bytes.equals(read(file)), accept)
    assert.match(String(answer.vary), /accept-encoding/i)
    assert.match(String(answer.type), name.endsWith('js') ? /javascript/ : /css/)
  }
  const script = await compressedPage(`${url}/till.js`, 'br')
  assert.equal(script.coding, 'br')
  assert(brotliDecompressSync(script.bytes).equals(fs.readFileSync(join(DIST, 'till.js'))))
  assert((await compressedPage(`${url}/till.js`, '')).bytes.equals(fs.readFileSync(join(DIST, 'till.js'))))
})

test('a page that was compressed for one product is not shown for another, nor after a change of its product', async () => {
  const shop = shared()
  const ids = [await shop.product({ name: 'First book' }), await shop.product({ name: 'Second book' })]
  const names = () =>
    Promise.all(
      ids.map(async (id) => {
        const { bytes } = await compressedPage(`${shop.url}/pay/?product=${id}`, 'br')
        return dataOf(String(brotliDecompressSync(bytes))).product.name
      }),
    )
  assert.deepEqual(await names(), ['First book', 'Second book'])
  await sql`update products set name = 'New book' where id = ${ids[0]}`.execute(shop.db)
  assert.deepEqual(await names(), ['New book', 'Second book'])
})

async function compressedPage(url: string, coding: string) {
  const request = http.get(url, { headers: coding === '' ? {} : { 'accept-encoding': coding } })
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve))
  return {
    coding: response.headers['content-encoding'],
    vary: response.headers.vary,
    status: response.statusCode,
    type: response.headers['content-type'],
    bytes: Buffer.concat(await response.toArray()),
  }
}

test('a file with a content hash in its name is cached for a year, and a page is not', async () => {
  const shop = shared()
  const { body, headers } = await page(shop, '/pricing/')
  assert.equal(headers.get('cache-control'), 'no-cache')
  const asset = /\/assets\/[\w.-]+\.(?:js|css)\b/.exec(body)![0]
  assert.equal((await shop.call('GET', asset)).headers.get('cache-control'), 'public, max-age=31536000, immutable')
  for (const path of ['/pay/', '/order/', '/sign-in/', '/account/', '/outbox/'])
    assert.equal((await page(shop, path)).headers.get('cache-control'), 'no-store')
  assert.match((await shop.call('GET', '/favicon.svg')).headers.get('cache-control')!, /max-age=3600/)
})

test('a page shows pictures from where the API is, also where that is no https', () => {
  const policyOf = (images: string) => readPage('<html></html>', { connect: '', images }).policy
  assert.match(policyOf('http://127.0.0.1:4000'), /; img-src 'self' https: data: http:\/\/127\.0\.0\.1:4000; /)
  assert.match(policyOf(''), /; img-src 'self' https: data:; /)
})

test('a page that was built without any of our marks is served as it is', () => {
  const html =
    '<!doctype html><title>x</title><script>a</script><style>b</style><script type="application/json">c</script><script src="/d"></script>'
  const read = readPage(html, { connect: '' })
  assert.equal(read.render({ data: { a: 1 }, title: 'y', head: 'z' }), html)
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  assert.match(
    read.policy,
    new RegExp(`script-src 'self' ${hash('a')}; style-src 'self' ${hash('b')};`.replaceAll(/[+?.*]/g, '\\$&')),
  )
})
