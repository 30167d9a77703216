import path from 'node:path'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { findEmbedded } from '../../src/kit/embedded.ts'
import { newId } from '../../src/kit/ids.ts'
import { fr } from '../../src/words/fr.ts'
import { fillCard, newEmail, payButton, payWith, requestsTo, shownOrderId, statusOf, tryAgain } from './buyer.ts'
import { expect, expectAccessible, expectFits, PRODUCT_ID, SIZES, test } from './fixtures.ts'

let client: pg.Client
test.beforeAll(async () => {
  const dir = path.join(process.env.SERVICE_DATA_DIR!, 'postgres')
  client = new pg.Client({ connectionString: findEmbedded(dir) })
  await client.connect()
})
test.afterAll(() => client.end())

/** A product like the demo's, with its files, at another price and of another seller. */
async function product({ priceMinor = 0, choose = false, suggested = null as number | null, currency = 'USD' } = {}) {
  const [id, sellerId] = [newId('prod'), newId('sel')]
  await client.query(`insert into sellers (id, name, email) values ($1, 'Ann', $2)`, [sellerId, newEmail()])
  await client.query(
    `insert into products (id, seller_id, name, description, status, price_minor, currency, statement_suffix, pay_what_you_want, suggested_minor)
     select $1, $2, 'A small book', description, 'active', $3, $4, 'A SMALL BOOK', $5, $6 from products where id = $7`,
    [id, sellerId, priceMinor, currency, choose, suggested, PRODUCT_ID],
  )
  await client.query(
    `insert into files (id, product_id, name, size_bytes, sha256, content_type)
     select $1, $2, name, size_bytes, sha256, content_type from files where product_id = $3 limit 1`,
    [newId('file'), id, PRODUCT_ID],
  )
  return { id, sellerId, url: `/pay/?product=${id}` }
}

async function discount(
  sellerId: string,
  { percent = 20 as number | null, limit = null as number | null, fils = null as number | null } = {},
): Promise<string> {
  const code = `SUMMER-${newId('dsc').slice(-6).toUpperCase()}`
  await client.query(
    `insert into discounts (id, seller_id, code, percent_off, most_uses, amount_off_minor, currency)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [newId('dsc'), sellerId, code, percent, limit, fils, fils && 'KWD'],
  )
  return code
}

const email = (page: Page) => page.getByLabel('E-mail')
/** Before the price can be read, the button names none. */
const next = (page: Page) => page.getByRole('button', { name: /^(pay \S|continue to payment)/i })
const summary = (page: Page) => page.getByRole('region', { name: 'What you are buying' })

test('a free product is got by one press, and nothing on the way speaks of payment', async ({ page }) => {
  const { url } = await product()
  await page.goto(url)
  await expect(summary(page).getByText('Free', { exact: true })).toBeVisible()
  await expect(page.getByRole('main')).not.toContainText(/pay|card/i)
  await expect(page.getByText('Have a code?')).toHaveCount(0)
  await expectAccessible(page, 'a free product')
  const to = newEmail()
  await email(page).fill(to)
  await page.getByRole('button', { name: 'Get it' }).click()
  await expect(page.getByRole('heading', { name: 'It’s yours.', exact: true })).toBeFocused()
  await expect(payButton(page)).toHaveCount(0)
  const orderId = await shownOrderId(page)
  expect((await statusOf(page, orderId, to)).status).toBe('paid')
  await page.reload()
  await expect(page.getByRole('heading', { name: 'It’s yours.', exact: true })).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)

  await page.getByRole('link', { name: 'View your order' }).click()
  await expect(page.getByRole('complementary', { name: 'Receipt' }).getByText('Free')).toBeVisible()
  await expect(page.getByRole('main')).not.toContainText(/payment|bank|statement/i)
})

test('a free order waits for its files, and says so where the line is lost', async ({ page }) => {
  const { url } = await product()
  let isLost = true
  await page.route('**/status?**', (route) => (isLost ? route.abort() : route.continue()))
  await page.goto(url)
  await email(page).fill(newEmail())
  await page.getByRole('button', { name: 'Get it' }).click()
  await expect(page.getByRole('heading', { name: 'It’s yours.', exact: true })).toBeFocused()
  const main = page.getByRole('main')
  await expect(main).toContainText(/One moment…|We cannot reach the shop right now/)
  await expect(main).not.toContainText('There is no file')
  await expect(page.getByRole('alert')).toContainText('We cannot reach the shop right now.')
  await expect(main).not.toContainText('There is no file')
  isLost = false
  await tryAgain(page)
  await expect(page.getByRole('link', { name: /^Download / })).toBeVisible()
})

test('the buyer chooses the price: the suggestion is filled in, and the page shows and enforces the lowest price', async ({
  page,
}) => {
  const { url } = await product({ priceMinor: 500, choose: true, suggested: 900 })
  await page.goto(url)
  const field = page.getByLabel('Name your price (USD)')
  await expect(field).toHaveValue('9.00')
  await expect(field).toHaveAttribute('inputmode', 'decimal')
  await expect(field).toHaveAccessibleDescription('You decide: $5.00 or more.')
  await expect(summary(page).getByText('$9.00')).toBeVisible()
  await expectAccessible(page, 'a price to be named')
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await email(page).fill(newEmail())
  for (const [typed, said] of [
    ['4.99', /The minimum is \$5\.00/],
    ['a lot', /Please enter an amount/],
    ['', /Please enter an amount/],
    ['12.345', /Is that 12,345\.00 or 12\.34\?/],
    ['7.000', /Is that 7,000\.00 or 7\.00\?/],
    ['$7.000', /Is that 7,000\.00 or 7\.00\?/],
    ['9.99.9', /Please enter an amount/],
    ['€9', /Please enter an amount in USD/],
  ] as const) {
    await field.fill(typed)
    await next(page).click()
    await expect(field).toHaveAccessibleDescription(said)
    await expect(field).toBeFocused()
  }
  expect(orders).toHaveLength(0)
  await expect(summary(page).getByText('You name the price')).toBeVisible()
  for (const [typed, understood] of [
    ['$9', '$9.00'],
    ['1.234,50', '$1,234.50'],
    ['12,50', '$12.50'],
  ] as const) {
    await field.fill(typed)
    await expect(page.getByText(`You pay ${understood}.`)).toBeVisible()
    await expect(summary(page).getByText(understood)).toBeVisible()
  }
  await expect(payButton(page)).toHaveText('Pay $12.50')
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  await expect(page.getByText('The price is now')).toHaveCount(0)
  await expect(payButton(page)).toHaveText('Pay $12.50')
  const orderId = await shownOrderId(page)
  await page.reload()
  await expect(payButton(page)).toHaveText('Pay $12.50')
  expect(await shownOrderId(page)).toBe(orderId)

  await expect(field).toHaveValue('12.50')
  await field.fill('20')
  await expect(payButton(page)).toHaveText('Pay $20.00')
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  expect(orders.at(-1)!.postDataJSON().chosenAmount).toBe(2000)
  expect(await shownOrderId(page)).not.toBe(orderId)
})

test('a failed order is not repeated by itself after its price or its code was changed', async ({ page, context }) => {
  const { url, sellerId } = await product({ priceMinor: 500, choose: true, suggested: 900 })
  const code = await discount(sellerId)
  const offline = page.getByText('Your order is not created yet')
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await page.goto(url)
  await page.getByText('Have a code?').click()
  await page.getByLabel('Discount code').fill(code)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText(`${code} takes`)).toBeVisible()
  await email(page).fill(newEmail())
  await fillCard(page, '4242424242424242')
  for (const change of [
    () => page.getByLabel('Name your price (USD)').fill('5'),
    () => page.getByRole('button', { name: 'Remove the code' }).click(),
    () => page.getByLabel('Discount code').fill('WINTER'),
  ]) {
    await context.setOffline(true)
    await next(page).click()
    await expect(offline).toBeVisible()
    const tried = orders.length
    await change()
    await expect(offline).toBeHidden()
    await context.setOffline(false)
    await page.evaluate(() => new Promise((done) => setTimeout(done, 0)))
    expect(orders).toHaveLength(tried)
  }
  await page.getByLabel('Discount code').fill('')
  await expect(payButton(page)).toHaveText('Pay $5.00')
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  expect(orders.at(-1)!.postDataJSON()).toMatchObject({ chosenAmount: 500 })
})

test('a code that is typed and not applied is applied by the press, and the next press pays its price', async ({
  page,
}) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const code = await discount(sellerId)
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await page.goto(url)
  await email(page).fill(newEmail())
  await page.getByText('Have a code?').click()
  await page.getByLabel('Discount code').fill(code)
  await payWith(page)
  await expect(payButton(page)).toHaveText('Pay $15.20')
  expect(orders).toHaveLength(0)
  await payButton(page).click()
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  expect(orders.map((one) => one.postDataJSON().discountCode)).toEqual([code])
})

test('the late answer about a code is not applied once the buyer has another code, or none', async ({ page }) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const [first, second] = [await discount(sellerId, { percent: 50 }), await discount(sellerId)]
  await page.goto(url)
  await page.getByText('Have a code?').click()
  const code = page.getByLabel('Discount code')
  /** Applies the first code, whose answer is held. The returned function lets it arrive. */
  const applyHeld = async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(
      (address) => address.searchParams.get('discountCode') === first,
      async (route) => {
        const response = await route.fetch()
        asked.resolve()
        await answered.promise
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await code.fill(first)
    await code.press('Enter')
    await asked.promise
    return async () => {
      const late = page.waitForResponse((one) => one.url().includes(first))
      answered.resolve()
      await (await late).finished()
      // The page has seen the late answer before the answer to a later request.
      await page.evaluate(() => fetch('/'))
    }
  }
  const arriveBehindNewer = await applyHeld()
  await code.fill(second)
  await code.press('Enter')
  await expect(page.getByText(`${second} takes 20% off.`)).toBeVisible()
  await arriveBehindNewer()
  await expect(page.getByText(`${second} takes 20% off.`)).toBeVisible()
  await expect(summary(page).getByText('$15.20')).toBeVisible()

  await page.getByRole('button', { name: 'Remove the code' }).click()
  const arriveAfterRemoval = await applyHeld()
  await code.fill('')
  await arriveAfterRemoval()
  await expect(code).toHaveValue('')
  await expect(page.getByRole('button', { name: 'Apply' })).toBeEnabled()
  await expect(page.getByText(/ takes \d+% off/)).toHaveCount(0)
  await expect(payButton(page)).toHaveText('Pay $19.00')
})

test('the page takes a fixed amount off a chosen price in dinars as the order does: in whole steps of ten fils', async ({
  page,
}) => {
  const { url, sellerId } = await product({ priceMinor: 500, choose: true, currency: 'KWD' })
  const code = await discount(sellerId, { percent: null, fils: 1855 })
  await page.goto(url)
  await page.getByLabel('Name your price (KWD)').fill('12.340')
  await page.getByText('Have a code?').click()
  await page.getByLabel('Discount code').fill(code)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(summary(page).getByText(/KWD\s10\.490/)).toBeVisible()
  await email(page).fill(newEmail())
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
})

test('the page takes a percentage off a price in dinars as the order does: in whole steps of ten fils', async ({
  page,
}) => {
  const { url, sellerId } = await product({ priceMinor: 500, choose: true, currency: 'KWD' })
  const code = await discount(sellerId, { percent: 33 })
  await page.goto(url)
  await page.getByLabel('Name your price (KWD)').fill('19.990')
  await page.getByText('Have a code?').click()
  await page.getByLabel('Discount code').fill(code)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(summary(page).getByText(/KWD\s13\.400/)).toBeVisible()
  await email(page).fill(newEmail())
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
})

test('another language keeps the price that the buyer named and the code that is applied', async ({ page }) => {
  const { url, sellerId } = await product({ priceMinor: 500, choose: true })
  const code = await discount(sellerId)
  await page.goto(url)
  await page.getByLabel('Name your price (USD)').fill('12.50')
  await page.getByText('Have a code?').click()
  await page.getByLabel('Discount code').fill(code)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(summary(page).getByText('$10.00')).toBeVisible()
  await page.locator('.language select').selectOption('fr')
  await expect(page.getByRole('heading', { name: fr.pay.howToPay })).toBeVisible()
  await expect(page.getByLabel(fr.pay.chooseAmount.replace('{currency}', 'USD'))).toHaveValue('12.50')
  await expect(page.locator('.summary')).toContainText('10,00')
  // a code that the buyer has not applied yet is applied by the page that comes
  await page.getByRole('button', { name: fr.pay.removeCode }).click()
  await page.getByLabel(fr.pay.discountCode).fill(code)
  await page.locator('.language select').selectOption('en')
  await expect(summary(page).getByText('$10.00')).toBeVisible()
  await expect(page.getByLabel('Name your price (USD)')).toHaveValue('12.50')
})

/** The page, filled in, while the file with its further fields does not arrive: until the caller calls the returned function. */
async function fillInWithoutFields(page: Page, url: string): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/offer-part*.js', async (route) => {
    await released
    await route.continue()
  })
  // a file that is held can also hold the end of loading
  await page.goto(url, { waitUntil: 'domcontentloaded' })
  await email(page).fill(newEmail())
  await fillCard(page, '4242424242424242')
  return release
}
const paid = (page: Page) => page.getByRole('heading', { name: 'Paid. It’s yours.' })

test('a press before the field for a code is there waits for it', async ({ page }) => {
  const { sellerId, url } = await product({ priceMinor: 1900 })
  await discount(sellerId)
  const release = await fillInWithoutFields(page, url)
  await payButton(page).click()
  await expect(page.getByRole('button', { name: 'One moment' })).toBeVisible()
  release()
  await expect(paid(page)).toBeVisible()
})

test('a press before the field for the price is there takes no price that the buyer has not seen', async ({ page }) => {
  const { url } = await product({ priceMinor: 500, choose: true })
  const made = requestsTo(page, /^\/api\/checkout$/)
  const release = await fillInWithoutFields(page, url)
  await next(page).click()
  await expect(page.getByRole('button', { name: 'One moment' })).toBeVisible()
  release()
  await expect(page.getByRole('alert')).toHaveText('The price is now $5.00.')
  await expect(next(page)).toHaveText('Pay $5.00')
  expect(made).toEqual([])
  await next(page).click()
  await expect(paid(page)).toBeVisible()
})

test('a price of nothing, named by the buyer, leads straight to the files', async ({ page }) => {
  const { url } = await product({ choose: true })
  await page.goto(url)
  await expect(page.getByLabel('Name your price (USD)')).toHaveAccessibleDescription(/or pay nothing/)
  await page.getByLabel('Name your price (USD)').fill('0')
  await email(page).fill(newEmail())
  await page.getByRole('button', { name: 'Get it' }).click()
  await expect(page.getByRole('heading', { name: 'It’s yours.', exact: true })).toBeVisible()
})

test('by the keyboard a code is applied and removed, the focus goes along, and a screen reader hears of it', async ({
  page,
}) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const code = await discount(sellerId)
  await page.goto(url)
  const field = page.getByLabel('Discount code')
  const remove = page.getByRole('button', { name: 'Remove the code' })
  await page.getByText('Have a code?').click()
  const said = await page.locator('.offer output').elementHandle()
  expect(await said!.textContent()).toBe('')
  for (const apply of [() => field.press('Enter'), () => page.getByRole('button', { name: 'Apply' }).press('Enter')]) {
    await field.fill(code)
    await apply()
    await expect(remove).toBeFocused()
    await expect(remove).toHaveAccessibleDescription(`${code} takes 20% off.`)
    // the same element, because a live region that comes with its text is often not read
    expect(await said!.textContent()).toBe(`${code} takes 20% off.`)
    await remove.press('Enter')
    await expect(field).toBeFocused()
    expect(await said!.textContent()).toBe('')
  }
  // a buyer who has gone on meanwhile stays there
  await field.fill(code)
  await field.press('Enter')
  await email(page).focus()
  await expect(remove).toBeVisible()
  await expect(email(page)).toBeFocused()
})

test('the page shows a code’s discount before and after the order, and the order has that price', async ({ page }) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const code = await discount(sellerId)
  await page.goto(url)
  await page.getByText('Have a code?').click()
  const field = page.getByLabel('Discount code')
  await field.fill('WINTER')
  await field.press('Enter')
  await expect(field).toHaveAccessibleDescription(/not valid here/)
  await expect(field).toBeFocused()
  await expectAccessible(page, 'a code that is none')
  await field.fill(code.toLowerCase())
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText(`${code} takes 20% off.`)).toBeVisible()
  await expect(summary(page)).toContainText('Instead of $19.00')
  await expect(summary(page).getByText('$15.20')).toBeVisible()
  await expectAccessible(page, 'a code')

  const to = newEmail()
  await email(page).fill(to)
  await expect(payButton(page)).toHaveText('Pay $15.20')
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  await expect(page.getByText('The price is now')).toHaveCount(0)
  await expect(payButton(page)).toHaveText('Pay $15.20')
  for (const line of ['$19.00', '−$3.80', '$15.20']) await expect(summary(page).getByText(line)).toBeVisible()
  await page.reload()
  await expect(summary(page).getByText('−$3.80')).toBeVisible()
  // the line comes with the order's status, and moves the button
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  expect((await statusOf(page, await shownOrderId(page), to)).amount).toBe(1520)
})

/** A declined order with the code, which takes 20% off $19. Returns its id. */
async function declinedWith(page: Page, code: string, to: string): Promise<string> {
  await page.getByText('Have a code?').click()
  await page.getByLabel('Discount code').fill(code)
  await page.getByRole('button', { name: 'Apply' }).click()
  await email(page).fill(to)
  await expect(payButton(page)).toHaveText('Pay $15.20')
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  return shownOrderId(page)
}

test('an order that holds the last use of its code is paid at its price, after a decline and after a reload', async ({
  page,
}) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const code = await discount(sellerId, { limit: 1 })
  const keys = new Set<string | undefined>()
  page.on('request', (one) => one.url().endsWith('/api/checkout') && keys.add(one.headers()['idempotency-key']))
  const to = newEmail()
  await page.goto(url)
  const orderId = await declinedWith(page, code, to)
  for (const again of [() => Promise.resolve(), () => page.reload()]) {
    await again()
    await expect(page.getByText(`${code} takes $3.80 off.`)).toBeVisible()
    await expect(payButton(page)).toHaveText('Pay $15.20')
    await expectAccessible(page, 'an order with its own discount')
    await payWith(page, { scenario: 'decline' })
    await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
    await expect(page.getByText('not valid here')).toHaveCount(0)
  }
  // for another address the code would need another use
  await email(page).fill(newEmail())
  await expect(page.getByLabel('Discount code')).toHaveAccessibleDescription(/not valid here/)
  await expect(email(page)).toBeFocused()
  await expect(payButton(page)).toHaveText('Pay $19.00')
  await page.reload()
  await payWith(page)
  await expect(paid(page)).toBeVisible()
  expect([await shownOrderId(page), (await statusOf(page, orderId, to)).amount, keys.size]).toEqual([orderId, 1520, 1])
})

test('an order is paid at its price after its code has ended and the product has no other', async ({ page }) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const code = await discount(sellerId)
  const to = newEmail()
  await page.goto(url)
  const orderId = await declinedWith(page, code, to)
  await client.query('update discounts set removed_at = now() where seller_id = $1', [sellerId])
  await page.reload()
  await expect(page.getByText(`${code} takes $3.80 off.`)).toBeVisible()
  await expect(payButton(page)).toHaveText('Pay $15.20')
  // another address makes another order, at the price of today
  await email(page).fill(newEmail())
  await expect(page.getByText('not valid here')).toBeVisible()
  await page.getByLabel('Discount code').fill('')
  await expect(payButton(page)).toHaveText('Pay $19.00')
  await page.reload()
  await payWith(page)
  await expect(paid(page)).toBeVisible()
  expect([await shownOrderId(page), (await statusOf(page, orderId, to)).amount]).toEqual([orderId, 1520])
})

for (const [change, statement, now] of [
  [
    'the buyer may no longer choose it',
    'update products set pay_what_you_want = false, price_minor = 1900 where id = $1',
    '$19.00',
  ],
  ['its minimum is raised', 'update products set price_minor = 1900 where id = $1', ''],
  [
    'the product gets a price in another currency',
    `insert into product_prices (product_id, currency, price_minor, position) values ($1, 'EUR', 1700, 1)`,
    '$12.50',
  ],
] as const)
  // oxfmt-ignore
  test(`an order is paid at the chosen price after ${change}`, async ({ page }) => {
    const { id, url } = await product({ priceMinor: 500, choose: true })
    const to = newEmail()
    await page.goto(url)
    await page.getByLabel('Name your price (USD)').fill('12.50')
    await email(page).fill(to)
    await payWith(page, { scenario: 'decline' })
    await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
    const orderId = await shownOrderId(page)
    await client.query(statement, [id])
    await page.reload()
    await expect(payButton(page)).toHaveText('Pay $12.50')
    await payWith(page, { scenario: 'decline' })
    await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
    expect(await shownOrderId(page)).toBe(orderId)
    await email(page).fill(newEmail())
    if (now) await expect(payButton(page)).toHaveText(`Pay ${now}`)
    await page.reload()
    await payWith(page)
    await expect(paid(page)).toBeVisible()
    expect([await shownOrderId(page), (await statusOf(page, orderId, to)).amount]).toEqual([orderId, 1250])
  })

test('a link with a code makes another order than the one that waits without it', async ({ page }) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const code = await discount(sellerId)
  const to = newEmail()
  await page.goto(url)
  await email(page).fill(to)
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  const orderId = await shownOrderId(page)
  await page.goto(`${url}&code=${code}`)
  await expect(payButton(page)).toHaveText('Pay $15.20')
  await payWith(page)
  await expect(paid(page)).toBeVisible()
  const made = await shownOrderId(page)
  expect([made === orderId, (await statusOf(page, made, to)).amount]).toEqual([false, 1520])
})

test('a code of the link that was removed stays removed after a reload', async ({ page }) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const code = await discount(sellerId)
  await page.goto(`${url}&code=${code}`)
  await expect(payButton(page)).toHaveText('Pay $15.20')
  await page.getByRole('button', { name: 'Remove the code' }).click()
  await page.reload()
  await expect(page.locator('#code')).toHaveValue('')
  await expect(payButton(page)).toHaveText('Pay $19.00')
})

test('a code that was removed stays removed in another language, and so does a price that was emptied', async ({
  page,
}) => {
  const { url, sellerId } = await product({ priceMinor: 500, choose: true, suggested: 900 })
  const code = await discount(sellerId)
  await page.goto(`${url}&code=${code}`)
  await page.getByRole('button', { name: 'Remove the code' }).click()
  await page.getByLabel('Name your price (USD)').fill('')
  await page.locator('.language select').selectOption('fr')
  await expect(page.getByLabel(fr.pay.chooseAmount.replace('{currency}', 'USD'))).toHaveValue('')
  await expect(page.locator('#code')).toHaveValue('')
})

test('a link can bring its code, the last use of one is taken once, and all of 100% is free', async ({
  page,
  browser,
}) => {
  const { url, sellerId } = await product({ priceMinor: 1900 })
  const code = await discount(sellerId, { percent: 100, limit: 1 })
  await page.goto(`${url}&code=${code.toLowerCase()}`)
  await expect(page.getByText(`${code} takes 100% off.`)).toBeVisible()
  const late = await (await browser.newContext()).newPage()
  await late.goto(`${url}&code=${code}`)
  await expect(late.getByText(`${code} takes`)).toBeVisible()

  await email(page).fill(newEmail())
  await page.getByRole('button', { name: 'Get it' }).click()
  await expect(page.getByRole('heading', { name: 'It’s yours.', exact: true })).toBeVisible()
  await email(late).fill(newEmail())
  await late.getByRole('button', { name: 'Get it' }).click()
  await expect(late.getByRole('alert')).toContainText('This code is not valid here, or not any more.')
  await late.getByRole('button', { name: 'Remove the code' }).click()
  await expect(payButton(late)).toHaveText('Pay $19.00')
  await late.context().close()
})

for (const [size, options] of Object.entries(SIZES))
  test.describe(size, () => {
    test.use(options)
    test('a price to be named and a code fit the screen and can be read', async ({ page }) => {
      const { url, sellerId } = await product({ priceMinor: 500, choose: true, suggested: 900 })
      await discount(sellerId)
      await page.goto(url)
      await page.getByText('Have a code?').click()
      await page.getByLabel('Discount code').fill('WINTER')
      await page.getByRole('button', { name: 'Apply' }).click()
      await expect(page.getByText(/not valid here/)).toBeVisible()
      await expectFits(page, size)
      await expectAccessible(page, size)
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/offer-${size}.png`, fullPage: true })
    })
  })
