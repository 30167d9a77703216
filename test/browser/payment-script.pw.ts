import { expectNoPayButton, expectPaid, newEmail, payButton } from './buyer.ts'
import { CARD, expect, payBy, test, toForm } from './element-buyer.ts'

test('only a page that asks for money loads the script, and a paid order does not', async ({ page, shop, stripe }) => {
  for (const path of ['/', '/pricing/', '/order/', '/pay/', '/sign-in/']) await page.goto(shop.url + path)
  expect(stripe.scripts).toBe(0)
  await toForm(page, shop)
  expect(stripe.scripts).toBe(1)
  await payBy(page, CARD)
  await expectPaid(page)
  await page.reload()
  await expectPaid(page)
  expect(stripe.scripts, 'a paid order needs no form').toBe(1)
})

test('the script is blocked: a plain message, and the page can be tried again', async ({ page, shop, stripe }) => {
  stripe.faults.script = 'blocked'
  await page.goto(shop.demoUrl)
  await page.getByLabel('E-mail').fill(newEmail())
  const alarm = page.getByRole('alert').filter({ hasText: 'The payment form cannot be loaded.' })
  await expect(alarm).toBeVisible()
  await expectNoPayButton(page)
  await page.getByRole('button', { name: 'Try again' }).click()
  // The alarm of the first try stays for a moment, so seeing one does not prove that the second try has failed.
  await expect.poll(() => stripe.scripts).toBe(2)
  await expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'failed')
  await expect(alarm).toBeVisible()
  stripe.faults.script = undefined
  await page.getByRole('button', { name: 'Try again' }).click()
  await payBy(page, CARD)
  await expectPaid(page)
})

test('no network when the form is needed: it comes by itself when the network is back', async ({
  page,
  context,
  shop,
  stripe,
}) => {
  await page.route('**/assets/*form*', (route) => route.abort())
  await page.goto(shop.demoUrl)
  stripe.faults.script = 'blocked'
  await page.getByLabel('E-mail').fill(newEmail())
  await expect(page.getByText('The payment form cannot be loaded.')).toBeVisible()
  await context.setOffline(true)
  // The page waits for the network only after the frame in which it has shown the failure.
  await page.evaluate(
    () => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(seen)))),
  )
  await page.unroute('**/assets/*form*')
  stripe.faults.script = undefined
  await context.setOffline(false)
  await expect(payButton(page)).toBeVisible()
})

test('a slow network: the form keeps its place, and the page says that it is loading', async ({
  page,
  shop,
  stripe,
}) => {
  const { promise: scriptAfter, resolve: release } = Promise.withResolvers<void>()
  stripe.faults.scriptAfter = scriptAfter
  await page.goto(shop.demoUrl, { waitUntil: 'domcontentloaded' })
  await page.getByLabel('E-mail').fill(newEmail())
  await expect(page.getByText(/Loading the payment form…|still on its way/)).toBeVisible()
  const before = await page.locator('.form-place').boundingBox()
  await expect(page.getByText('The payment form is still on its way.')).toBeVisible()
  release()
  await expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'ready')
  const after = await page.locator('.form-place').boundingBox()
  expect(Math.abs(after!.height - before!.height)).toBeLessThan(40)
})

test('a form that never comes is given up, and the next try draws one, not two', async ({ page, shop, stripe }) => {
  await page.clock.install()
  const frames = 'https://js.stripe.com/frame.html**'
  await page.route(frames, () => {})
  // The form may be drawn before the page's load event, and this frame would hold that event back.
  await page.goto(shop.demoUrl, { waitUntil: 'domcontentloaded' })
  await page.getByLabel('E-mail').fill(newEmail())
  await expect(page.locator('iframe[title="Secure payment input frame"]')).toBeAttached()
  await page.clock.fastForward(61_000)
  const again = page.getByRole('button', { name: 'Try again' })
  await expect(again).toBeVisible()
  await page.unroute(frames)
  await again.click()
  await expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'ready')
  await expect(page.locator('iframe[title="Secure payment input frame"]')).toHaveCount(1)
  expect(stripe.scripts).toBe(1)
})
