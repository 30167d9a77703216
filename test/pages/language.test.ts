import assert from 'node:assert/strict'
import { test } from 'node:test'
import { de } from '../../src/words/de.ts'
import { fr } from '../../src/words/fr.ts'
import { he } from '../../src/words/he.ts'
import { sharedShop, startTestShop } from '../support/shop.ts'

const BUYERS_PAGES = ['/pay/', '/order/', '/charge/', '/withdraw/', '/library/']
const APP_URL = 'https://pay.shop.example'
const BASE_URL = 'https://api.shop.example'
const shared = sharedShop({ env: { APP_URL, BASE_URL, DEMO: '1' } })

interface Shown {
  status: number
  locale: string
  /** Of the page's element. */
  lang: string
  direction: string | undefined
  cookie: string | null
  vary: string
  html: string
}

async function show(address: string, headers: Record<string, string> = {}): Promise<Shown> {
  const answer = await shared().call<string>('GET', address, undefined, { accept: 'text/html', ...headers })
  const [, lang, direction] = /<html lang="([\w-]+)"(?: dir="(\w+)")?>/.exec(answer.body) ?? []
  return {
    status: answer.status,
    locale: answer.headers.get('content-language')!,
    lang: lang!,
    direction,
    cookie: answer.headers.get('set-cookie'),
    vary: answer.headers.get('vary')!,
    html: answer.body,
  }
}

const wordsOf = (html: string) =>
  JSON.parse(/<script type="application\/json" id="till-words"[^>]*>(.*?)<\/script>/s.exec(html)![1]!)

test('each page for buyers speaks the language of its address, else the chosen one, else the browser’s', async () => {
  for (const address of BUYERS_PAGES) {
    const said = async (query: string, headers: Record<string, string> = {}) => {
      const { status, locale, lang } = await show(address + query, headers)
      assert.equal(status, 200, address)
      assert.equal(lang, locale, address)
      return locale
    }
    const german = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' }
    assert.equal(await said(''), 'en')
    assert.equal(await said('', german), 'de')
    assert.equal(await said('', { ...german, cookie: '__Host-till_locale=ja' }), 'ja')
    assert.equal(await said('?locale=pt-PT', { ...german, cookie: '__Host-till_locale=ja' }), 'pt-BR')
  }
})

test('a language that there is none of changes nothing, and is not kept', async () => {
  for (const locale of ['xx', '', 'constructor', '__proto__', '../de', '<b>', 'd'.repeat(4000)]) {
    const page = await show(`/order/?locale=${encodeURIComponent(locale)}`, { 'accept-language': 'nl' })
    assert.deepEqual([page.status, page.locale, page.cookie], [200, 'nl', null], locale)
  }
  const twice = await show('/order/?locale=de&locale=fr')
  assert.deepEqual([twice.locale, twice.cookie], ['en', null])
  assert.equal((await show('/order/', { cookie: '__Host-till_locale=xx' })).locale, 'en')
})

test('only a choice sets a cookie, which holds the language and nothing else', async () => {
  assert.equal((await show('/pay/', { 'accept-language': 'de' })).cookie, null)
  const { cookie, vary } = await show('/pay/?locale=de')
  assert.match(cookie!, /^__Host-till_locale=de; /)
  for (const attribute of ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax', 'Max-Age=31536000'])
    assert.match(cookie!, new RegExp(`; ${attribute}(;|$)`, 'i'))
  assert.match(vary, /accept-language/i)
  assert.match(vary, /cookie/i)
})

test('the page sends one language: the texts of its scripts, and those outside of them', async () => {
  const french = await show('/order/?locale=fr')
  assert.deepEqual(Object.keys(wordsOf(french.html)).sort(), ['address', 'code', 'invoice', 'order', 'site', 'ui'])
  assert.equal(wordsOf(french.html).order.paid, fr.order.paid)
  assert.ok(french.html.includes(`>${fr.site.signIn}<`))
  assert.doesNotMatch(french.html, /Sign in|turn on JavaScript/)
  const hebrew = await show('/charge/?locale=he')
  assert.equal(hebrew.direction, 'rtl')
  assert.ok(hebrew.html.includes(`<title data-w="charge.pageTitle">${he.charge.pageTitle}</title>`))
  assert.equal((await show('/charge/?locale=de')).direction, undefined)
})

test('the hosted page has its product and the same security policy in every language', async () => {
  const productId = await shared().product({ name: 'Café & <b>', priceMinor: 900, currency: 'EUR' })
  const address = `/pay/?product=${productId}`
  const german = await show(`${address}&locale=de`)
  assert.ok(german.html.includes('<title>Café &amp; &lt;b&gt;</title>'))
  assert.equal(wordsOf(german.html).pay.toPayment, de.pay.toPayment)
  const policyOf = async (query: string) =>
    (await shared().call('GET', `${address}${query}`)).headers.get('content-security-policy')
  assert.equal(await policyOf('&locale=de'), await policyOf(''))
})

test('a product that is not for sale says so in the buyer’s language', async () => {
  const page = await show('/pay/?product=prod_00000000000000000000000000&locale=de')
  assert.equal(page.status, 404)
  assert.equal(wordsOf(page.html).pay.toPayment, de.pay.toPayment)
})

test('without https the cookie has no prefix that browsers accept with https only', async (t) => {
  const shop = await startTestShop(t)
  const { headers } = await shop.call('GET', '/order/?locale=de', undefined, { accept: 'text/html' })
  assert.match(headers.get('set-cookie')!, /^till_locale=de; /)
  assert.doesNotMatch(headers.get('set-cookie')!, /secure/i)
})
