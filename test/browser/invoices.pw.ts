import type { Locator, Page } from '@playwright/test'
import { newEmail } from './buyer.ts'
import { BASE_URL, SIZES, expect, expectFine, test } from './fixtures.ts'
import { signUp } from './seller.ts'

const headers = { origin: BASE_URL }

/** A new seller with one product, whose account page is open. */
async function openShop(page: Page): Promise<string> {
  await signUp(page)
  const made = await page.request.post('/api/products', {
    headers,
    data: { name: 'Das Buch', amount: 1900, currency: 'EUR' },
  })
  expect(made.status()).toBe(201)
  const { id } = (await made.json()) as { id: string }
  const file = await page.request.post(`/api/products/${id}/files?name=book.pdf`, { headers: { ...headers, 'content-type': 'application/pdf' }, data: Buffer.from('a book') }) // oxfmt-ignore
  expect(file.status()).toBe(201)
  expect((await page.request.patch(`/api/products/${id}`, { headers, data: { status: 'active' } })).status()).toBe(200)
  return id
}

async function fillProfile(page: Page): Promise<void> {
  const part = page.locator('#invoices')
  await part.getByLabel('Legal name').fill('Ann Books GmbH')
  await part.getByLabel('Street and number').fill('Musterstraße 12')
  await part.getByLabel('Postcode').fill('10115')
  await part.getByLabel('City').fill('Berlin')
  await part.getByLabel('Country').selectOption('DE')
  await part.getByLabel('Tax IDs').fill('DE DE136695976')
}

async function buyIt(page: Page, productId: string): Promise<{ orderId: string; email: string }> {
  const email = newEmail()
  const made = await page.request.post('/api/checkout', { data: { productId, email } })
  const { orderId, clientSecret } = (await made.json()) as { orderId: string; clientSecret: string }
  await page.request.post('/api/sandbox/confirm', { data: { clientSecret, rail: 'card', scenario: 'success' } })
  const status = async () =>
    ((await (await page.request.get(`/api/checkout/${orderId}/status?email=${email}`)).json()) as { paid: boolean })
      .paid
  await expect.poll(status).toBe(true)
  return { orderId, email }
}

test('text typed while the invoice profile is saved stays', async ({ page }) => {
  await signUp(page)
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/api/invoice-profile', async (route) => {
    if (route.request().method() !== 'PUT') return route.continue()
    const response = await route.fetch()
    asked.resolve()
    await answered.promise
    await route.fulfill({ response })
  })
  await fillProfile(page)
  await page.getByRole('button', { name: 'Save the invoice profile' }).click()
  await asked.promise
  const note = page.locator('#invoices').getByLabel('Note (optional)')
  await note.fill('Small business, no tax.')
  answered.resolve()
  await expect(page.getByText('Saved. New sales get no invoice.')).toBeVisible()
  await expect(note).toHaveValue('Small business, no tax.')
})

test.describe('on a phone', () => {
  test.use(SIZES.phone)
  test('a seller switches invoices on, a buyer adds a company, and both find all documents', async ({ page }) => {
    const productId = await openShop(page)
    await page.reload()
    await page.getByLabel('Issue an invoice for every sale').check()
    await page.getByRole('button', { name: 'Save the invoice profile' }).click()
    await expect(page.getByText('Please enter the legal name.')).toBeVisible()
    await fillProfile(page)
    const seller = page.locator('#invoices')
    const refused = async (label: string, words: string) => {
      await page.getByRole('button', { name: 'Save the invoice profile' }).click()
      await expect(seller.getByRole('alert')).toHaveText(words)
      await expect(seller.getByLabel(label)).toBeFocused()
    }
    await seller.getByLabel('Country').selectOption('')
    await refused('Country', 'Please choose your country.')
    await seller.getByLabel('Tax IDs').fill('136695976')
    await seller.getByLabel('Country').selectOption('DE')
    await refused('Tax IDs', 'Begin each line with the country and a space, as in DE DE136695976.')
    await seller.getByLabel('Street and number').fill(' ')
    await seller.getByLabel('Tax IDs').fill('DE DE136695977')
    await refused('Street and number', 'Please enter the address.')
    await seller.getByLabel('Street and number').fill('Musterstraße 12')
    await page.getByRole('button', { name: 'Save the invoice profile' }).click()
    await expect(page.locator('#invoices').getByRole('alert')).toBeVisible()
    await fillProfile(page)
    await page.getByRole('button', { name: 'Save the invoice profile' }).click()
    await expect(page.getByText('Saved. New sales get an invoice.')).toBeVisible()
    await expectFine(page, 'the account with invoices')

    const { orderId, email } = await buyIt(page, productId)
    await page.goto(`/order/?order=${orderId}`)
    await page.getByLabel('E-mail').fill(email)
    await page.getByRole('button', { name: 'Show the order' }).click()
    const invoices = page.getByRole('region', { name: 'Invoice' })
    await expect(invoices.getByRole('listitem')).toHaveCount(1)
    const link = invoices.getByRole('link', { name: /^Invoice [A-Z0-9]{4}-20\d\d-000001 \(PDF\)$/ })
    const pdf = await page.request.get((await link.getAttribute('href'))!)
    expect([pdf.status(), pdf.headers()['content-type'], pdf.headers()['cache-control']]).toEqual([200, 'application/pdf', 'no-store']) // oxfmt-ignore
    expect((await pdf.body()).subarray(0, 5).toString()).toBe('%PDF-')

    await invoices.getByText('Need an invoice for a company?').click()
    // the moment at which it ends: the day alone would be said longer than it counts
    await expect(invoices).toContainText(/tax ID by [A-Z][a-z]+ \d+, 20\d\d, \d+:\d\d\s[AP]M\./)
    await invoices.getByRole('button', { name: 'Issue the corrected invoice' }).click()
    await expect(invoices.getByLabel('Company or name')).toBeFocused()
    const look = (label: string) =>
      invoices.getByLabel(label).evaluate((field) => {
        const { backgroundColor, borderTopLeftRadius, fontSize } = getComputedStyle(field)
        return [backgroundColor, borderTopLeftRadius, fontSize]
      })
    expect(await look('Street and number')).toEqual(await look('Company or name'))
    await invoices.getByLabel('Company or name').fill('Acme Sp. z o.o.')
    await invoices.getByLabel('Postcode').fill('00-238')
    // a language that is chosen keeps what was typed, and the form open
    await invoices.getByLabel('Street and number').fill('ul. Krótka 2\nm. 3')
    await page.locator('#language select').selectOption('de')
    await expect(page.locator('#invoice-address')).toBeVisible()
    await page.locator('#language select').selectOption('en')
    await expect(invoices.getByLabel('Street and number')).toHaveValue('ul. Krótka 2\nm. 3')
    await expect(invoices.getByLabel('Company or name')).toHaveValue('Acme Sp. z o.o.')
    await invoices.getByLabel('Street and number').fill('')
    await invoices.getByLabel('City').fill('Warszawa')
    await invoices.getByLabel('Country').selectOption('')
    for (const [label, fill] of [
      ['Street and number', (field: Locator) => field.fill('ul. Długa 1')],
      ['Country', (field: Locator) => field.selectOption('PL')],
    ] as const) {
      await invoices.getByRole('button', { name: 'Issue the corrected invoice' }).click()
      await expect(invoices.getByLabel(label)).toBeFocused()
      await expect(invoices.getByLabel(label)).toHaveAccessibleDescription('Please check what you entered.')
      await expect(invoices.getByRole('alert').last()).toHaveText('Please check what you entered.')
      await fill(invoices.getByLabel(label))
    }
    await expect(invoices.getByRole('alert')).toHaveCount(0)
    await invoices.getByLabel('Tax ID (optional)').fill('PL5260001247')
    await invoices.getByRole('button', { name: 'Issue the corrected invoice' }).click()
    await expect(invoices.getByText('This tax ID cannot be right for that country.')).toBeVisible()
    await expectFine(page, 'the form for a company')
    await invoices.getByLabel('Tax ID (optional)').fill('526-000-12-46')
    await invoices.getByRole('button', { name: 'Issue the corrected invoice' }).click()
    await expect(invoices.getByText('The corrected invoice is ready.')).toBeVisible()
    await expect(invoices.getByRole('link', { name: /^Corrected invoice .*-R000001 \(PDF\)$/ })).toBeVisible()

    await page.goto(`/shop/#/orders/${orderId}`)
    await expect(page.getByRole('link', { name: /^Corrected invoice / })).toBeVisible()
    await expect(page.getByText('PL5260001246, checked by its digits')).toHaveCount(1)
    await expectFine(page, 'with invoices')
  })
})
