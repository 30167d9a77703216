import type { Page } from '@playwright/test'
import { expectPaid, fillIn, makeOrder, newEmail, payButton, payWith, sayBefore } from './buyer.ts'
import { DEMO_URL, SIZES, expect, expectAccessible, expectFits, tabTo, test } from './fixtures.ts'

const STATUSES = ['expired', 'refunded', 'partially_refunded', 'disputed', 'charged_back', 'needs_review'] as const

test.describe('in the light and in the dark', () => {
  const look = async (page: Page, what: string) => {
    await expectAccessible(page, what)
    await expectFits(page, what)
  }

  test('axe finds nothing on the way to the files', async ({ page }) => {
    await page.goto(DEMO_URL)
    await look(page, 'the screen')
    await page.getByLabel('E-mail').fill('ann@gmial')
    await payButton(page).click()
    await look(page, 'the screen, refused')
    await makeOrder(page)
    await look(page, 'an order of before')
    await page.getByRole('radio', { name: 'UPI' }).check()
    await expect(page.getByRole('img', { name: 'UPI code' })).toBeVisible()
    await look(page, 'payment by UPI')
    await payWith(page, { scenario: 'decline' })
    await expect(page.getByText('declined the payment')).toBeVisible()
    await look(page, 'declined')
    const release = await sayBefore(page, 'processing')
    await payWith(page, { scenario: 'delayed' })
    await expect(page.getByText('You can close this page.')).toBeVisible()
    await look(page, 'processing')
    release()
    await expectPaid(page)
    await page.getByText('Checksum').first().click()
    await look(page, 'paid')
  })

  test('axe finds nothing in any other state of an order', async ({ page }) => {
    const { orderId } = await makeOrder(page)
    for (const status of STATUSES) {
      await page.unrouteAll({ behavior: 'wait' })
      await page.route('**/status?**', (route) =>
        route.fulfill({
          json: {
            orderId,
            statusToken: 'of-this-order',
            status,
            paid: false,
            amount: 49_900,
            currency: 'INR',
            refundedAmount: 1_00,
            downloads: [],
            nextPollMs: null,
          },
        }),
      )
      await page.reload()
      await expect(page.getByRole('link', { name: 'View your order' })).toBeVisible()
      await look(page, status)
    }
    await page.unrouteAll({ behavior: 'wait' })
    await page.route('**/status?**', (route) => route.abort())
    await page.reload()
    await expect(page.getByRole('alert')).toBeVisible()
    await look(page, 'cannot be reached')
  })

  test('axe finds nothing on the page of an order in any state', async ({ page }) => {
    const { orderId } = await makeOrder(page)
    const at = new Date().toISOString()
    for (const status of ['pending', 'processing', ...STATUSES]) {
      await page.unrouteAll({ behavior: 'wait' })
      await page.route('**/status?**', async (route) => {
        const response = await route.fetch()
        const timeline = [
          { at, what: 'created' },
          { at, what: 'payment_processing' },
          { at, what: status },
        ]
        await route.fulfill({
          response,
          json: { ...(await response.json()), status, timeline, refundedAmount: 1_00, nextPollMs: null },
        })
      })
      await page.goto(`/order/?order=${orderId}`)
      await expect(page.getByText('Everything that happened')).toBeVisible()
      await look(page, `order, ${status}`)
    }
  })

  test('axe finds nothing on the other pages', async ({ page }) => {
    const { email, orderId } = await makeOrder(page)
    await payWith(page)
    await expectPaid(page)
    await page.goto(`/order/?order=${orderId}`)
    await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
    await page.getByText('Everything that happened').click()
    await look(page, 'order')
    await page.goto('/order/')
    await page.getByRole('button', { name: 'Show the order' }).click()
    await look(page, 'order, asked')
    await page.goto(`/outbox/?to=${email}`)
    await expect(page.getByText('1 mail')).toBeVisible()
    await look(page, 'outbox')
    await page.goto('/api/docs')
    const parts = await page.getByRole('navigation').getByRole('link').all()
    const docs = await Promise.all(parts.map((link) => link.getAttribute('href')))
    expect(docs.length).toBeGreaterThan(5)
    for (const path of ['/', '/pricing/', '/pay/', '/pay/?product=prod_none', '/nowhere', ...docs]) {
      await page.goto(path!)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await look(page, path!)
    }
  })
})

test.describe('on the smallest phone', () => {
  test.use({ ...SIZES.phone, viewport: { width: 320, height: 640 } })
  test('every step fits, and every target is large enough for a thumb', async ({ page }) => {
    for (const path of ['/', '/pricing/', '/order/', '/api/docs', '/api/docs/checkout']) {
      await page.goto(path)
      await expectFits(page, path)
    }
    await page.goto(DEMO_URL)
    await expect(page.getByRole('radio', { name: 'Card', exact: true })).toBeVisible()
    await expectFits(page, 'the screen')
    await expectTargets(page)
    await makeOrder(page)
    await expectFits(page, 'an order of before')
    await expectTargets(page)
    await payWith(page)
    await expectPaid(page)
    await expectFits(page, 'paid')
    await expectTargets(page)
  })
})

/** 44 pixels high (the row of a radio counts). Links inside a sentence are exempt, as in WCAG 2.5.8. */
async function expectTargets(page: Page): Promise<void> {
  const small = await page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        'button, input:not([type=radio]), select, .rail > label, a.button, summary',
      ),
    ]
      .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
      .map((one) => one.outerHTML.slice(0, 120)),
  )
  expect(small).toEqual([])
}

test('a purchase with the keyboard alone, with all that moves', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.goto(DEMO_URL)
  await tabTo(page, page.getByLabel('E-mail'))
  await page.keyboard.type(newEmail())
  await tabTo(page, page.getByRole('radio', { name: 'Card', exact: true }))
  for (const [id, text] of [
    ['number', '4242424242424242'],
    ['expiry', '1234'],
    ['cvc', '123'],
  ] as const) {
    await tabTo(page, page.locator(`#card-${id}`))
    await expect(page.locator(':focus'), 'shows which field it is').toHaveCSS('outline-style', 'solid')
    await page.keyboard.type(text)
  }
  await tabTo(page, page.locator('summary.sandbox-title'))
  await tabTo(page, payButton(page))
  await page.keyboard.press('Enter')
  await expectPaid(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeFocused()
  const file = page.getByRole('link', { name: /^Download The Quiet Shop\.pdf/ })
  await tabTo(page, file)
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
  expect(download.suggestedFilename()).toBe('The Quiet Shop.pdf')
})

test('each step is announced to screen readers', async ({ page }) => {
  await fillIn(page)
  const said = page.locator('output.unseen')
  await expect(said).toHaveText('')
  const release = await sayBefore(page, 'processing')
  await payWith(page, { scenario: 'delayed' })
  await expect(said).toHaveText('Your payment is being confirmed')
  release()
  await expect(said).toHaveText('Your files are ready.')
})

test('animations run, and stop for users who prefer reduced motion', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  const working = { orderId, status: 'processing', paid: false, amount: 49_900, currency: 'INR', downloads: [] }
  await page.route('**/status?**', (route) => route.fulfill({ json: { ...working, nextPollMs: null } }))
  await payWith(page, { scenario: 'delayed' })
  await expect(page.getByText('You can close this page.')).toBeVisible()
  const moving = () => page.evaluate(() => document.getAnimations().length)
  expect(await moving()).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  expect(await moving()).toBeGreaterThan(0)
})

test('with text of twice the size no payment method is cut off, in a language with long words', async ({ page }) => {
  await page.setViewportSize(SIZES.phone.viewport)
  await page.goto(`${DEMO_URL}&locale=de`)
  await expect(page.getByRole('radio', { name: 'Banküberweisung' })).toBeVisible()
  await page.evaluate(() => void (document.documentElement.style.fontSize = '200%'))
  const cut = await page
    .locator('.rail > label')
    .evaluateAll((labels) =>
      labels.flatMap((label) => (label.scrollWidth > label.clientWidth ? [label.textContent] : [])),
    )
  expect(cut).toEqual([])
})

test('with text of twice the size nothing is wider than a phone', async ({ page }) => {
  await page.setViewportSize(SIZES.phone.viewport)
  const large = async (what: string) => {
    await page.evaluate(() => void (document.documentElement.style.fontSize = '200%'))
    await expectFits(page, what)
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/large-${what.replaceAll(' ', '-')}.png`, fullPage: true })
  }
  await page.goto(DEMO_URL)
  await large('the first step')
  await page.getByLabel('E-mail').fill('ann@gmial')
  await payButton(page).click()
  await large('a refused address')
  const { email, orderId } = await makeOrder(page)
  await large('the order of before')
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await large('the files')
  await page.goto(`/order/?order=${orderId}`)
  await expect(page.getByRole('complementary', { name: 'Receipt' })).toBeVisible()
  await large('the order')
  for (const path of ['/', '/order/', '/library/', '/charge/', '/pricing/', '/sign-in/', `/outbox/?to=${email}`]) {
    await page.goto(path)
    await expect(page.getByRole('heading').first()).toBeVisible()
    await large(path.replaceAll(/[/?=@.]/g, ' ').trim())
  }
})

test('on a phone held sideways the button covers no way to pay', async ({ page }) => {
  await page.setViewportSize({ width: 844, height: 390 })
  await makeOrder(page)
  for (const name of ['Card', 'UPI', 'Wallet']) {
    const rail = page.getByRole('radio', { name, exact: true })
    await rail.check()
    // the chosen way opens its form and closes that of another one above it, so the page moves
    await rail.scrollIntoViewIfNeeded()
    const covered = await rail.evaluate((input) => {
      const { x, y, width, height } = input.getBoundingClientRect()
      return document.elementFromPoint(x + width / 2, y + height / 2) !== input
    })
    expect(covered, name).toBe(false)
  }
  const bar = await page.locator('.pay-bar').evaluate((one) => getComputedStyle(one).position)
  expect(bar).toBe('static')
})

test('the outbox does not move while its mails arrive', async ({ page }) => {
  await page.addInitScript(() => {
    const seen = { shift: 0 }
    ;(window as unknown as { seen: typeof seen }).seen = seen
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) seen.shift += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
  })
  // the mails of other tests come at any time
  let lists = 0
  await page.route('**/api/outbox*', (route) => (lists++ === 0 ? route.continue() : undefined))
  await page.goto('/outbox/')
  await expect(page.getByText(/^\d+ mails?$|^No mail yet/)).toBeVisible()
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  expect(await page.evaluate(() => (window as unknown as { seen: { shift: number } }).seen.shift)).toBeLessThan(0.02)
})
