import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import vm from 'node:vm'
import { headHoldsCardNumber } from '../../src/kit/card-numbers.ts'
import type { Description } from '../../src/pages/api/description.ts'
import { sharedShop } from '../support/shop.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const BASE_URL = 'https://api.shop.example'
const APP_URL = 'https://pay.shop.example'
const shared = sharedShop({ env: { BASE_URL, APP_URL } })

const names = fs
  .readdirSync(path.join(ROOT, 'docs'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -'.md'.length))
const read = (address: string) => shared().call<string>('GET', address)
const linksOf = (text: string) => [...text.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target]) => target!)

test('every guide is served as Markdown, with the addresses of this service, and no link leads nowhere', async () => {
  for (const name of [...names, 'client']) {
    const { status, headers, body } = await read(`/docs/${name}.md`)
    assert.equal(status, 200, name)
    assert.equal(headers.get('content-type'), 'text/markdown; charset=utf-8')
    assert.match(body, /^# \S/)
    for (const target of linksOf(body)) {
      if (/^(?:https?:|#)/.test(target)) continue
      assert.equal((await read(`/docs/${target.split('#')[0]}`)).status, 200, `${name}: ${target}`)
    }
  }
  const { body: integrate } = await read('/docs/integrate.md')
  assert.match(integrate, new RegExp(`TILL=${BASE_URL}`))
  assert.doesNotMatch(integrate, /127\.0\.0\.1/)
  const { body: sellers } = await read('/docs/sellers.md')
  assert.match(sellers, new RegExp(`^TILL=${BASE_URL}\\s`, 'm'))
  assert.match(sellers, new RegExp(`^APP=${APP_URL}\\s`, 'm'))
  const { body: signIn } = await read('/docs/sign-in.md')
  assert.match(signIn, new RegExp(`origin: ${APP_URL}`))
  assert.doesNotMatch(signIn, new RegExp(`origin: ${BASE_URL}`))
  const { body: embed } = await read('/docs/embed.md')
  for (const part of [
    `href="${APP_URL}/pay/`,
    `src="${APP_URL}/till.js"`,
    `src="${APP_URL}/till-`,
    `script-src ${APP_URL}; frame-src ${APP_URL}`,
  ])
    assert(embed.includes(part), part)
  for (const body of [embed, integrate, sellers])
    assert.doesNotMatch(body, new RegExp(`${BASE_URL}/(?:pay|till)|127\\.0\\.0\\.1:4000`))
  assert.equal((await read('/docs/../package.json.md')).status, 404)
  assert.equal((await read('/docs/nothing.md')).status, 404)
})

test('no idempotency key that the page in the guide makes looks like the number of a card', () => {
  const guide = fs.readFileSync(path.join(ROOT, 'docs/integrate.md'), 'utf8')
  const [, expression = ''] = /\?\?= (crypto\..+)$/m.exec(guide) ?? []
  const make = new vm.Script(expression)
  const keys = new Set(Array.from({ length: 5000 }, () => make.runInThisContext() as string))
  assert.equal(keys.size, 5000)
  for (const key of keys) {
    assert.match(key, /^[\w-]{16,255}$/)
    assert(!headHoldsCardNumber({ url: '/', headers: { 'idempotency-key': key } }), key)
  }
})

test('llms.txt leads to every guide and to the API, and says of each what it is about', async () => {
  const { body, headers } = await read('/llms.txt')
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.match(body, /^# Till\n\n> \S/)
  const links = linksOf(body)
  for (const name of [...names, 'client']) assert(links.includes(`${BASE_URL}/docs/${name}.md`), name)
  // the host of the pages may serve files only
  for (const link of links) assert.equal(new URL(link).origin, BASE_URL, link)
  for (const link of links) assert.equal((await read(new URL(link).pathname)).status, 200, link)
  for (const line of body.split('\n').filter((one) => one.startsWith('- ')))
    assert.match(line, /^- \[[^\]]+\]\(\S+\): \S.*[.:]$/)
})

test('the reference in Markdown has every route with all its fields and refusals', async () => {
  const { body: api } = await shared().call<Description>('GET', '/api/openapi.json')
  const { body, headers } = await read('/api/docs.md')
  assert.equal(headers.get('content-type'), 'text/markdown; charset=utf-8')
  const sections = new Map(body.split(/^### /m).map((part) => [part.split('\n')[0]!, part]))
  for (const [address, methods] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const section = sections.get(`${method.toUpperCase()} ${address}`)
      assert(section, `${method} ${address}`)
      for (const { name } of operation.parameters ?? []) assert(section.includes(`- \`${name}\``), `${address} ${name}`)
      for (const { content = {} } of Object.values(operation.responses))
        for (const code of Object.keys(content['application/problem+json']?.examples ?? {}))
          assert(section.includes(`\`${code}\``), `${address} ${code}`)
    }
  const needs = (route: string) => /Needs [^.]*\./.exec(sections.get(route)!.split('\n\n')[1]!)?.[0]
  assert.equal(needs('GET /api/orders'), 'Needs a session, or a key with `orders:read`, or a key with `exports:read`.')
  assert.match(needs('GET /api/confirmations/{confirmationId}')!, /^Needs a session, or a key with `products:read`, or a key with /) // oxfmt-ignore
  assert.equal(needs('POST /api/confirmations/{confirmationId}/decline'), 'Needs a session.')
  assert.equal(needs('POST /api/checkout'), undefined)
  const checkout = sections.get('POST /api/checkout')!
  assert.match(checkout, /^- `productId` \*: string\./m)
  assert.match(checkout, /^- `idempotency-key`: In the header\./m)
  assert.match(sections.get('GET /api/checkout/{orderId}/status')!, /^- `downloads\[\]\.url` \*: string\./m)
})

const offerOf = async (productId: string) => {
  const { body } = await read(`/pay/?product=${productId}`)
  const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body) ?? []
  return JSON.parse(json)
}

test('the hosted page says in schema.org’s words what is sold and for how much', async () => {
  const shop = shared()
  const product = { name: 'Wörter & Töne', description: 'Ein „Buch“.', priceMinor: 12_345, currency: 'KWD' }
  const productId = await shop.product({ ...product, imageUrl: '/demo-cover.png' })
  assert.deepEqual(await offerOf(productId), {
    '@context': 'https://schema.org',
    '@type': 'Product',
    productID: productId,
    name: 'Wörter & Töne',
    description: 'Ein „Buch“.',
    image: `${APP_URL}/demo-cover.png`,
    offers: {
      '@type': 'Offer',
      url: `${APP_URL}/pay/?product=${productId}`,
      price: '12.345',
      priceCurrency: 'KWD',
      availability: 'https://schema.org/InStock',
      seller: { '@type': 'Organization', name: 'Ann' },
    },
  })
  assert.equal((await offerOf(await shop.product({ priceMinor: 500, currency: 'JPY' }))).offers.price, '500')
  const chosen = (await offerOf(await shop.product({ priceMinor: 500, payWhatYouWant: true }))).offers
  assert.deepEqual(chosen.priceSpecification, { '@type': 'PriceSpecification', minPrice: '5.00', priceCurrency: 'USD' })
})

test('no text of a seller ends the data of the hosted page early', async () => {
  for (const text of ['</script><script>alert(1)</script>', '<!--<script>', ']]>', '$& $` $1', '\u2028 "quoted" \\']) {
    const offer = await offerOf(await shared().product({ name: text, description: text }))
    assert.deepEqual([offer.name, offer.description], [text, text])
  }
})
