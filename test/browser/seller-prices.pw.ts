import type { BrowserContext, Page } from '@playwright/test'
import { BASE_URL, SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { signUp } from './seller.ts'

interface Product {
  id: string
  payUrl: string
  prices: { currency: string; amount: number; minimum?: number }[]
}

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const saved = (page: Page) => expect(page.getByText('Saved.')).toBeVisible()

async function ask<Answer>(context: BrowserContext, method: string, path: string, data?: object): Promise<Answer> {
  const answer = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: BASE_URL } })
  expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()) as Answer
}

test('a seller adds a rupee price in one press, another by choice, and removes it', async ({ page, context }) => {
  await signUp(page)
  const { id } = await ask<Product>(context, 'POST', 'products', { name: 'Guide', amount: 1900, currency: 'USD' })
  const prices = async () => (await ask<Product>(context, 'GET', `products/${id}`)).prices
  await page.goto(`/shop/#/products/${id}`)
  await expect(page.getByText(/UPI needs a price in INR/)).toBeVisible()
  await button(page, 'Add a price in INR').click()
  await expect(field(page, 'Price in INR')).toBeFocused()
  await expect(page.getByText(/UPI needs a price in INR/)).toHaveCount(0)
  await button(page, 'Save').click()
  await expect(page.getByText('Please enter a price.')).toBeVisible()
  await expect(field(page, 'Price in INR')).toBeFocused()
  await field(page, 'Price in INR').fill('₹499')
  await button(page, 'Add a currency').click()
  await page.locator('#further-currency1').selectOption('JPY')
  await field(page, 'Price in JPY').fill('19.50')
  await button(page, 'Save').click()
  await expect(page.getByText('JPY has no decimals.')).toBeVisible()
  await field(page, 'Price in JPY').fill('2500')
  await page.setViewportSize(SIZES.phone.viewport)
  await expectAccessible(page, 'a product with three prices')
  await expectFits(page, 'a product with three prices')
  await button(page, 'Save').click()
  await saved(page)
  const all = [
    { currency: 'USD', amount: 1900 },
    { currency: 'INR', amount: 49_900 },
    { currency: 'JPY', amount: 2500 },
  ]
  expect(await prices()).toEqual(all)
  await page.reload()
  await expect(field(page, 'Price in INR')).toHaveValue('499.00')
  await button(page, 'Remove the price in INR').click()
  await button(page, 'Save').click()
  await saved(page)
  expect(await prices()).toEqual([all[0], all[2]])
  await page.goto('/shop/#/products')
  await expect(page.getByText('$19.00 · ¥2,500 · no files')).toBeVisible()
})

test('a code takes off an amount in each currency, and a link begins with one of the prices', async ({
  page,
  context,
}) => {
  await signUp(page)
  const prices = [
    { currency: 'USD', amount: 1900 },
    { currency: 'INR', amount: 49_900 },
  ]
  const { id, payUrl } = await ask<Product>(context, 'POST', 'products', { name: 'Guide', prices })
  const headers = { origin: BASE_URL, 'content-type': 'application/pdf' }
  await context.request.post(`/api/products/${id}/files?name=book.pdf`, { data: 'a book', headers })
  await ask(context, 'PATCH', `products/${id}`, { status: 'active' })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`/shop/#/products/${id}`)
  await button(page, 'New code').click()
  await field(page, 'Code').fill('THANKS')
  await field(page, 'In').selectOption('amount')
  await field(page, 'Off').fill('5')
  await field(page, 'Off in INR').fill('x')
  await button(page, 'Create the code').click()
  await expect(field(page, 'Off in INR')).toBeFocused()
  await field(page, 'Off in INR').fill('100')
  await button(page, 'Create the code').click()
  await expect(page.getByText('$5.00 or ₹100.00 off')).toBeVisible()
  await page.getByRole('button', { name: 'INR', exact: true }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`${payUrl}&currency=INR`)
})
