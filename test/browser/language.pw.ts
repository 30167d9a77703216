import { type Browser, type Page } from '@playwright/test'
import { renderMail } from '../../src/kit/mail-layout.ts'
import { ar } from '../../src/words/ar.ts'
import { de } from '../../src/words/de.ts'
import { fr } from '../../src/words/fr.ts'
import { ja } from '../../src/words/ja.ts'
import type { Catalogue } from '../../src/words/catalogues.ts'
import {
  fillCard,
  makeOrder,
  newEmail,
  payByCard,
  payWith,
  expectPaid,
  requestsTo,
  statusOf,
  translate,
} from './buyer.ts'
import { BASE_URL, DEMO_URL, SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'

const choice = (page: Page) => page.locator('.language select')

const buyerIn = async (browser: Browser, locale: string, size: keyof typeof SIZES = 'phone') =>
  (await browser.newContext({ ...SIZES[size], locale, baseURL: BASE_URL })).newPage()

/** The whole purchase on the hosted page, by the words of the language. */
async function buy(page: Page, words: Catalogue): Promise<{ email: string; orderId: string }> {
  const email = newEmail()
  await page.goto(DEMO_URL)
  await page.getByLabel(words.ui.email).fill(email)
  await payByCard(page, { button: new RegExp(words.pay.pay.replace('{price}', '.*')) })
  await expect(page.getByRole('link', { name: new RegExp(`^${words.ui.download} `) })).toHaveCount(3)
  const orderId = (await page.getByText(/^ord_[0-9a-z]{26}$/).first().textContent())! // oxfmt-ignore
  return { email, orderId }
}

for (const [locale, words] of [
  ['de-CH', de],
  ['ja', ja],
] as const)
  test(`a browser in ${locale} buys in its language, and all of it is in that language`, async ({ browser }) => {
    const page = await buyerIn(browser, locale)
    const { email, orderId } = await buy(page, words)
    await expect(page.locator('html')).toHaveAttribute('lang', locale.slice(0, 2))
    await expect(page.getByRole('heading', { name: words.pay.paidYours })).toBeVisible()
    expect((await statusOf(page, orderId, email)).status).toBe('paid')
    await page.goto(`/order/?order=${orderId}`)
    await expect(page.getByRole('heading', { name: words.order.paid })).toBeVisible()
    await expect(page.getByText(words.order.paidWith)).toBeVisible()
    await page.context().close()
  })

test('Arabic runs from right to left, fits the smallest phone, and everybody can use it', async ({ browser }) => {
  const page = await buyerIn(browser, 'ar')
  await page.setViewportSize({ width: 320, height: 640 })
  const look = async (what: string) => {
    await expect(page.locator('html')).toHaveAttribute('dir', 'rtl')
    await expectFits(page, what)
    await expectAccessible(page, what)
  }
  await page.goto(DEMO_URL)
  await look('the first step')
  // A name that is not Arabic runs in its own direction, and stands on the page's side, as the price does.
  const name = page.locator('.what h1 bdi')
  await expect(name).toHaveCSS('direction', 'ltr')
  const [box, place] = [await name.boundingBox(), await page.locator('.what').boundingBox()]
  expect(Math.abs(box!.x + box!.width - place!.x - place!.width), 'from its right side').toBeLessThan(2)
  const { email, orderId } = await buy(page, ar)
  await look('paid')
  for (const address of [`/order/?order=${orderId}`, '/charge/', '/library/', '/withdraw/', '/order/']) {
    await page.goto(address)
    await page.locator('#app h1').waitFor()
    await look(address)
  }
  // Text that is not Arabic stays in its own direction.
  await page.goto(`/order/?order=${orderId}`)
  await expect(page.getByText(email)).toBeVisible()
  await page.context().close()
})

test('a buyer chooses a language: the typed e-mail stays, and the next page and the next visit know it', async ({
  page,
}) => {
  const email = newEmail()
  const stored: string[] = []
  await page.exposeFunction('noteStored', (text: string) => stored.push(text))
  await page.addInitScript(() => {
    const { setItem } = Storage.prototype
    Storage.prototype.setItem = function (name, value) {
      void (globalThis as unknown as { noteStored: (text: string) => void }).noteStored(`${name} ${value}`)
      setItem.call(this, name, value)
    }
  })
  await page.goto(DEMO_URL)
  await page.getByLabel('E-mail').fill(email)
  await fillCard(page, '4242424242424242')
  await choice(page).selectOption('fr')
  await expect(page.getByRole('heading', { name: fr.pay.howToPay })).toBeVisible()
  await expect(page.getByLabel(fr.ui.email)).toHaveValue(email)
  expect(stored.join('\n')).toContain(email)
  expect(stored.join('\n')).not.toMatch(/4242 ?4242/)
  await expect(choice(page)).toHaveAccessibleName(fr.ui.language)
  await page.goto('/charge/')
  await expect(page.getByRole('heading', { name: fr.charge.title })).toBeVisible()
  await page.getByLabel(fr.charge.text).fill('TILL* QUIET')
  await page.getByLabel(fr.charge.amount).fill('4,99')
  await choice(page).selectOption('de')
  await expect(page.getByLabel(de.charge.text)).toHaveValue('TILL* QUIET')
  await expect(page.getByLabel(de.charge.amount)).toHaveValue('4,99')
  await page.goto(DEMO_URL)
  await expect(page.getByRole('heading', { name: de.pay.howToPay })).toBeVisible()
  await choice(page).selectOption('en')
  await expect(page.getByRole('heading', { name: 'How would you like to pay?' })).toBeVisible()
})

test('a page that the browser translates orders in its own language, in which the mails come', async ({ browser }) => {
  const page = await buyerIn(browser, 'de-CH')
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await page.goto(DEMO_URL)
  await translate(page)
  await page.locator('#email').fill(newEmail())
  await payByCard(page, { button: /49/ })
  await expect(page.getByRole('link', { name: new RegExp(`^${de.ui.download} `) })).toHaveCount(3)
  expect(orders.map((one) => one.headers()['accept-language'])).toEqual(['de'])
  await expect(choice(page)).toHaveValue('de')
  await page.context().close()
})

test('the sandbox’s card form is in the buyer’s language, as a real one would be', async ({ browser }) => {
  const page = await buyerIn(browser, 'de-CH')
  await page.goto(DEMO_URL)
  await expect(page.getByRole('radio', { name: de.ui.card, exact: true })).toHaveAccessibleDescription(
    de.pay.sandboxKinds,
  )
  await page.getByLabel(de.ui.email).fill(newEmail())
  await page.getByLabel(de.pay.sandboxNumber).fill('4111 1111 1111 1111')
  await page.getByLabel(de.pay.sandboxExpiry).fill('01 / 20')
  await page.locator('form button[type=submit]').click()
  for (const [field, text] of [
    [de.pay.sandboxNumber, de.pay.sandboxOtherNumber],
    [de.pay.sandboxExpiry, de.pay.sandboxOver],
    [de.pay.sandboxCode, de.pay.sandboxNoCode],
  ] as const)
    await expect(page.getByLabel(field)).toHaveAccessibleDescription(text)
  await expect(page.getByText(de.pay.sandboxTitle)).toBeVisible()
  await page.context().close()
})

test('a language that is chosen in the middle of a payment keeps the order', async ({ page }) => {
  const { email, orderId } = await makeOrder(page)
  await choice(page).selectOption('de')
  await expect(page.getByRole('heading', { name: de.pay.howToPay })).toBeVisible()
  await expect(page.getByText(orderId).first()).toBeVisible()
  await choice(page).selectOption('en')
  await payWith(page)
  await expectPaid(page)
  expect((await statusOf(page, orderId, email)).status).toBe('paid')
})

test('a refusal of the service is said in the buyer’s language', async ({ browser }) => {
  const page = await buyerIn(browser, 'de')
  for (const [status, code, text] of [
    [409, 'shop_not_open', de.ui.shopNotOpen],
    // a setting of the seller has changed since the page was opened
    [422, 'country_unconfirmed', de.ui.notAccepted],
  ] as const) {
    await page.unroute('**/api/checkout')
    await page.route('**/api/checkout', (route) => route.fulfill({ status, json: { code, detail: 'In English.' } }))
    await page.goto(DEMO_URL)
    await page.getByLabel(de.ui.email).fill(newEmail())
    await payByCard(page, { button: / bezahlen$/ })
    await expect(page.getByRole('alert')).toContainText(text)
  }
  await page.context().close()
})

/** Texts half as long again, as German or Finnish would be, with marks at both ends that show a text that is cut off. */
test('with texts half as long again nothing is wider than a phone, and nothing is cut off', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 })
  const more = (length: number) => 'ẽẽẽẽẽẽẽ '.repeat(Math.ceil(length / 8)).slice(0, length)
  const lengthen = (text: string) => `⟦${text} ${more(Math.ceil(text.replace(/\{\w+\}/g, '').length / 2))}⟧`
  await page.route(/\/(pay|order|charge|library|withdraw)\/(\?|$)/, async (route) => {
    const response = await route.fetch()
    const html = await response.text()
    const body = html.replace(/(id="till-words"[^>]*>)(.*?)(<\/script>)/s, (_, start: string, json: string, end: string) => {
      const words = JSON.parse(json, (_key, value: unknown) => (typeof value === 'string' ? lengthen(value) : value))
      return `${start}${JSON.stringify(words).replaceAll('<', '\\u003c')}${end}`
    }) // oxfmt-ignore
    await route.fulfill({ response, body })
  })
  await page.goto(DEMO_URL)
  await expect(page.locator('form button[type=submit]')).toHaveText(/⟦.*⟧$/)
  await expectFits(page, 'the screen')
  await page.locator('#email').fill('nobody')
  await page.locator('form button[type=submit]').click()
  await expectFits(page, 'a refused address')
  await page.locator('#email').fill(newEmail())
  await payByCard(page, { button: /499/ })
  await expect(page.locator('a[download], a[href*="/api/download"]').first()).toBeVisible()
  await expectFits(page, 'paid')
  for (const address of ['/order/', '/charge/', '/library/', '/withdraw/']) {
    await page.goto(address)
    await page.locator('#app h1').waitFor()
    await expectFits(page, address)
  }
})

test('a mail is no wider than the smallest phone, and its labels stay whole', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 700 })
  const url = `https://shop.example/order/?order=ord_01m89r2apd1m5sk7tcqx81gja3&locale=ja#t=${'Zd4'.repeat(14)}`
  const facts: [string, string][] = [
    ['支払い方法', 'カード'],
    ['注文番号', '0NG1-KJ7A (ord_01m89r4fwk9rpp88yy0ng1kj7a)'],
    ['同意いただいた内容', '撤回期間が終わる前に、ファイルをすぐに受け取ることに明示的に同意します。'],
  ]
  for (const locale of ['ja', 'ar'] as const) {
    const language = { locale, buttonFails: '{url}' }
    const lines = { subject: 'x', title: 'x', text: 'x', button: { label: 'x', url }, facts, language }
    await page.setContent(renderMail(lines).html)
    await expectFits(page, locale)
    const height = await page
      .locator('td')
      .first()
      .evaluate((cell) => cell.clientHeight)
    expect(height, 'a label of one line').toBeLessThan(40)
  }
})
