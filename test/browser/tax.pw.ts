import { de } from '../../src/words/de.ts'
import { fillCard, newEmail, payButton, payWith } from './buyer.ts'
import { SIZES, expect, expectFine, expectFits, test } from './fixtures.ts'
import { signUp } from './seller.ts'
import { loadRates, newProduct, picture, saveProfile } from './tax-seller.ts'

// A seller says how tax is charged, buyers see it before they pay, and the seller reads the report. The operator has loaded the rates.

test.beforeAll(() => loadRates(process.env.SERVICE_DATA_DIR))

test('on a phone held sideways the ways to pay are there, beside the wallet, two prices and the country', async ({
  page,
  browser,
}) => {
  await signUp(page)
  const productId = await newProduct(page)
  const origin = new URL(page.url()).origin
  const prices = [{ currency: 'EUR', amount: 1000 }, { currency: 'USD', amount: 1200 }] // oxfmt-ignore
  const changed = await page.request.patch(`/api/products/${productId}`, { data: { prices }, headers: { origin } })
  expect(changed.status(), await changed.text()).toBe(200)
  await saveProfile(page, 'exclusive')
  const viewport = { width: 667, height: 375 }
  const context = await browser.newContext({
    viewport,
    isMobile: true,
    hasTouch: true,
    locale: 'en-US',
    baseURL: origin,
  })
  const buyer = await context.newPage()
  await buyer.goto(`/pay/?product=${productId}`)
  await expect(buyer.getByRole('button', { name: 'Google Pay' })).toBeVisible()
  await expect(buyer.getByLabel('Your country')).toBeVisible()
  for (const place of [
    buyer.getByLabel('E-mail'),
    buyer.getByLabel('Price'),
    buyer.getByLabel('Your country'),
    buyer.getByRole('radio', { name: /^Card/ }),
  ])
    await expect(place).toBeInViewport({ ratio: 1 })
  await expectFits(buyer, 'pay, sideways')
  await picture(buyer, 'pay-sideways')
  await context.close()
})

test('the page adds tax to a price in dinars as the order does: in whole steps of ten fils', async ({
  page,
  browser,
}) => {
  await signUp(page)
  const productId = await newProduct(page)
  const origin = new URL(page.url()).origin
  const prices = [{ currency: 'KWD', amount: 1930 }]
  const changed = await page.request.patch(`/api/products/${productId}`, { data: { prices }, headers: { origin } })
  expect(changed.status(), await changed.text()).toBe(200)
  await saveProfile(page, 'exclusive')
  const context = await browser.newContext({ ...SIZES.phone, locale: 'en-US', baseURL: origin })
  const buyer = await context.newPage()
  await buyer.goto(`/pay/?product=${productId}`)
  await buyer.getByLabel('Your country').selectOption('DE')
  await expect(buyer.locator('.summary')).toContainText(/KWD\s2\.300/)
  await buyer.getByLabel('E-mail').fill(newEmail())
  await fillCard(buyer, '4242424242424242')
  await buyer.locator('.pay-bar button').click()
  await expect(buyer.getByRole('link', { name: /^Download / })).toBeVisible()
  await context.close()
})

test('a buyer sees the total with the tax of the chosen country before paying, and the seller reads it', async ({ page, browser }) => {
  await signUp(page)
  const productId = await newProduct(page)
  await saveProfile(page, 'exclusive')
  await expectFine(page, 'account')
  await picture(page, 'account')

  const context = await browser.newContext({ ...SIZES.phone, locale: 'de-DE', baseURL: new URL(page.url()).origin })
  const buyer = await context.newPage()
  await buyer.goto(`/pay/?product=${productId}`)
  // the browser's language is no declaration
  await expect(buyer.getByLabel(de.pay.yourCountry)).toHaveValue('')
  await expect(buyer.locator('.summary')).not.toContainText('11,90')
  await buyer.getByLabel(de.pay.yourCountry).selectOption('DE')
  await expect(buyer.locator('.summary')).toContainText('11,90')
  await expect(buyer.locator('.summary')).toContainText(/10,00.€ \+ 19.% MwSt\. \(DE\)/)
  await picture(buyer, 'pay-de')
  await buyer.getByLabel(de.pay.yourCountry).selectOption('FR')
  await expect(buyer.locator('.summary')).toContainText('12,00')
  // the register is not asked here, so a number would change nothing
  await expect(buyer.getByText(de.pay.forBusiness)).toHaveCount(0)
  await expectFine(buyer, 'pay')
  // another language keeps the chosen country and its tax
  await buyer.locator('.language select').selectOption('en')
  await expect(buyer.getByLabel('Your country')).toHaveValue('FR')
  await expect(buyer.locator('.summary')).toContainText('12.00')
  await buyer.locator('.language select').selectOption('de')
  await expect(buyer.locator('.summary')).toContainText('12,00')
  await buyer.getByLabel(de.ui.email).fill(newEmail())
  await fillCard(buyer, '4242424242424242')
  await expect(buyer.locator('.pay-bar button')).toContainText('12,00')
  await picture(buyer, 'paying')
  await buyer.locator('.pay-bar button').click()
  await expect(buyer.getByRole('link', { name: new RegExp(`^${de.ui.download} `) })).toBeVisible()
  await expect(buyer.locator('.lines')).toContainText(/20.% MwSt\. \(FR\)/)
  // the page that the mail leads to
  const link = await buyer.locator('a[href*="/order/?order="]').first().getAttribute('href')
  await buyer.goto(link!)
  await expect(buyer.locator('.slip')).toContainText(/inkl\. 20.% MwSt\. \(FR\)\s*2,00/)
  await expectFine(buyer, 'order')
  await picture(buyer, 'order')
  await context.close()

  await page.setViewportSize(SIZES.phone.viewport)
  await page.goto(`/shop/#/orders/${new URL(buyer.url()).searchParams.get('order')}`)
  await expect(page.locator('.slip')).toContainText(/Including tax \(FR 20%\)\s*€2\.00/)
  await expectFine(page, 'the seller’s order')
  await picture(page, 'seller-order')
  await page.goto('/shop/#/money')
  const line = page.getByRole('row', { name: /France/ })
  await expect(line).toContainText('€2.00')
  await expect(page.getByText('This service is not the merchant of record and files nothing')).toBeVisible()
  await expectFine(page, 'money')
  await picture(page, 'money')
  // the profile goes at the end of the year, and the tax of the quarter before is still to be filed
  const now = new Date()
  const origin = new URL(page.url()).origin
  expect((await page.request.delete('/api/tax/profile', { headers: { origin } })).ok()).toBe(true)
  await page.clock.setFixedTime(now.getTime() + 100 * 86_400_000)
  await page.reload()
  await page.getByLabel('Period').selectOption(`${now.getUTCFullYear()}-Q${Math.floor(now.getUTCMonth() / 3) + 1}`)
  await expect(line).toContainText('€2.00')
}) // oxfmt-ignore

test('no page names a price that the product never had where tax came after a discount', async ({ page, browser }) => {
  await signUp(page)
  const productId = await newProduct(page)
  await saveProfile(page, 'exclusive')
  const baseURL = new URL(page.url()).origin
  const code = { code: 'TAX20', percentOff: 20 }
  const made = await page.request.post('/api/discounts', { data: code, headers: { origin: baseURL } })
  expect(made.status(), await made.text()).toBe(201)
  const context = await browser.newContext({ locale: 'en', baseURL })
  const buyer = await context.newPage()
  await buyer.goto(`/pay/?product=${productId}&code=TAX20`)
  await buyer.getByLabel('Your country').selectOption('DE')
  await buyer.getByLabel('E-mail').fill(newEmail())
  await expect(payButton(buyer)).toHaveText('Pay €9.52')
  await payWith(buyer)
  await buyer.goto((await buyer.locator('a[href*="/order/?order="]').first().getAttribute('href'))!)
  const slip = buyer.locator('.slip')
  await expect(slip).toContainText(/Discount\s*−€2\.00\s*Total\s*€9\.52\s*includes 19% VAT \(DE\)\s*€1\.52/)
  await expect(slip).not.toContainText('11.52')
  await page.goto(`/shop/#/orders/${new URL(buyer.url()).searchParams.get('order')}`)
  await expect(page.locator('.slip')).toContainText(/^Code TAX20\s*−€2\.00\s*Paid by the buyer\s*€9\.52/)
  await context.close()
}) // oxfmt-ignore

test('without a known country none is assumed, the button asks for it, and inclusive prices stay', async ({ page, browser }) => {
  await signUp(page)
  const productId = await newProduct(page)
  await saveProfile(page, 'inclusive')
  const context = await browser.newContext({ locale: 'en', baseURL: new URL(page.url()).origin })
  const buyer = await context.newPage()
  await buyer.goto(`/pay/?product=${productId}`)
  await buyer.getByLabel('E-mail').fill(newEmail())
  await expect(buyer.getByLabel('Your country')).toHaveValue('')
  await payButton(buyer).click()
  await expect(buyer.getByLabel('Your country')).toBeFocused()
  await expect(buyer.getByLabel('Your country')).toHaveAccessibleDescription('Please choose your country')
  await buyer.getByLabel('Your country').selectOption('DE')
  await expect(buyer.locator('.summary')).toContainText('includes 19% VAT (DE)')
  await buyer.getByLabel('Your country').selectOption('US')
  await expect(buyer.locator('.summary')).not.toContainText('VAT')
  await expect(payButton(buyer)).toHaveText('Pay €10.00')
  await payWith(buyer)
  await expect(buyer.getByRole('link', { name: /^Download / })).toBeVisible()
  await context.close()
}) // oxfmt-ignore

test('a finished order without tax does not say that tax comes on top', async ({ page, browser }) => {
  await signUp(page)
  const productId = await newProduct(page)
  await saveProfile(page, 'exclusive')
  const baseURL = new URL(page.url()).origin
  const code = { code: 'GIFT', percentOff: 100 }
  const made = await page.request.post('/api/discounts', { data: code, headers: { origin: baseURL } })
  expect(made.status(), await made.text()).toBe(201)
  const context = await browser.newContext({ locale: 'en', baseURL })
  const buyer = await context.newPage()
  await buyer.goto(`/pay/?product=${productId}&code=GIFT`)
  // an order that costs nothing has no tax, so the page no longer asks for the country
  await expect(buyer.locator('.pay-bar button')).toHaveText('Get it')
  await expect(buyer.getByLabel('Your country')).toHaveCount(0)
  await buyer.getByLabel('E-mail').fill(newEmail())
  await buyer.locator('.pay-bar button').click()
  await expect(buyer.getByRole('link', { name: /^Download / })).toBeVisible()
  await expect(buyer.locator('.lines .total')).toHaveText(/^Total\s*Free$/)
  await buyer.reload()
  await expect(buyer.locator('.lines .total')).toHaveText(/^Total\s*Free$/)
  await context.close()
})
