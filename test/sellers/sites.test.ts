import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { isOnSites, siteHost, sourceOf } from '../../src/sellers/sites.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { type Browser, newBrowser, newMailbox } from '../support/seller.ts'
import { assertProblem, sharedShop } from '../support/shop.ts'

const shared = sharedShop()

async function newSeller(): Promise<Browser> {
  const email = newMailbox()
  await ensureSeller(shared().db, { name: 'Eve', email })
  const browser = newBrowser(shared())
  await browser.signInByCode(email)
  return browser
}

const put = (browser: Browser, host: string) => browser.call('PUT', `/api/sites/${encodeURIComponent(host)}`)
const remove = (browser: Browser, host: string) => browser.call('DELETE', `/api/sites/${encodeURIComponent(host)}`)
const hosts = async (browser: Browser): Promise<string[]> =>
  (await browser.call('GET', '/api/sites')).body.items.map(({ host }: { host: string }) => host)

const NOT_SITES = [
  'https://shop.example',
  'shop.example/path',
  'shop.example?x',
  'user@shop.example',
  'shop',
  '192.0.2.1',
  '[::1]',
  '*',
  '*.example',
  '*.localhost',
  '*.co.uk',
  '*.github.io',
  '*.*.shop.example',
  'a*.shop.example',
  'shop.example:0x50',
  'shop.example:99999',
  'shop example',
  'shop.example;script-src',
  "shop.example 'self'",
  '-shop.example',
  'shop..example',
  'x'.repeat(64) + '.example',
]

test('without a session nobody reads or changes sites', async () => {
  const { call } = shared()
  assertProblem(await call('GET', '/api/sites'), 401, 'not_signed_in')
  assertProblem(await call('PUT', '/api/sites/shop.example'), 401, 'not_signed_in')
  assertProblem(await call('DELETE', '/api/sites/shop.example'), 401, 'not_signed_in')
})

test('only a host is a site, and a wildcard stays below a domain of one owner', async () => {
  const eve = await newSeller()
  for (const host of NOT_SITES) assertProblem(await put(eve, host), 422, 'site_not_valid')
  assert.deepEqual(await hosts(eve), [])
})

test('a site is stored once, in the form that browsers send', async () => {
  const eve = await newSeller()
  for (const host of [
    'Shop.Example',
    'shop.example',
    'shop.example:443',
    'bücher.example',
    '*.Shop.example',
    'localhost:3000',
  ])
    assert.equal((await put(eve, host)).status, 200, host)
  assert.deepEqual(await hosts(eve), ['*.shop.example', 'localhost:3000', 'shop.example', 'xn--bcher-kva.example'])
})

test('each seller has sites of their own, and removes only those', async () => {
  const [ann, eve] = await Promise.all([newSeller(), newSeller()])
  await put(ann, 'ann.example')
  assertProblem(await remove(eve, 'ann.example'), 404, 'site_not_found')
  assert.deepEqual(await hosts(ann), ['ann.example'])
  assert.deepEqual(await hosts(eve), [])
  assert.equal((await remove(ann, 'ANN.example')).status, 204)
  assertProblem(await remove(ann, 'ann.example'), 404, 'site_not_found')
})

test('a wildcard can be removed after many owners got names below it', async () => {
  const eve = await newSeller()
  await put(eve, '*.pages.example')
  await sql`update sites set host = '*.github.io' where host = '*.pages.example'`.execute(shared().db)
  assert.deepEqual(await hosts(eve), ['*.github.io'])
  assert.equal((await remove(eve, '*.GitHub.io')).status, 204)
  assert.deepEqual(await hosts(eve), [])
})

test('a seller has at most 20 sites, also when all are added at once', async () => {
  const eve = await newSeller()
  const answers = await Promise.all(Array.from({ length: 25 }, (_, n) => put(eve, `s${n}.shop.example`)))
  const refused = answers.filter(({ status }) => status !== 200)
  assert.equal(refused.length, 5)
  for (const answer of refused) assertProblem(answer, 409, 'too_many_sites')
  assert.equal((await hosts(eve)).length, 20)
  assert.equal((await put(eve, (await hosts(eve))[0]!)).status, 200, 'a site that is there already')
})

test('an address lies on a site only with the same scheme, host and port', () => {
  const sites = ['shop.example', '*.wild.example', 'port.example:8443', 'localhost:3000']
  for (const good of [
    'https://shop.example',
    'https://SHOP.example:443/a?b#c',
    'https://a.wild.example/',
    'https://a.b.wild.example/',
    'https://port.example:8443/',
    'http://localhost:3000/thanks',
  ])
    assert(isOnSites(sites, good), good)
  for (const bad of [
    'http://shop.example',
    'https://shop.example.evil.test',
    'https://shop.example:8443',
    'https://evilshop.example',
    'https://shop.example@evil.test/',
    'https://me:pw@shop.example/',
    'https://evil.test/https://shop.example',
    'https://wild.example',
    'https://evilwild.example',
    'https://.wild.example',
    'http://a.wild.example',
    'https://localhost:3000',
    'http://localhost',
    'http://localhost:30001',
    '//shop.example',
    '/shop.example',
    'javascript:alert(1)//shop.example',
    'data:text/html,shop.example',
    'https:\\\\evil.test\\shop.example',
    '',
  ])
    assert(!isOnSites(sites, bad), bad)
})

test('a site stands in a policy with its scheme', async () => {
  assert.equal(sourceOf(siteHost('*.shop.example')), 'https://*.shop.example')
  assert.equal(sourceOf(siteHost('localhost:3000')), 'http://localhost:3000')
  assert.equal(sourceOf(siteHost('127.0.0.1')), 'http://127.0.0.1')
})
