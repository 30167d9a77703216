import type { FrameLocator, Page } from '@playwright/test'
import { newEmail, payButton, shownOrderId } from './buyer.ts'
import { CARD, CHALLENGED, REDIRECTED, expect, paidIntents, test } from './element-buyer.ts'
import { type OtherSite, buyLink, changeSite, startOtherSite, waitForEver } from './other-site.ts'
import type { StripeStandIn } from './stripe-stand-in.ts'

// The processor's form inside the framed checkout. A bank's page for a frame stays there; a page that needs the whole window gets it.
test.describe.configure({ mode: 'default' })

let site: OtherSite
test.beforeAll(async ({ shop }) => {
  site = await startOtherSite()
  await changeSite('put', site.host, shop.url)
})
test.afterAll(() => site.close())
test.beforeEach(async ({ context, watch }) => {
  watch.allow(site.origin)
  await waitForEver(context)
})

const payIn = (frame: FrameLocator) => frame.getByRole('button', { name: /^pay\b/i })

async function toForm(
  page: Page,
  shop: StripeStandIn,
  more = `&successUrl=${site.origin}/thanks`,
): Promise<{ frame: FrameLocator; email: string }> {
  site.show('/', buyLink({ url: shop.demoUrl, base: shop.url, more }))
  await page.goto(`${site.origin}/`)
  await page.getByRole('link', { name: 'Buy the book' }).click()
  const frame = page.frameLocator('iframe[title="Checkout"]')
  const email = newEmail()
  await frame.getByLabel('E-mail').fill(email)
  await expect(payIn(frame)).toBeVisible()
  await expect(frame.locator('.form-place')).toHaveAttribute('data-stage', 'ready')
  return { frame, email }
}
const orderIdIn = async (frame: FrameLocator): Promise<string> =>
  (await frame.getByText(/^ord_[0-9a-z]{26}$/).first().textContent())! // oxfmt-ignore
/** A frame that has given up the window can no longer say which order it made. */
const lastOrder = ({ bank }: StripeStandIn): string => bank.paymentIntents.at(-1)!.metadata.order_id
const formIn = (frame: FrameLocator) => frame.frameLocator('iframe[title="Secure payment input frame"]')

for (const [what, number] of [
  ['a card', CARD],
  ['a card whose bank asks the buyer', CHALLENGED],
] as const)
  test(`${what} pays inside the frame`, async ({ page, shop }) => {
    const { frame } = await toForm(page, shop)
    await formIn(frame).getByLabel('Card number').fill(number)
    await payIn(frame).click()
    if (number === CHALLENGED)
      await frame.frameLocator('iframe[title="3D Secure"]').getByRole('link', { name: 'Approve' }).click()
    await expect(frame.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
    const orderId = await orderIdIn(frame)
    expect(paidIntents(shop, orderId)).toHaveLength(1)
    await frame.getByRole('link', { name: `Continue to ${site.host}` }).click()
    await expect(page).toHaveURL(`${site.origin}/thanks?order=${orderId}`)
  })

test('a payment method with a page of its own opens the same order in the whole window, and is paid once', async ({
  page,
  shop,
}) => {
  const { frame, email } = await toForm(page, shop)
  await formIn(frame).getByRole('radio', { name: 'Bank', exact: true }).check()
  await payIn(frame).click()
  await page.waitForURL(`${shop.url}/pay/**`)
  const orderId = lastOrder(shop)
  await expect(payButton(page)).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)
  await expect(page.getByText(`${email[0]}…@example.com`)).toBeVisible()
  expect(page.url()).not.toMatch(/#|embed=|host=/)
  await expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'ready')
  await page
    .frameLocator('iframe[title="Secure payment input frame"]')
    .getByRole('radio', { name: 'Bank', exact: true })
    .check()
  await payButton(page).click()
  await page.getByRole('link', { name: 'Approve' }).click()
  await expect(page).toHaveURL(`${site.origin}/thanks?order=${orderId}`)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('a card whose bank takes the whole window: the buyer goes on to the site, which learns the order alone', async ({
  page,
  shop,
}) => {
  const { frame } = await toForm(page, shop)
  await formIn(frame).getByLabel('Card number').fill(REDIRECTED)
  await payIn(frame).click()
  const arrived = page.waitForRequest(`${site.origin}/thanks**`)
  await page.getByRole('link', { name: 'Approve' }).click()
  const orderId = lastOrder(shop)
  expect(await (await arrived).headerValue('referer')).toBeNull()
  await expect(page).toHaveURL(`${site.origin}/thanks?order=${orderId}`)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('without a site to go on to, and when the bank says no, the buyer comes back to the order', async ({
  page,
  shop,
}) => {
  for (const [answer, more] of [
    ['Approve', ''],
    ['Refuse', undefined],
  ] as const) {
    const { frame } = await toForm(page, shop, more)
    await formIn(frame).getByLabel('Card number').fill(REDIRECTED)
    await payIn(frame).click()
    await page.getByRole('link', { name: answer }).click()
    const orderId = lastOrder(shop)
    await page.waitForURL(`${shop.url}/order/?order=${orderId}`)
    await expect(page.getByLabel('E-mail')).toBeVisible()
    expect(paidIntents(shop, orderId)).toHaveLength(answer === 'Approve' ? 1 : 0)
  }
})
