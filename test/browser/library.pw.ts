import type { Page } from '@playwright/test'
import { newEmail } from './buyer.ts'
import { BASE_URL, SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { buy, codeIn } from './orders.ts'
import { codeField, mailsTo } from './seller.ts'

const CODE_MAIL = /^\d{6} is your code/

async function ask(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(codeField(page)).toBeFocused()
}

test('a code shows all orders with working files, until the buyer closes the list', async ({ page }) => {
  const { email, orderId } = await buy(page.request)
  await buy(page.request, email)
  await page.goto('/order/')
  await page.getByRole('main').getByRole('link', { name: 'Your library' }).click()
  await ask(page, ` ${email.toUpperCase()} `)
  const code = await codeIn(page.context(), email, CODE_MAIL)
  await codeField(page).fill(code === '111111' ? '222222' : '111111')
  await expect(page.getByText('This code is not right. Please check the latest e-mail.')).toBeVisible()
  await codeField(page).fill(code)
  await expect(page.getByRole('heading', { name: 'Your library' })).toBeFocused()
  await expect(page).toHaveURL('/library/')
  const bought = page.locator('.bought')
  await expect(bought).toHaveCount(2)
  await expect(bought.first()).toContainText('₹499.00')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    bought
      .first()
      .getByRole('link', { name: /^Download / })
      .first()
      .click(),
  ])
  expect(await download.failure()).toBeNull()

  await page.reload()
  await expect(bought).toHaveCount(2)
  await bought
    .last()
    .getByRole('link', { name: /^Receipt and details/ })
    .click()
  await expect(page).toHaveURL(`/order/?order=${orderId}`)
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
  await page.goBack()
  await page.getByRole('button', { name: 'Forget me on this device' }).click()
  await expect(page.getByText('Nothing you bought is remembered in this browser.')).toBeVisible()
  await expect(page.getByLabel('E-mail')).toHaveValue('')
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(email)
  await page.reload()
  await expect(page.getByLabel('E-mail')).toBeVisible()
  await expect(bought).toHaveCount(0)
})

test('a browser that blocks cookies learns why its right code does not work, and what to do', async ({ page }) => {
  const { email } = await buy(page.request)
  await page.context().clearCookies()
  await page.clock.install()
  await page.goto('/library/')
  await ask(page, email)
  await page.context().clearCookies()
  const blocked = page.getByText('Please allow cookies for this site, then ask for a new code.')
  for (let tries = 1; tries <= 6; tries += 1) {
    await codeField(page).fill(await codeIn(page.context(), email, CODE_MAIL))
    await expect(blocked).toBeVisible()
    await expect(codeField(page)).toHaveValue('')
    await expect(codeField(page)).toBeFocused()
  }
  await page.clock.fastForward('00:35')
  await page.getByRole('button', { name: 'Send a new code' }).click()
  await expect(page.getByText('We sent you a new code.')).toBeVisible()
  await expect(blocked).toHaveCount(0)
  await page.context().clearCookies()
  await page.clock.fastForward('10:05')
  await codeField(page).fill('123456')
  await expect(page.getByText('This code can no longer be used')).toBeVisible()
})

test('a mistyped address is corrected, and one without orders gets only a mail', async ({ page }) => {
  await page.goto('/library/')
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(page.getByText('Please enter your e-mail.')).toBeVisible()
  await expect(page.getByLabel('E-mail')).toBeFocused()
  await page.getByLabel('E-mail').fill('ann@gmial.con')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'ann@gmail.com' }).click()
  await expect(page.getByLabel('E-mail')).toHaveValue('ann@gmail.com')
  const email = newEmail()
  await ask(page, email)
  await expect
    .poll(async () => (await mailsTo(page.context(), email, BASE_URL)).map(({ subject }) => subject))
    .toEqual([expect.stringMatching(/^Nothing was bought/)])
  await page.goBack()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
})

test('more orders come on request; after an hour the page asks for a new code', async ({ page }) => {
  const purchases = (numbers: number[]) =>
    numbers.map((number) => ({
      orderId: `ord_${number}`,
      status: 'paid',
      product: { id: 'prod_1', name: `Book ${number}` },
      seller: { name: 'Ann' },
      amount: 0,
      currency: 'INR',
      createdAt: '2026-01-01T00:00:00Z',
      paidAt: '2026-01-01T00:00:00Z',
      downloads: [],
    }))
  let known = true
  await page.route(/\/api\/library/, (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor')
    if (!known) return route.fulfill({ status: 401, json: { status: 401, code: 'not_signed_in' } })
    const items = purchases(cursor ? [3] : [1, 2])
    return route.fulfill({ json: { email: 'ann@example.com', items, nextCursor: cursor ? 'end' : 'next' } })
  })
  await page.goto('/library/')
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect(page.getByRole('heading', { name: 'Book 3' })).toBeFocused()
  known = false
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect(page.getByText('The hour is over.')).toBeVisible()
  await expect(page.getByLabel('E-mail')).toHaveValue('ann@example.com')
})

test('every step is legible to everybody, on a phone and on a desk', async ({ browser, request }) => {
  const { email } = await buy(request)
  const context = await browser.newContext({ ...SIZES.phone, baseURL: BASE_URL })
  const page = await context.newPage()
  const look = async (what: string) => {
    await expectAccessible(page, what)
    for (const { viewport } of Object.values(SIZES).reverse()) {
      await page.setViewportSize(viewport)
      await expectFits(page, what)
    }
  }
  await page.goto('/library/')
  await expect(page.getByLabel('E-mail')).toBeVisible()
  await look('asking for an address')
  await ask(page, email)
  await look('asking for a code')
  await codeField(page).fill(await codeIn(context, email, CODE_MAIL))
  await expect(page.locator('.bought')).toHaveCount(1)
  await look('what was bought')
  await context.close()
})
