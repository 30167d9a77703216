import type { Page } from '@playwright/test'
import { de } from '../../src/words/de.ts'
import { newEmail } from './buyer.ts'
import { BASE_URL, SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { buy } from './orders.ts'
import { mailsTo } from './seller.ts'

const acknowledgements = async (page: Page, email: string) =>
  (await mailsTo(page.context(), email, BASE_URL)).filter(({ subject }) => subject === 'We received your withdrawal')

async function fill(page: Page, email: string): Promise<void> {
  await page.getByLabel('Your name').fill('Bob Buyer')
  await page.getByLabel('E-mail for the acknowledgement').fill(email)
}

for (const [size, options] of Object.entries(SIZES))
  test.describe(size, () => {
    test.use(options)

    test('a buyer withdraws in two steps, and gets an acknowledgement', async ({ page }) => {
      const { email, orderId } = await buy(page.request)
      await page.goto('/order/')
      await page.getByRole('link', { name: 'Withdraw from contract here' }).click()
      await expect(page.getByRole('heading', { name: 'Withdraw from contract' })).toBeVisible()
      await expectFits(page, 'the form')
      await expectAccessible(page, 'the form')
      await page.getByRole('button', { name: 'Withdraw from contract here' }).click()
      await expect(page.getByText('Please enter your name.')).toBeVisible()
      await expect(page.getByLabel('Your name')).toBeFocused()
      await fill(page, email)
      await page.getByLabel(/^Order number/).fill(orderId)
      await page.getByRole('button', { name: 'Withdraw from contract here' }).click()
      await expect(page.getByRole('heading', { name: 'Confirm your withdrawal' })).toBeFocused()
      await expect(page.getByText(orderId)).toBeVisible()
      await expectFits(page, 'the statement')
      await expectAccessible(page, 'the statement')
      await page.getByRole('button', { name: 'Confirm withdrawal' }).click()
      await expect(page.getByRole('heading', { name: 'Your statement has arrived' })).toBeFocused()
      await expect(page.getByText(/^wdr_/)).toBeVisible()
      await expectFits(page, 'what has arrived')
      await expectAccessible(page, 'what has arrived')
      await expect.poll(async () => (await acknowledgements(page, email)).length).toBe(1)
    })
  })

test('by keyboard alone, with Back, a reload and a lost answer in between: one statement', async ({ page }) => {
  const email = newEmail()
  await page.goto(`/withdraw/?order=ord_${'0'.repeat(26)}`)
  await expect(page.getByLabel(/^Order number/)).toHaveValue(`ord_${'0'.repeat(26)}`)
  await fill(page, email)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Confirm your withdrawal' })).toBeVisible()
  await page.goBack()
  await expect(page.getByLabel('Your name')).toHaveValue('Bob Buyer')
  await page.getByLabel('Your name').press('Enter')
  await expect(page.getByRole('heading', { name: 'Confirm your withdrawal' })).toBeFocused()
  await page.reload()
  // the service has the statement, and the answer is lost
  await page.route('**/api/withdrawals', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Confirm withdrawal' }).press('Enter')
  await expect(page.getByRole('alert')).toBeVisible()
  await page.unroute('**/api/withdrawals')
  await page.getByRole('button', { name: 'Confirm withdrawal' }).press('Enter')
  await expect(page.getByRole('heading', { name: 'Your statement has arrived' })).toBeVisible()
  await expect.poll(async () => (await acknowledgements(page, email)).length).toBe(1)
  await page.reload()
  await expect(page.getByLabel('Your name')).toHaveValue('')
})

test('a link names its order also where a statement about another one is unfinished', async ({ page }) => {
  const [first, second] = ['0', '1'].map((digit) => `ord_${digit.repeat(26)}`)
  const number = page.getByLabel(/^Order number/)
  const checking = page.getByRole('heading', { name: 'Confirm your withdrawal' })
  await page.goto(`/withdraw/?order=${first}`)
  await fill(page, newEmail())
  await page.keyboard.press('Enter')
  await expect(checking).toBeVisible()
  await page.goto(`/withdraw/?order=${second}`)
  await expect(number).toHaveValue(second!)
  for (const address of [`/withdraw/?order=${first}`, '/withdraw/']) {
    await page.goto(address)
    await expect(number).toHaveValue(first!)
    await expect(page.getByLabel('Your name')).toHaveValue('Bob Buyer')
  }

  // a buyer who enters another contract than the link names keeps it
  await page.goto(`/withdraw/?order=${first}`)
  await number.fill('The Quiet Shop, of 3 July')
  await number.press('Enter')
  await expect(checking).toBeVisible()
  await page.reload()
  await expect(page.getByText('The Quiet Shop, of 3 July')).toBeVisible()
})

test('what a buyer changes in a statement stays in another language', async ({ page }) => {
  await page.goto(`/withdraw/?order=ord_${'0'.repeat(26)}`)
  await fill(page, newEmail())
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Change it' }).click()
  await page.getByLabel('Your name').fill('Rob Buyer')
  await page.getByLabel('Language').selectOption('de')
  await expect(page.getByLabel(de.withdraw.name)).toHaveValue('Rob Buyer')
})

test('what a buyer pastes with tabs, no-break spaces and control characters is taken', async ({ page }) => {
  await page.goto('/withdraw/')
  await fill(page, newEmail())
  await page.getByLabel('Your name').fill('\u0000\u001b')
  await page.getByLabel(/^Order number/).fill('\u00a0the book\tof 3\u0007 July\u00a0')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Please enter your name.')).toBeVisible()
  await page.getByLabel('Your name').fill('\u00a0Bob\tBuyer')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Confirm withdrawal' }).click()
  await expect(page.getByRole('heading', { name: 'Your statement has arrived' })).toBeVisible()
  await expect(page.locator('dd').filter({ hasText: /^Bob Buyer$/ })).toBeVisible()
  await expect(page.locator('dd').filter({ hasText: /^the book of 3 July$/ })).toBeVisible()
})

test('too many statements from one network: the page names the other way, and not guessers', async ({ page }) => {
  await page.route('**/api/withdrawals', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '720' },
      contentType: 'application/problem+json',
      json: { status: 429, code: 'rate_limited', detail: 'Too many statements came from your network.' },
    }),
  )
  await page.goto(`/withdraw/?order=ord_${'0'.repeat(26)}`)
  await fill(page, newEmail())
  await page.getByRole('button', { name: 'Withdraw from contract here' }).click()
  await page.getByRole('button', { name: 'Confirm withdrawal' }).click()
  const alert = page.getByRole('alert')
  await expect(alert).toContainText('Please wait, or write to the seller: an e-mail works just as well.')
  await expect(alert).not.toContainText('guessers')
})
