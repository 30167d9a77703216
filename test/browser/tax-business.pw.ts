import path from 'node:path'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { findEmbedded } from '../../src/kit/embedded.ts'
import { de } from '../../src/words/de.ts'
import { startVies } from '../stand-ins/vies.ts'
import { fillCard, newEmail, payButton, requestsTo } from './buyer.ts'
import { SIZES, expect, expectAccessible, expectFine, expectFits, test } from './fixtures.ts'
import { askCode, codeField, codeFor, newSellerEmail } from './seller.ts'
import { type Service, startService } from './service.ts'
import { loadRates, newProduct, picture, saveProfile } from './tax-seller.ts'

// A business in another EU country than the seller gives its VAT number on the payment page.

// One service and one register for all of these, because each start makes a database.
test.describe.configure({ mode: 'serial' })
let service: Service
let database: pg.Client
let vies: Awaited<ReturnType<typeof startVies>>
let productId: string
const ends: (() => unknown)[] = []

test.beforeAll(async ({ browser }) => {
  vies = await startVies({ after: (end) => void ends.push(end) })
  service = await startService({ VIES_URL: vies.url, COUNTRY_HEADER: 'x-country', TRUST_PROXY: 'loopback' })
  ends.push(service.stop)
  database = new pg.Client({ connectionString: findEmbedded(path.join(service.dataDir, 'postgres')) })
  await database.connect()
  ends.push(() => database.end())
  loadRates(service.dataDir)
  const context = await browser.newContext({ baseURL: service.url })
  const page = await context.newPage()
  const email = newSellerEmail()
  await page.goto('/sign-in/')
  await askCode(page, email)
  await codeField(page).fill(await codeFor(page, email, 1, service.url))
  await expect(page).toHaveURL(/\/(shop|account)\//)
  productId = await newProduct(page)
  await saveProfile(page, 'exclusive')
  const seller = { name: 'Ann Books GmbH', address: ['Musterstraße 12'], postcode: '10115', city: 'Berlin', country: 'DE', taxIds: [] } // oxfmt-ignore
  const put = await page.request.put('/api/invoice-profile', { data: { on: true, ...seller }, headers: { origin: service.url } }) // oxfmt-ignore
  expect(put.status(), await put.text()).toBe(200)
  await context.close()
})
test.afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})
test.beforeEach(({ watch }) => {
  watch.allow(service.url)
  vies.state.weather = 'valid'
})

/** A buyer in France on the payment page, and the orders that the page asks for. */
async function newBuyer(page: Page) {
  const orders: { taxId?: string; key: string | undefined }[] = []
  page.on('request', (request) => {
    if (request.method() !== 'POST' || !request.url().endsWith('/api/checkout')) return
    const { taxId } = request.postDataJSON() as { taxId?: string }
    orders.push({ ...(taxId && { taxId }), key: request.headers()['idempotency-key'] })
  })
  await page.goto(`${service.url}/pay/?product=${productId}`)
  await page.getByLabel('E-mail').fill(newEmail())
  await page.getByLabel('Your country').selectOption('FR')
  await expect(payButton(page)).toHaveText('Pay €12.00')
  return { orders, vatId: page.getByLabel('VAT number', { exact: true }) }
}
const open = (page: Page) => page.getByText('Buying for a business?').click()

test('pays no tax with a number that VIES knows, and the order says reverse charge', async ({ browser }) => {
  const context = await browser.newContext({ ...SIZES.phone, locale: 'de-DE', baseURL: service.url })
  const page = await context.newPage()
  await page.goto(`/pay/?product=${productId}`)
  await page.getByLabel(de.ui.email).fill(newEmail())
  const fold = page.getByText(de.pay.forBusiness)
  await page.getByLabel(de.pay.yourCountry).selectOption('DE')
  await expect(page.locator('.summary')).toContainText('11,90')
  await expect(fold, 'in the seller’s country').toHaveCount(0)
  await page.getByLabel(de.pay.yourCountry).selectOption('FR')
  await expect(page.locator('.summary')).toContainText('12,00')
  await fold.focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  const vatId = page.getByLabel(de.pay.vatId, { exact: true })
  await expect(vatId).toBeFocused()
  await page.keyboard.type('fr 40 303 265 045')
  await page.keyboard.press('Tab')
  await expect(vatId).toHaveAccessibleDescription(`${de.pay.vatIdValid} ${de.pay.vatIdHint}`)
  await expect(page.locator('.summary')).toContainText('10,00')
  await expect(page.locator('.summary')).not.toContainText('MwSt.')
  await expectFine(page, 'pay')
  await picture(page, 'business')
  await fillCard(page, '4242424242424242')
  await expect(page.locator('.pay-bar button')).toContainText('10,00')
  await page.locator('.pay-bar button').click()
  await expect(page.getByRole('link', { name: new RegExp(`^${de.ui.download} `) })).toBeVisible()
  await page.goto((await page.locator('a[href*="/order/?order="]').first().getAttribute('href'))!)
  await expect(page.locator('.slip')).toContainText('FR40303265045')
  await expect(page.locator('.slip')).toContainText(de.invoice.reverseCharge)
  await page.getByText(de.invoice.addTitle).click()
  await expect(page.getByLabel(de.invoice.country, { exact: true })).toHaveValue('FR')
  await expect(page.getByLabel(de.invoice.taxIdOptional)).toHaveValue('FR40303265045')
  await picture(page, 'business-order')
  await context.close()
}) // oxfmt-ignore

test('reads at the field what is wrong with the number, and loses nothing', async ({ page }) => {
  const { orders, vatId } = await newBuyer(page)
  await open(page)
  await vatId.fill('FR40303265046')
  await fillCard(page, '4242424242424242')
  await expect(vatId).toHaveAccessibleDescription(
    /This cannot be a VAT number of this country: France\. Please check each character\./,
  )
  await expectAccessible(page, 'pay')
  await payButton(page).click()
  await expect(vatId).toBeFocused()
  await expect(page.getByRole('alert')).toContainText('You can also pay with VAT now.')
  await expect(payButton(page)).toHaveText('Pay €12.00')
  await picture(page, 'business-wrong')
  vies.state.weather = 'invalid'
  await vatId.fill('FR23334175221')
  await vatId.press('Enter')
  await expect(page.getByRole('alert')).toContainText('(VIES) does not know this number')
  vies.state.weather = 'valid'
  await vatId.fill('FR40303265045')
  await vatId.press('Enter')
  await expect(payButton(page)).toHaveText('Pay €10.00')
  await expect(page.getByRole('alert')).toHaveCount(0)
  expect(orders).toEqual([])
  await payButton(page).click()
  await expect(page.getByRole('link', { name: /^Download / })).toBeVisible()
  expect(orders.map(({ taxId }) => taxId)).toEqual(['FR40303265045'])
})

test('pays with tax while VIES is away, once the number is removed', async ({ page }) => {
  vies.state.weather = 'away'
  const { orders, vatId } = await newBuyer(page)
  await open(page)
  await vatId.fill('FR23334175221')
  // the price is read before there is an order
  await payButton(page).click()
  await expect(vatId).toHaveAccessibleDescription(/The EU’s register \(VIES\) does not answer right now/)
  await expectFits(page, 'pay')
  await picture(page, 'business-away')
  expect(orders).toEqual([])
  await page.getByRole('button', { name: 'Remove the number and pay with VAT' }).click()
  await expect(vatId).toBeFocused()
  await expect(vatId).toHaveValue('')
  await fillCard(page, '4242424242424242')
  await payButton(page).click()
  await expect(page.getByRole('link', { name: /^Download / })).toBeVisible()
  await expect(page.locator('.lines')).toContainText('20% VAT (FR)')
  expect(orders.map(({ taxId }) => taxId)).toEqual([undefined])
})

test('gets another order with another number, the same one after a reload, and reads a refusal of the order at the field', async ({ page }) => {
  const { orders, vatId } = await newBuyer(page)
  await open(page)
  await vatId.fill('FR40303265045')
  await vatId.press('Enter')
  await expect(payButton(page)).toHaveText('Pay €10.00')
  await fillCard(page, '4000000000000002')
  await payButton(page).click()
  await expect(page.getByRole('alert')).toContainText(/declined/i)
  await page.reload()
  await expect(vatId).toHaveValue('FR40303265045')
  await expect(page.getByText('Reverse charge: the price has no VAT.')).toBeVisible()
  await expect(payButton(page)).toHaveText('Pay €10.00')
  await vatId.fill('')
  await expect(payButton(page)).toHaveText('Pay €12.00')
  await fillCard(page, '4000000000000002')
  await payButton(page).click()
  await expect(page.getByRole('alert')).toContainText(/declined/i)
  await expect.poll(() => new Set(orders.map(({ key }) => key)).size).toBe(2)
  const keys = new Map(orders.map(({ taxId, key }) => [key, taxId]))
  expect([...keys.values()]).toEqual(['FR40303265045', undefined])
  // the register changes its mind between the price and the order
  await open(page)
  await vatId.fill('FR40303265045')
  await vatId.press('Enter')
  await expect(payButton(page)).toHaveText('Pay €10.00')
  vies.state.weather = 'invalid'
  await database.query('delete from vies_answers')
  await fillCard(page, '4242424242424242')
  await payButton(page).click()
  await expect(vatId).toBeFocused()
  await expect(page.getByRole('alert')).toContainText('(VIES) does not know this number')
  await expect(payButton(page)).toHaveText('Pay €12.00')
}) // oxfmt-ignore

test('keeps another country and number in another language than those of the order that waits', async ({ page }) => {
  const { vatId } = await newBuyer(page)
  await open(page)
  await vatId.fill('FR40303265045')
  await vatId.press('Enter')
  await expect(payButton(page)).toHaveText('Pay €10.00')
  await fillCard(page, '4000000000000002')
  await payButton(page).click()
  await expect(page.getByRole('alert')).toContainText(/declined/i)
  // the order keeps its price while the register is away
  vies.state.weather = 'away'
  await database.query('delete from vies_answers')
  await page.reload()
  await expect(vatId).toHaveAccessibleDescription(/does not answer right now/)
  await expect(payButton(page)).toHaveText('Pay €10.00')
  await fillCard(page, '4000000000000002')
  await payButton(page).click()
  await expect(page.getByRole('alert').first()).toContainText(/declined/i)
  await vatId.fill('')
  for (const [code, country] of [['FR', 'FR'], ['DE', 'DE']] as const) {
    await page.locator('#country').selectOption(code)
    await page.locator('.language select').selectOption('de')
    await expect(page.locator('#email')).toHaveAccessibleName(de.ui.email)
    await expect(page.locator('#country')).toHaveValue(country)
    if (code === 'FR') await expect(page.locator('#vat-id')).toHaveValue('')
    await expect(page.locator('.pay-bar button')).toContainText(code === 'FR' ? '12,00' : '11,90')
    await page.locator('.language select').selectOption('en')
    await expect(payButton(page)).toBeVisible()
  }
}) // oxfmt-ignore

test('buys another copy at the price with tax, until the number is given again', async ({ page }) => {
  await page.setExtraHTTPHeaders({ 'x-country': 'FR' })
  const { orders, vatId } = await newBuyer(page)
  await open(page)
  await vatId.fill('FR40303265045')
  await vatId.press('Enter')
  await expect(payButton(page)).toHaveText('Pay €10.00')
  await fillCard(page, '4242424242424242')
  await payButton(page).click()
  await expect(page.locator('.lines')).toContainText('€10.00')
  await page.getByRole('button', { name: 'Buy another copy' }).click()
  await expect(page.getByLabel('Your country')).toHaveValue('FR')
  await expect(payButton(page)).toHaveText('Pay €12.00')
  await page.getByLabel('E-mail').fill(newEmail())
  await fillCard(page, '4242424242424242')
  await payButton(page).click()
  await expect(page.getByRole('link', { name: /^Download / })).toBeVisible()
  await expect(page.locator('.lines')).toContainText('€12.00')
  expect(orders.map(({ taxId }) => taxId)).toEqual(['FR40303265045', undefined])
})

test('a country that is changed while the order is being made takes the press back', async ({ page }) => {
  const attempts = requestsTo(page, /^\/api\/sandbox\//)
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  await page.route('**/api/checkout', async (route) => {
    await held
    await route.continue()
  })
  await newBuyer(page)
  await fillCard(page, '4242424242424242')
  const [asked, answer] = [page.waitForRequest('**/api/checkout'), page.waitForResponse('**/api/checkout')]
  await payButton(page).click()
  await asked
  await page.getByLabel('Your country').selectOption('DE')
  goOn()
  await answer
  await expect(payButton(page)).toHaveText('Pay €11.90')
  expect(attempts).toHaveLength(0)
  await payButton(page).click()
  await expect(page.locator('.lines')).toContainText('19% VAT (DE)')
})

test('confirms the country when the network has moved to another one since the page was opened', async ({ page }) => {
  await page.setExtraHTTPHeaders({ 'x-country': 'FR' })
  await newBuyer(page)
  await fillCard(page, '4242424242424242')
  await page.setExtraHTTPHeaders({ 'x-country': 'DE' })
  await payButton(page).click()
  const country = page.getByLabel('Your country')
  await expect(country).toHaveAccessibleDescription(
    'Your connection seems to come from: Germany. If France is right, press again.',
  )
  await expect(country).toBeFocused()
  await expect(page.getByRole('alert')).toHaveCount(1)
  await payButton(page).click()
  await expect(page.getByRole('link', { name: /^Download / })).toBeVisible()
  await expect(page.locator('.lines')).toContainText('20% VAT (FR)')
})

test('asks for the country in the buyer’s language where it cannot be read which one the service sees', async ({ page }) => {
  await page.setExtraHTTPHeaders({ 'x-country': 'FR' })
  await newBuyer(page)
  await page.locator('.language select').selectOption('de')
  await expect(page.getByLabel(de.pay.yourCountry)).toHaveValue('FR')
  await fillCard(page, '4242424242424242')
  await page.setExtraHTTPHeaders({ 'x-country': 'DE' })
  await page.route(/\/public\?.*country=FR/, (route) => route.abort())
  await page.locator('.pay-bar button').click()
  const country = page.getByLabel(de.pay.yourCountry)
  await expect(country).toHaveAccessibleDescription(de.pay.chooseCountry)
  await expect(country).toBeFocused()
}) // oxfmt-ignore

test('shows the total of the country that is chosen, also when the answer about another one comes late', async ({ page }) => {
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  await page.route(/\/public\?.*country=DE/, async (route) => {
    await held
    await route.continue()
  })
  await newBuyer(page)
  const country = page.getByLabel('Your country')
  const [asked, answer] = [page.waitForRequest(/country=DE/), page.waitForResponse(/country=DE/)]
  await country.selectOption('DE')
  await asked
  await country.selectOption('FR')
  goOn()
  await (await answer).finished()
  // the page has drawn what it got
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  await expect(payButton(page)).toHaveText('Pay €12.00')
  await country.selectOption('DE')
  await expect(payButton(page)).toHaveText('Pay €11.90')
}) // oxfmt-ignore

test('a company of Northern Ireland finds the United Kingdom chosen in the form of the invoice', async ({ page }) => {
  const email = newEmail()
  const data = { productId, email, country: 'GB', taxId: 'XI980780684' }
  const made = await page.request.post(`${service.url}/api/checkout`, { data })
  expect(made.status(), await made.text()).toBe(201)
  const { orderId, clientSecret } = (await made.json()) as { orderId: string; clientSecret: string }
  await page.request.post(`${service.url}/api/sandbox/confirm`, { data: { clientSecret, rail: 'card', scenario: 'success' } }) // oxfmt-ignore
  await page.goto(`${service.url}/order/?order=${orderId}`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Show the order' }).click()
  await page.getByText('Need an invoice for a company?').click()
  const invoices = page.getByRole('region', { name: 'Invoice' })
  await expect(invoices.getByLabel(/^Tax ID/)).toHaveValue('XI980780684')
  await expect(invoices.getByLabel('Country', { exact: true })).toHaveValue('GB')
})
