import { SIZES, expect, expectFine, test } from './fixtures.ts'
import { type RazorpayStandIn, startRazorpay } from './razorpay-stand-in.ts'
import { askCode, codeField, codeFor, newSellerEmail } from './seller.ts'

// Sellers tell about their business on the Money page, because Razorpay has no pages for it.

const PICTURES = process.env.PICTURES

let shop: RazorpayStandIn
test.beforeAll(async () => {
  shop = await startRazorpay({ PAYOUTS: 'razorpay-route', PROCESSORS: 'razorpay' })
})
test.afterAll(() => shop?.stop())

test('a seller opens a linked account on a phone, and reads how it stands', async ({ browser, watch }) => {
  watch.allow(shop.url)
  const context = await browser.newContext({ baseURL: shop.url, ...SIZES.phone })
  const page = await context.newPage()
  const picture = async (name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/route-${name}.png`, fullPage: true })
    await expectFine(page, name)
  }
  const email = newSellerEmail()
  await page.goto(`${shop.url}/sign-in/`)
  await askCode(page, email)
  await codeField(page).fill(await codeFor(page, email, 1, shop.url))
  await expect(page).toHaveURL(/\/(shop|account)\//)
  await page.goto(`${shop.url}/shop/#/money`)
  await expect(page.getByText('Your products are not for sale yet')).toBeVisible()
  await picture('none')
  await page.getByRole('button', { name: 'Open my account' }).click()

  // the page names each missing value at its field, and sends nothing
  await page.getByRole('button', { name: 'Send to Razorpay' }).click()
  await expect(page.getByText('Enter the whole name: at least four letters.')).toBeVisible()
  await expect(page.getByLabel('Your full name')).toBeFocused()
  await picture('faults')
  expect(shop.bank.requestsTo(/v2\/accounts/)).toHaveLength(0)

  await page.getByLabel('Kind of business').selectOption('partnership')
  for (const [label, value] of [
    ['Name of the business', 'Rao and Rao'],
    ['Contact person', 'Asha Rao'],
    ['Phone number', '90000 90000'],
    ['Address', '507, Koramangala 1st block'],
    ['Area or landmark', 'MG Road'],
    ['City', 'Bengaluru'],
    ['State', 'KARNATAKA'],
    ['PIN code', '560 034'],
    ['PAN of the contact person', 'abcpe1234f'],
    ['PAN of the business', 'AAAFR1234C'],
    // it looks like the number of a card
    ['Bank account number', '5010 0000 0000 07'],
    ['IFSC', 'xxxx0000317'],
    ['Account holder', 'Rao and Rao'],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(value)
  await page.getByLabel('I accept the terms of Razorpay').check()
  await page.getByRole('button', { name: 'Send to Razorpay' }).click()
  await expect(page.getByText(/Invalid IFSC Code/)).toBeVisible()
  await picture('refused')
  await page.getByLabel('IFSC', { exact: true }).fill('HDFC0000317')
  await page.getByRole('button', { name: 'Send to Razorpay' }).click()
  await expect(page.getByText('Your details are sent.')).toBeVisible()
  await expect(page.getByText('Nothing at the moment: Razorpay is checking what you told it')).toBeVisible()
  await picture('review')

  const account = [...shop.bank.route.accounts.values()].find((one) => one.email === email)!
  expect([account.legal_business_name, account.phone, account.legal_info.pan]).toEqual(['Rao and Rao', '9000090000', 'AAAFR1234C']) // oxfmt-ignore
  shop.bank.route.stand(account.id, 'activated')
  await expect(async () => {
    await page.reload()
    await expect(page.getByText('Active', { exact: true })).toBeVisible({ timeout: 20_000 })
  }).toPass()
  await expect(page.getByText('Your products are not for sale yet')).toHaveCount(0)
  await picture('active')
  await context.close()
})
