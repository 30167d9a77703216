import type { BrowserContext, Page } from '@playwright/test'
import { BASE_URL, SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { loseAnswers, signUp } from './seller.ts'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

async function ask<Answer>(context: BrowserContext, method: string, path: string, data?: object): Promise<Answer> {
  const answer = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: BASE_URL } })
  expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()) as Answer
}

/** A program with a key of this seller proposes something, and gets the link for the seller. */
async function propose(context: BrowserContext, tool: string, given: object): Promise<string> {
  const scopes = ['products:read', 'keys:read']
  const { secret } = await ask<{ secret: string }>(context, 'POST', 'keys', { name: 'My assistant', scopes })
  // fetch, and not the browser's context, whose cookies do not belong to a program
  const answer = await fetch(`${BASE_URL}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given } }),
  })
  const text = await answer.text()
  const [, url] = /"url":"([^"]+)"/.exec(text) ?? []
  expect(url, text).toBeTruthy()
  return url!
}

for (const [name, size] of Object.entries(SIZES)) {
  test.describe(name, () => {
    test.use(size)
    test('a seller sees what a program proposes and confirms it, once', async ({ page, context }) => {
      await signUp(page)
      const made = await ask<{ id: string }>(context, 'POST', 'products', { name: 'The Quiet Handbook', amount: 1900, currency: 'USD' }) // oxfmt-ignore
      const url = await propose(context, 'change_product', { productId: made.id, amount: 2400 })
      await page.goto(url)
      await expect(page.getByRole('heading', { name: 'Change The Quiet Handbook' })).toBeVisible()
      await expect(page.getByText('Nothing has happened yet.')).toBeVisible()
      await expect(page.locator('.proposed')).toContainText('$19.00')
      await expect(page.locator('.proposed')).toContainText('$24.00')
      await expectAccessible(page, 'a proposal')
      await expectFits(page, 'a proposal')
      await button(page, 'Confirm').press('Enter')
      await expect(page.getByText('You have confirmed this, and it is done.')).toBeVisible()
      expect((await ask<{ amount: number }>(context, 'GET', `products/${made.id}`)).amount).toBe(2400)
      await expectAccessible(page, 'a proposal')
      await page.reload()
      await expect(page.getByText('You have confirmed this, and it is done.')).toBeVisible()
      await expect(button(page, 'Confirm')).toHaveCount(0)
    })
  })
}

test('after an outage in the middle, the page does not say that nothing has happened', async ({ page, context }) => {
  await signUp(page)
  await page.goto(await propose(context, 'create_key', { name: 'Sync', scopes: ['orders:read'] }))
  await expect(button(page, 'Confirm')).toBeVisible()
  // the request may have been done: the answer to its commit was lost
  await page.route('**/api/confirmations/*/confirm', (route) =>
    route.fulfill({
      json: { status: 503, code: 'database_unavailable', detail: 'The service cannot reach its database.' },
    }),
  )
  await page.route('**/api/confirmations/*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), state: 'confirmed', status: 503 } })
  })
  await button(page, 'Confirm').click()
  await expect(page.getByText('You have confirmed this, and its outcome is not known.')).toBeVisible()
})

test('after a lost answer the page looks again, and says what has happened', async ({ page, context }) => {
  await signUp(page)
  const done = page.getByText('You have confirmed this, and it is done.')
  await page.goto(await propose(context, 'create_key', { name: 'Sync', scopes: ['orders:read'] }))
  await loseAnswers(page, '**/api/confirmations/*/confirm')
  await button(page, 'Confirm').click()
  await expect(done).toBeVisible()
  await expect(page.locator('.notice').filter({ has: done })).toBeFocused()
  await expect(page.getByText('Nothing has happened yet.')).toHaveCount(0)
  await page.unroute('**/api/confirmations/*/confirm')

  await page.goto(await propose(context, 'create_key', { name: 'Another', scopes: ['orders:read'] }))
  await expect(button(page, 'Confirm')).toBeVisible()
  await page.route('**/api/confirmations/*', (route) => route.abort('connectionreset'))
  await button(page, 'Confirm').click()
  await expect(done).toBeVisible()
  await expect(page.locator('.secret code')).toHaveText(/^till_test_/)
  await expect(page.getByText('Nothing has happened yet.')).toHaveCount(0)
})

test('a seller gets the secret of a proposed key once, and can decline another', async ({ page, context }) => {
  await signUp(page)
  await page.goto(await propose(context, 'create_key', { name: 'Sync', scopes: ['orders:read'] }))
  await button(page, 'Confirm').click()
  const secret = page.locator('.secret code')
  await expect(secret).toHaveText(/^till_test_/)
  await expectAccessible(page, 'a proposal')
  await page.reload()
  await expect(page.getByText('You have confirmed this, and it is done.')).toBeVisible()
  await expect(secret).toHaveCount(0)

  await page.goto(await propose(context, 'create_key', { name: 'Another', scopes: ['orders:read'] }))
  await button(page, 'Decline').click()
  await expect(page.getByText('You have declined this. Nothing has happened.')).toBeVisible()
  await page.goto('/shop/#/confirm/cnf_00000000000000000000000000')
  await expect(page.getByRole('heading', { name: 'No such proposal' })).toBeVisible()
})
