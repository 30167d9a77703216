import type { Page } from '@playwright/test'
import sharp from 'sharp'
import { de } from '../../src/words/de.ts'
import { payButton, payByCard, requestsTo } from './buyer.ts'
import { SIZES, expect, expectFine, test } from './fixtures.ts'
import { signUp } from './seller.ts'

// A seller sets the brand on the account page. Buyers see it on the payment page, on the order's page and in the library.

const POLICY = 'Thirty days, no questions asked.'

/** A product for sale of the seller who is signed in. */
async function newProduct(page: Page): Promise<string> {
  const origin = new URL(page.url()).origin
  const call = async (method: string, path: string, data: unknown, type = 'application/json') => {
    const response = await page.request.fetch(`/api/products${path}`, {
      method,
      data,
      headers: { origin, 'content-type': type },
    })
    expect(response.ok(), await response.text()).toBe(true)
    return (await response.json()) as { id: string }
  }
  const { id } = await call('POST', '', { name: 'Letters from the sea', amount: 1900, currency: 'USD' })
  await call('POST', `/${id}/files?name=letters.pdf`, Buffer.from('letters'), 'application/octet-stream')
  await call('PATCH', `/${id}`, { status: 'active' })
  return id
}

async function uploadLogo(page: Page): Promise<void> {
  const buffer = await sharp({ create: { width: 600, height: 200, channels: 4, background: '#7a1fa2' } })
    .png()
    .toBuffer()
  await page.getByLabel('Logo to upload').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer })
  await expect(page.getByText('The logo is saved.')).toBeVisible()
}

async function setBrand(page: Page): Promise<void> {
  await uploadLogo(page)
  await page.getByLabel('Colour', { exact: true }).fill('#7a1fa2')
  await page.getByLabel('Your terms').fill('https://shop.example/terms')
  await page.getByLabel('Your privacy notice').fill('https://shop.example/privacy')
  await page.getByLabel('Refund policy').fill(POLICY)
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect(page.getByText('Saved. Buyers see it from now on.')).toBeVisible()
}

test('a wrong colour and a wrong link are named at their fields, and what was typed stays', async ({ page }) => {
  await signUp(page)
  await page.getByLabel('Colour', { exact: true }).fill('purple')
  await page.getByLabel('Your terms').fill('shop.example/terms')
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect(page.getByLabel('Colour', { exact: true })).toHaveAccessibleDescription(
    /Enter a colour such as #0a6248\./,
  )
  await expect(page.getByLabel('Your terms')).toHaveAccessibleDescription(/begins with https/)
  await expect(page.getByLabel('Colour', { exact: true })).toBeFocused()
  await expect(page.getByLabel('Your terms')).toHaveValue('shop.example/terms')
})

test('a save leaves alone what another tab has changed since', async ({ page, context }) => {
  await signUp(page)
  const colour = page.getByLabel('Colour', { exact: true })
  await expect(colour).toHaveValue('')
  const origin = new URL(page.url()).origin
  const brand = async (method: string, data?: object) => {
    const response = await context.request.fetch('/api/brand', { method, data, headers: { origin } })
    expect(response.ok(), await response.text()).toBe(true)
    return (await response.json()) as object
  }
  await brand('PATCH', { refundPolicy: POLICY, asksConsent: true })
  await colour.fill('#7a1fa2')
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect(page.getByText('Saved. Buyers see it from now on.')).toBeVisible()
  expect(await brand('GET')).toMatchObject({ accent: '#7a1fa2', refundPolicy: POLICY, asksConsent: true })
  await expect(page.getByLabel('Refund policy')).toHaveValue(POLICY)
  await expect(page.getByLabel(/^Ask buyers to agree/)).toBeChecked()
  await colour.fill('')
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect.poll(() => brand('GET')).not.toHaveProperty('accent')
  expect(await brand('GET')).toMatchObject({ refundPolicy: POLICY, asksConsent: true })
})

test('what another tab has saved counts as nothing typed here', async ({ page, context }) => {
  await signUp(page)
  await expect(page.getByLabel('Refund policy')).toHaveValue('')
  const headers = { origin: new URL(page.url()).origin }
  const saved = await context.request.patch('/api/brand', { data: { refundPolicy: POLICY }, headers })
  expect(saved.ok(), await saved.text()).toBe(true)
  await uploadLogo(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()
})

test('buyers see the seller’s logo, colour, links and policy', async ({ page, browser }) => {
  await signUp(page)
  await setBrand(page)
  await expectFine(page, 'account')
  const product = await newProduct(page)
  const buyer = await browser.newContext({ ...SIZES.phone, baseURL: new URL(page.url()).origin })
  const shop = await buyer.newPage()
  await shop.goto(`/pay/?product=${product}`)
  await expect(shop.locator('.seller img.logo')).toBeVisible()
  expect(await shop.locator('.seller img.logo').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(400)
  const terms = shop.getByRole('link', { name: 'Terms, ' })
  await expect(terms).toHaveAttribute('href', 'https://shop.example/terms')
  await expect(terms).toHaveAttribute('rel', 'noopener')
  await shop.getByText('Refund policy').click()
  await expect(shop.getByText(POLICY)).toBeVisible()
  await expect(payButton(shop)).toHaveCSS('background-color', 'rgb(122, 31, 162)')
  await expectFine(shop, 'pay')
  await shop.getByLabel('E-mail').fill('bob@example.com')
  await payByCard(shop)
  await expect(shop.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await shop.getByRole('link', { name: 'View your order' }).click()
  await expect(shop.locator('.bar img.logo')).toBeVisible()
  await expect(shop).toHaveTitle(/ · New seller$/)
  await expect(shop.locator('.bar')).not.toContainText('Till')
  await expect(shop.locator('.foot > p')).toHaveText('Checkout by Till')
  await expect(shop.getByRole('link', { name: 'Privacy, ' })).toHaveAttribute('href', 'https://shop.example/privacy')
  await expectFine(shop, 'order')
  await buyer.close()
})

test('where the seller asks, buyers tick a box for each statement, in their language', async ({ page, browser }) => {
  await signUp(page)
  await page.getByLabel(/^Ask buyers to agree/).check()
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect(page.getByText('Saved. Buyers see it from now on.')).toBeVisible()
  await page.reload()
  await expect(page.getByLabel(/^Ask buyers to agree/)).toBeChecked()
  const product = await newProduct(page)
  const context = await browser.newContext({ ...SIZES.phone, locale: 'de-AT', baseURL: new URL(page.url()).origin })
  const buyer = await context.newPage()
  await buyer.goto(`/pay/?product=${product}`)
  const boxes = buyer.getByRole('group', { name: de.pay.yourConsent }).getByRole('checkbox')
  await expect(boxes).toHaveCount(2)
  for (const box of await boxes.all()) await expect(box).not.toBeChecked()
  await buyer.getByLabel(de.ui.email).fill('bob@example.com')
  await payByCard(buyer, { button: / bezahlen$/ })
  await expect(buyer.getByRole('alert')).toHaveText(de.pay.consentMissing)
  await expect(boxes.first()).toBeFocused()
  await expectFine(buyer, 'consent that is missing')
  await buyer.keyboard.press('Space')
  await buyer.getByLabel(/Widerrufsrecht verliere/).check()
  await expect(buyer.getByRole('button', { name: /19,00.* bezahlen$/ })).toBeVisible()
  await payByCard(buyer, { button: / bezahlen$/ })
  await expect(buyer.getByRole('heading', { name: de.pay.paidYours })).toBeVisible()
  await context.close()
})

test('where the seller begins to ask while the page is open, the page comes again with the boxes and the typed text', async ({
  page,
  browser,
}) => {
  await signUp(page)
  const product = await newProduct(page)
  const context = await browser.newContext({ ...SIZES.phone, baseURL: new URL(page.url()).origin })
  const buyer = await context.newPage()
  let sent = 0
  buyer.on(
    'request',
    (request) => (sent += Number(request.method() === 'POST' && request.url().endsWith('/api/checkout'))),
  )
  await buyer.goto(`/pay/?product=${product}`)
  await expect(payButton(buyer)).toBeVisible()
  await page.getByLabel(/^Ask buyers to agree/).check()
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect(page.getByText('Saved. Buyers see it from now on.')).toBeVisible()
  await buyer.getByLabel('E-mail').fill('bob@example.com')
  await payByCard(buyer)
  const boxes = buyer.getByRole('group', { name: 'Your consent' }).getByRole('checkbox')
  await expect(boxes).toHaveCount(2)
  await expect(buyer.getByLabel('E-mail')).toHaveValue('bob@example.com')
  await expect(buyer.getByRole('alert')).toHaveCount(0)
  expect(sent).toBe(1)
  for (const box of await boxes.all()) await box.check()
  await payByCard(buyer)
  await expect(buyer.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  expect(sent).toBe(2)
  await context.close()
})

test('a box that is unticked while the order is being made takes the press back', async ({ page, browser }) => {
  await signUp(page)
  await page.getByLabel(/^Ask buyers to agree/).check()
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect(page.getByText('Saved. Buyers see it from now on.')).toBeVisible()
  const product = await newProduct(page)
  const context = await browser.newContext({ baseURL: new URL(page.url()).origin })
  const buyer = await context.newPage()
  const attempts = requestsTo(buyer, /^\/api\/sandbox\//)
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  await buyer.route('**/api/checkout', async (route) => {
    await held
    await route.continue()
  })
  await buyer.goto(`/pay/?product=${product}`)
  await buyer.getByLabel('E-mail').fill('bob@example.com')
  for (const box of await buyer.getByRole('checkbox').all()) await box.check()
  const [asked, answer] = [buyer.waitForRequest('**/api/checkout'), buyer.waitForResponse('**/api/checkout')]
  await payByCard(buyer)
  await asked
  await buyer.getByRole('checkbox').first().uncheck()
  goOn()
  await answer
  await expect(payButton(buyer)).toBeVisible()
  expect(attempts).toHaveLength(0)
  await payButton(buyer).click()
  await expect(buyer.getByRole('checkbox').first()).toBeFocused()
  await buyer.getByRole('checkbox').first().check()
  await payButton(buyer).click()
  await expect(buyer.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await context.close()
})
