import type { Page } from '@playwright/test'
import { BASE_URL, SIZES, expect, expectAccessible, expectFine, test } from './fixtures.ts'
import { loseAnswers, signUp } from './seller.ts'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

async function open(page: Page): Promise<void> {
  await signUp(page)
  await page.goto('/shop/#/developers')
  await expect(page.getByRole('heading', { name: 'Developers' })).toBeVisible()
}

/** A request of a program: nothing of the browser comes with it. */
async function statusFor(secret: string, path = '/api/orders', method = 'GET'): Promise<number> {
  const { status } = await fetch(BASE_URL + path, { method, headers: { authorization: `Bearer ${secret}` } })
  return status
}

const secretOn = async (page: Page): Promise<string> => (await page.locator('.secret-text').textContent()) ?? ''

test.describe('on a phone', () => {
  test.use(SIZES.phone)

  test('a key is made, shown once, rolled and revoked', async ({ page }) => {
    await open(page)
    await expect(page.getByText('None yet.', { exact: true })).toBeVisible()
    await expectFine(page, 'without keys')
    await button(page, 'New key').click()
    await expect(page.getByLabel('Name')).toBeFocused()
    await button(page, 'Make the key').click()
    await expect(page.getByLabel('Name')).toBeFocused()
    await expect(page.getByText('Give the key a name, so that you know it again.')).toBeVisible()
    await page.getByLabel('Name').fill('Order sync')
    await page.getByText('Choose one by one').click()
    await expectFine(page, 'the form')
    await button(page, 'Make the key').click()

    await expect(page.getByRole('heading', { name: 'The key “Order sync”' })).toBeFocused()
    const first = await secretOn(page)
    expect(first).toMatch(/^till_test_[0-9A-Za-z]{38}$/)
    await expectFine(page, 'the secret')
    expect(await statusFor(first)).toBe(200)
    // the usual choice may not refund
    expect(await statusFor(first, `/api/orders/ord_${'0'.repeat(26)}/refunds`)).toBe(403)
    await button(page, 'I have it').click()
    await expect(page.getByRole('heading', { name: 'API keys' })).toBeFocused()
    await page.reload()
    await expect(page.getByText('Last used within the hour, for GET /api/orders')).toBeVisible()
    expect(await page.content()).not.toContain(first.slice(10, -4))

    await button(page, 'Roll Order sync').click()
    await expectFine(page, 'the question about rolling')
    await page.getByLabel('works for a day more').check()
    await button(page, 'Roll it').click()
    await expect(page.getByRole('heading', { name: 'The key “Order sync”' })).toBeFocused()
    const second = await secretOn(page)
    expect(second).not.toBe(first)
    for (const secret of [first, second]) expect(await statusFor(secret)).toBe(200)

    await button(page, 'Revoke Order sync').click()
    await expect(page.getByRole('dialog').getByRole('button', { name: 'Cancel' })).toBeFocused()
    await button(page, 'Revoke it').click()
    await expect(page.getByText('Revoked', { exact: true })).toBeVisible()
    await expect(page.locator('.secret-text')).toHaveCount(0)
    for (const secret of [first, second]) expect(await statusFor(secret)).toBe(401)
    await expectFine(page, 'with a revoked key')
  })
})

test('a key that can refund or make keys is never a usual choice, and says what it could cost', async ({ page }) => {
  await open(page)
  await button(page, 'New key').click()
  await page.getByText('Choose one by one').click()
  for (const choice of ['See what was sold', 'Keep the shop up to date', 'Do the books']) {
    await page.getByLabel(choice).check()
    for (const name of ['Change: Refunds', 'Change: API keys']) await expect(page.getByLabel(name)).not.toBeChecked()
  }
  await page.getByLabel('Change: Refunds').check()
  await expect(page.getByText('This key can send money back to buyers.')).toBeVisible()
  await expect(page.getByLabel('Do the books')).not.toBeChecked()
  const ticked = page.getByRole('checkbox', { checked: true })
  for (let left = await ticked.count(); left > 0; left--) await ticked.first().uncheck()
  await page.getByLabel('Name').fill('Nothing')
  await button(page, 'Make the key').click()
  await expect(page.getByRole('alert').filter({ hasText: 'Choose what the key may do.' })).toBeVisible()
})

test('whoever revokes a key is told which endpoints it made, and the endpoint says so afterwards', async ({ page }) => {
  await open(page)
  await button(page, 'New key').click()
  await page.getByLabel('Name').fill('Deploy')
  await page.getByText('Choose one by one').click()
  await page.getByLabel('Change: Webhooks').check()
  await button(page, 'Make the key').click()
  await expect(button(page, 'I have it')).toBeVisible()
  const url = 'http://127.0.0.1:9/deployed'
  const made = await fetch(`${BASE_URL}/api/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await secretOn(page)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, events: ['*'] }),
  })
  expect(made.status, await made.text()).toBe(201)
  await page.reload()
  await expect(page.getByText('Made by the key “Deploy”.')).toBeVisible()
  await button(page, 'Revoke Deploy').click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('They go on hearing of your orders until you remove them')).toBeVisible()
  await expect(dialog.getByText(url)).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused()
  await expectAccessible(page, 'the question about revoking')
  await button(page, 'Revoke it').click()
  await expect(page.getByText('Revoked', { exact: true })).toBeVisible()
  await page.reload()
  await expect(page.getByText('Made by the key “Deploy”, which has ended.')).toBeVisible()
  await expectAccessible(page, 'with an endpoint of an ended key')
})

test('while the page looks up what a key has made, its button says so, and no other dialog opens', async ({ page }) => {
  await open(page)
  for (const name of ['First', 'Second']) {
    const data = { name, scopes: ['orders:read'] }
    const made = await page.request.post('/api/keys', { data, headers: { origin: BASE_URL } })
    expect(made.status()).toBe(201)
  }
  await page.reload()
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await expect(button(page, 'Revoke First')).toBeVisible()
  await page.route('**/api/webhook-endpoints', async (route) => {
    asked.resolve()
    await answered.promise
    await route.abort()
  })
  await button(page, 'Revoke First').click()
  await asked.promise
  await expect(button(page, 'Revoke First').locator('.spinner')).toHaveCount(1)
  for (const name of ['Revoke Second', 'Roll Second', 'Roll First']) {
    await expect(button(page, name)).toHaveAttribute('aria-disabled', 'true')
    await button(page, name).dispatchEvent('click')
  }
  await expect(page.getByRole('dialog')).toHaveCount(0)
  answered.resolve()
  // without the answer the key can be revoked all the same
  await expect(page.getByRole('dialog', { name: 'Revoke “First”?' })).toContainText('We could not read')
  await expect(page.getByRole('dialog')).toHaveCount(1)
  await expectAccessible(page, 'the question about revoking without the endpoints')
  await button(page, 'Revoke it').click()
  await expect(page.getByText('Revoked', { exact: true })).toHaveCount(1)
  await expect(button(page, 'Revoke Second')).toBeVisible()
})

test('what a key has changed is on the page, with the name of the key', async ({ page }) => {
  await open(page)
  await button(page, 'New key').click()
  await page.getByLabel('Name').fill('Catalogue')
  await page.getByLabel('Keep the shop up to date').check()
  await button(page, 'Make the key').click()
  await expect(button(page, 'I have it')).toBeVisible()
  const secret = await secretOn(page)
  expect(await statusFor(secret, `/api/products/prod_${'0'.repeat(26)}`, 'DELETE')).toBe(404)
  await expect
    .poll(async () => {
      await page.reload()
      return page.getByRole('list', { name: /^Requests of your keys/ }).textContent()
    })
    .toMatch(/DELETE \/api\/products\/prod_0+ ?Refused: 404.*Catalogue/)
})

test('a key whose answer is lost is in the list, and the page says what to do with it', async ({ page }) => {
  await open(page)
  await loseAnswers(page, '**/api/keys')
  await button(page, 'New key').click()
  await page.getByLabel('Name').fill('Lost')
  await page.getByLabel('Do the books').check()
  await button(page, 'Make the key').click()
  await expect(page.getByRole('alert')).toContainText('The key may have been made all the same.')
  await expect(page.locator('.keys .name')).toHaveText(['Lost'])
  await expectAccessible(page, 'the key of a lost answer')
  await page.unrouteAll()
  await button(page, 'Cancel').click()
  await button(page, 'Roll Lost').click()
  await button(page, 'Roll it').click()
  await expect(page.getByRole('heading', { name: 'The key “Lost”' })).toBeFocused()
  expect(await statusFor(await secretOn(page))).toBe(200)
})

test('when the sign-in is too long ago, nothing typed is lost on the way through a new one', async ({ page }) => {
  await open(page)
  await page.route('**/api/keys', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({
          status: 403,
          contentType: 'application/problem+json',
          json: { status: 403, code: 'recent_sign_in_required', detail: 'This can be changed for ten minutes.' },
        })
      : route.continue(),
  )
  await button(page, 'New key').click()
  await page.getByLabel('Name').fill('Kept')
  await page.getByLabel('Do the books').check()
  await page.getByLabel('How long it works').selectOption('a year')
  await button(page, 'Make the key').click()
  await expect(page.getByRole('alert')).toContainText('Please sign in again first.')
  await button(page, 'Sign in again').click()
  await expect(page).toHaveURL(/\/sign-in\/\?returnTo=\/shop\/&again=1/)
  await page.unrouteAll()
  await page.goto('/shop/')
  await expect(page.getByLabel('Name')).toHaveValue('Kept')
  await expect(page.getByLabel('Do the books')).toBeChecked()
  await button(page, 'Make the key').click()
  await expect(page.getByRole('heading', { name: 'The key “Kept”' })).toBeFocused()
})
