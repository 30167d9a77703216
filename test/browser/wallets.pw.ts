import path from 'node:path'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { findEmbedded } from '../../src/kit/embedded.ts'
import { newId } from '../../src/kit/ids.ts'
import { expectPaid, fillIn, newEmail, payButton, requestsTo, shownOrderId, statusOf } from './buyer.ts'
import { expect, paidIntents, test, toForm } from './element-buyer.ts'
import { DEMO_URL, SIZES, expectAccessible, expectFits } from './fixtures.ts'

// The wallets of devices: their buttons are above everything else, on devices that have one.

const giveWallet = (page: Page) => page.addInitScript(() => Object.assign(window, { deviceWallet: 'Apple Pay' }))
const wallet = (page: Page) => page.getByRole('button', { name: 'Buy with Apple Pay' })
const confirm = (page: Page) => page.getByRole('button', { name: 'Confirm with your face' })

for (const [size, use] of Object.entries(SIZES))
  test.describe(size, () => {
    test.use(use)
    test('the wallet stands above the address, tells it, and pays in two presses', async ({ page, shop, stripe }) => {
      await giveWallet(page)
      const orders = requestsTo(page, /^\/api\/checkout$/)
      await page.goto(shop.demoUrl)
      await expect(wallet(page)).toBeVisible()
      await expect(page.getByText('Or pay another way')).toBeVisible()
      const [above, below] = [await wallet(page).boundingBox(), await page.getByLabel('E-mail').boundingBox()]
      expect(above!.y).toBeLessThan(below!.y)
      await expectFits(page, 'a wallet')
      await expectAccessible(page, 'a wallet')
      await wallet(page).click()
      expect(orders, 'a wallet that is only opened orders nothing').toHaveLength(0)
      await confirm(page).click()
      await expectPaid(page)
      const orderId = await shownOrderId(page)
      expect(paidIntents(shop, orderId)).toHaveLength(1)
      expect(stripe.confirms).toHaveLength(1)
      expect(orders.map((one) => one.postDataJSON().email)).toEqual(['wallet@example.com'])
      expect((await statusOf(page, orderId, 'wallet@example.com', shop.url)).status).toBe('paid')
    })
  })

test('the typed address wins over that of the wallet, and a wrong one keeps the wallet closed', async ({
  page,
  shop,
}) => {
  await giveWallet(page)
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await page.goto(shop.demoUrl)
  // a buyer who is typing already is not shown the wallet
  await expect(wallet(page)).toBeVisible()
  const field = page.getByLabel('E-mail')
  await field.fill('ann')
  await wallet(page).click()
  await expect(field).toHaveAccessibleDescription(/not a complete e-mail address/)
  await expect(confirm(page)).toHaveCount(0)
  const to = newEmail()
  await field.fill(to)
  await wallet(page).click()
  await confirm(page).click()
  await expectPaid(page)
  expect(orders.map((one) => one.postDataJSON().email)).toEqual([to])
})

test('an order with another price is not paid by the wallet: it says so, and the page shows the price', async ({
  page,
  shop,
  stripe,
}) => {
  await giveWallet(page)
  await page.route('**/api/checkout', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), amount: 59_900 } })
  })
  await page.goto(shop.demoUrl)
  await wallet(page).click()
  await confirm(page).click()
  await expect(page.getByText('Payment not completed')).toBeVisible()
  await expect(page.getByText('The price is now ₹599.00.')).toBeAttached()
  expect(stripe.confirms).toHaveLength(0)
})

test('a wallet that was opened before the discount of the link came pays nothing: the page shows the price', async ({
  page,
  shop,
  stripe,
}) => {
  const client = new pg.Client({ connectionString: findEmbedded(path.join(shop.dataDir, 'postgres')) })
  await client.connect()
  const code = `WALLET-${newId('dsc').slice(-6).toUpperCase()}`
  await client.query(
    `insert into discounts (id, seller_id, code, percent_off) select $1, seller_id, $2, 20 from products where id = $3`,
    [newId('dsc'), code, new URL(shop.demoUrl).searchParams.get('product')],
  )
  await client.end()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/public?discountCode=*', async (route) => {
    await released
    await route.continue()
  })
  await giveWallet(page)
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await page.goto(`${shop.demoUrl}&code=${code}`)
  await wallet(page).click()
  await expect(confirm(page)).toBeVisible()
  release()
  await expect(page.locator('.pay-bar button')).toHaveText('Pay ₹399.20')
  await confirm(page).click()
  await expect(page.getByText('Payment not completed')).toBeVisible()
  await expect(page.getByText('The price is now ₹399.20.')).toBeAttached()
  expect([orders.length, stripe.confirms.length]).toEqual([0, 0])
})

test('a device without a wallet shows neither a button nor a place for one', async ({ page, shop }) => {
  await toForm(page, shop)
  await expect(page.getByText('Or pay another way')).toBeHidden()
  await expect(payButton(page)).toBeVisible()
  const [heading, field] = [
    await page.getByRole('heading', { name: 'Your e-mail' }).boundingBox(),
    await page.getByRole('main').boundingBox(),
  ]
  expect(heading!.y - field!.y).toBeLessThan(60)
})

test.describe('in the sandbox', () => {
  test('each device shows its own wallet, which asks for the address and pays', async ({ page, context }) => {
    await fillIn(page, newEmail(), DEMO_URL)
    await page.getByLabel('E-mail').fill('')
    await expect(page.getByRole('button', { name: 'Google Pay' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Apple Pay' })).toHaveCount(0)
    await expect(page.getByRole('radio', { name: /Google Pay|Apple Pay/ })).toHaveCount(0)
    await page.getByRole('button', { name: 'Google Pay' }).click()
    await expect(page.getByLabel('E-mail')).toBeFocused()
    await expect(page.getByLabel('E-mail')).toHaveAccessibleDescription(/Please enter your e-mail/)
    const email = newEmail()
    await page.getByLabel('E-mail').fill(email)
    await page.getByRole('button', { name: 'Google Pay' }).click()
    await expectPaid(page)
    expect((await statusOf(page, await shownOrderId(page), email)).rail).toBe('google_pay')

    const other = await context.newPage()
    await other.addInitScript(() => Object.assign(window, { ApplePaySession: Object }))
    await other.goto(DEMO_URL)
    await other.getByRole('button', { name: 'Buy another copy' }).click()
    await expect(other.getByRole('button', { name: 'Apple Pay' })).toBeVisible()
    await expect(other.getByRole('button', { name: 'Google Pay' })).toHaveCount(0)
  })
})
