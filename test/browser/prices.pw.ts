import path from 'node:path'
import type { Browser, Page } from '@playwright/test'
import pg from 'pg'
import { findEmbedded } from '../../src/kit/embedded.ts'
import { newId } from '../../src/kit/ids.ts'
import { fillCard, newEmail, payButton, payWith, requestsTo, shownOrderId, statusOf, translate } from './buyer.ts'
import { BASE_URL, expect, expectAccessible, expectFits, PRODUCT_ID, SIZES, test } from './fixtures.ts'

let client: pg.Client
test.beforeAll(async () => {
  const dir = path.join(process.env.SERVICE_DATA_DIR!, 'postgres')
  client = new pg.Client({ connectionString: findEmbedded(dir) })
  await client.connect()
})
test.afterAll(() => client.end())

/** A product in dollars, with prices in rupees and yen, and a code that takes 5.00 or ₹100 off. */
async function product({ choose = false } = {}) {
  const [id, sellerId, discountId] = [newId('prod'), newId('sel'), newId('dsc')]
  const code = `OFF-${discountId.slice(-6).toUpperCase()}`
  await client.query(`insert into sellers (id, name, email) values ($1, 'Ann', $2)`, [sellerId, newEmail()])
  await client.query(
    `insert into products (id, seller_id, name, description, status, price_minor, currency, statement_suffix, pay_what_you_want)
     select $1, $2, 'A small book', description, 'active', 1900, 'USD', 'A SMALL BOOK', $3 from products where id = $4`,
    [id, sellerId, choose, PRODUCT_ID],
  )
  await client.query(
    `insert into files (id, product_id, name, size_bytes, sha256, content_type)
     select $1, $2, name, size_bytes, sha256, content_type from files where product_id = $3 limit 1`,
    [newId('file'), id, PRODUCT_ID],
  )
  await client.query(
    `insert into product_prices (product_id, currency, price_minor, position) values ($1, 'INR', 49900, 1), ($1, 'JPY', 2500, 2)`,
    [id],
  )
  await client.query(
    `insert into discounts (id, seller_id, code, amount_off_minor, currency) values ($1, $2, $3, 500, 'USD')`,
    [discountId, sellerId, code],
  )
  await client.query(
    `insert into discount_amounts (discount_id, currency, amount_off_minor) values ($1, 'INR', 10000)`,
    [discountId],
  )
  const remove = (currency: string) =>
    client.query(`delete from product_prices where product_id = $1 and currency = $2`, [id, currency])
  return { id, code, remove, url: `/pay/?product=${id}` }
}

const buyerIn = async (browser: Browser, locale: string, size: keyof typeof SIZES = 'phone'): Promise<Page> =>
  (await browser.newContext({ ...SIZES[size], locale, baseURL: BASE_URL })).newPage()
const email = (page: Page) => page.getByLabel('E-mail')
const price = (page: Page) => page.getByRole('region', { name: 'What you are buying' }).locator('.price')
const choice = (page: Page) => page.getByRole('combobox', { name: 'Price' })
const paid = (page: Page) => page.getByRole('heading', { name: 'Paid. It’s yours.' })

test('a buyer in India begins with rupees and can pay by UPI, and the order keeps them', async ({ browser }) => {
  const { url, remove } = await product()
  const page = await buyerIn(browser, 'en-IN')
  await page.goto(url)
  await expect(price(page)).toHaveText('₹499.00')
  await expect(choice(page)).toHaveValue('INR')
  await expectAccessible(page, 'a product with three prices')
  await expectFits(page, 'a product with three prices')
  const to = newEmail()
  await email(page).fill(to)
  await expect(page.getByRole('radio', { name: 'UPI' })).toBeVisible()
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  const orderId = await shownOrderId(page)
  // the seller removes the price: the order keeps it, also after a reload
  await remove('INR')
  await page.reload()
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  expect(await shownOrderId(page)).toBe(orderId)
  await choice(page).selectOption('JPY')
  await expect(payButton(page)).toHaveText(/Pay JP¥2,500$/)
  await payWith(page)
  await expect(paid(page)).toBeVisible()
  const made = await shownOrderId(page)
  expect(made).not.toBe(orderId)
  const first = await statusOf(page, orderId, to)
  expect([first.status, first.amount, first.currency]).toEqual(['pending', 49_900, 'INR'])
  const status = await statusOf(page, made, to)
  expect([status.status, status.amount, status.currency]).toEqual(['paid', 2500, 'JPY'])
  await page.context().close()
})

test('the buyer switches by the keyboard, and what was typed stays', async ({ page }) => {
  const { url } = await product()
  const to = newEmail()
  await page.goto(url)
  await expect(price(page)).toHaveText('$19.00')
  await email(page).fill(to)
  await choice(page).focus()
  await page.keyboard.press('ArrowDown')
  await expect(choice(page)).toHaveValue('INR')
  await expect(price(page)).toHaveText('₹499.00')
  await expect(choice(page)).toBeFocused()
  await expect(email(page)).toHaveValue(to)
  await expect(page).toHaveURL(/currency=INR/)
  await page.reload()
  await expect(price(page)).toHaveText('₹499.00')
  await choice(page).selectOption('JPY')
  await email(page).fill(to)
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  const orderId = await shownOrderId(page)
  const status = await statusOf(page, orderId, to)
  expect([status.amount, status.currency]).toEqual([2500, 'JPY'])
  // the buyer takes another currency: the order in yen leaves the page, and comes back with them
  await choice(page).selectOption('USD')
  await expect(price(page)).toHaveText('$19.00')
  await expect(page.getByText(orderId)).toHaveCount(0)
  await expect(page.getByText('Your bank declined the payment.')).toHaveCount(0)
  await choice(page).selectOption('JPY')
  expect(await shownOrderId(page)).toBe(orderId)
  await choice(page).selectOption('USD')
  await expect(payButton(page)).toHaveText('Pay $19.00')
  await payWith(page)
  await expect(paid(page)).toBeVisible()
  const made = await shownOrderId(page)
  expect(made).not.toBe(orderId)
  const done = await statusOf(page, made, to)
  expect([done.status, done.amount, done.currency]).toEqual(['paid', 1900, 'USD'])
  expect((await statusOf(page, orderId, to)).status).toBe('pending')
})

test('a switch while the order is being made takes the press back, and nothing is paid', async ({ page }) => {
  const { url } = await product()
  const to = newEmail()
  const attempts = requestsTo(page, /^\/api\/sandbox\//)
  await page.goto(url)
  await email(page).fill(to)
  await fillCard(page, '4242424242424242')
  let goOn = () => {}
  const held = new Promise<void>((done) => (goOn = done))
  await page.route('**/api/checkout', async (route) => {
    await held
    await route.continue()
  })
  const [asked, answer] = [page.waitForRequest('**/api/checkout'), page.waitForResponse('**/api/checkout')]
  await payButton(page).click()
  await asked
  await choice(page).selectOption('INR')
  goOn()
  const { orderId } = (await (await answer).json()) as { orderId: string }
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  await expect(page.getByText(orderId)).toHaveCount(0)
  expect(attempts).toHaveLength(0)
  expect((await statusOf(page, orderId, to)).status).toBe('pending')
  await payWith(page)
  await expect(paid(page)).toBeVisible()
  const status = await statusOf(page, await shownOrderId(page), to)
  expect([status.status, status.amount, status.currency]).toEqual(['paid', 49_900, 'INR'])
})

test('a currency that is removed while the page is open makes no order, and the buyer takes another', async ({
  page,
}) => {
  const { url, remove } = await product()
  await page.goto(`${url}&currency=JPY`)
  await expect(price(page)).toHaveText('¥2,500')
  await remove('JPY')
  const to = newEmail()
  await email(page).fill(to)
  await payWith(page)
  await expect(page.getByRole('alert')).toContainText('no longer sold in this currency')
  await expect(email(page)).toHaveValue(to)
  await choice(page).selectOption('USD')
  await expect(page.getByRole('alert')).toHaveCount(0)
  await payWith(page)
  await expect(paid(page)).toBeVisible()
  expect((await statusOf(page, await shownOrderId(page), to)).currency).toBe('USD')
  // an address with the currency that is gone begins with the default price
  await page.goto(`${(await product()).url}&currency=EUR`)
  await expect(price(page)).toHaveText('$19.00')
})

test('a fixed discount follows the currency, and where it does not apply the field says so', async ({ page }) => {
  const { url, code } = await product()
  await page.goto(`${url}&code=${code}`)
  await expect(price(page)).toContainText('$14.00')
  await choice(page).selectOption('INR')
  await expect(price(page)).toContainText('₹399.00')
  await choice(page).focus()
  await choice(page).selectOption('JPY')
  await expect(page.getByText('This code is not valid here')).toBeVisible()
  await expect(choice(page)).toBeFocused()
  await expect(price(page)).toHaveText('¥2,500')
  await choice(page).selectOption('USD')
  await expect(price(page)).toContainText('$14.00')
})

test('a price that the buyer names begins anew in another currency, with its own minimum', async ({ page }) => {
  const { url } = await product({ choose: true })
  await page.goto(url)
  const field = page.getByRole('textbox', { name: /price|amount/i })
  await expect(field).toHaveValue('19.00')
  await field.fill('25')
  await choice(page).selectOption('JPY')
  await expect(field).toHaveValue('2500')
  await field.fill('100')
  await email(page).fill(newEmail())
  await page.getByRole('button', { name: /^pay \S/i }).click()
  await expect(page.getByText('¥2,500').last()).toBeVisible()
  await expect(field).toBeFocused()
})

test('where the dollar is another one, the page says which', async ({ browser }) => {
  const { url } = await product()
  const page = await buyerIn(browser, 'en-CA', 'desktop')
  await page.goto(url)
  await expect(price(page)).toHaveText('US$19.00')
  await page.context().close()
})

test('a page that the browser translates shows the sum that is charged, after each choice', async ({ page }) => {
  const { url, code } = await product({ choose: true })
  const field = page.locator('#chosen')
  const button = page.locator('.pay-bar button')
  const shown = async (sum: string) => {
    await expect(button).toHaveText(`Pay ${sum}`)
    await expect(page.locator('.summary :is(.price, .total dd)')).toContainText(sum)
    await translate(page)
  }
  await page.goto(url)
  await expect(button).toHaveText('Pay $19.00')
  await translate(page)
  await field.fill('')
  await expect(button).toHaveText('Continue to payment')
  await expect(price(page)).toHaveText('You name the price')
  await translate(page)
  await field.fill('25')
  await expect(page.locator('.understood')).toHaveText('You pay $25.00.')
  await shown('$25.00')
  await field.fill('30')
  await expect(page.locator('.understood')).toHaveText('You pay $30.00.')
  await shown('$30.00')
  await page.getByText('Have a code?').click()
  await page.locator('#code').fill(code)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(price(page)).toHaveText('Instead of $30.00 $25.00')
  await shown('$25.00')
  await choice(page).selectOption('INR')
  await expect(page.locator('#chosen-hint')).toHaveText('You decide: ₹499.00 or more.')
  await expect(page.locator('#takes-off')).toHaveText(`${code} takes ₹100.00 off.`)
  await shown('₹399.00')
  await email(page).fill(newEmail())
  await fillCard(page, '4000000000000002')
  await button.click()
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  await expect(button).toHaveText('Pay ₹399.00')
  await translate(page)
  await field.fill('600')
  await shown('₹500.00')
  await fillCard(page, '4242424242424242')
  await button.click()
  await expect(paid(page)).toBeVisible()
  await expect(page.locator('.total dd')).toHaveText('₹500.00')
})

test('a link with a code makes another order than the one that waits in a chosen currency', async ({ page }) => {
  const { url, code } = await product()
  const to = newEmail()
  await page.goto(url)
  await choice(page).selectOption('INR')
  await email(page).fill(to)
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  const orderId = await shownOrderId(page)
  await page.goto(`${url}&code=${code}`)
  await expect(payButton(page)).toHaveText('Pay ₹399.00')
  await payWith(page)
  await expect(paid(page)).toBeVisible()
  const made = await shownOrderId(page)
  expect([made === orderId, (await statusOf(page, made, to)).amount]).toEqual([false, 39900])
})
