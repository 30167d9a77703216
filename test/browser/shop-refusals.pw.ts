import type { BrowserContext, Locator, Page } from '@playwright/test'
import { newEmail, statusOf } from './buyer.ts'
import { BASE_URL, SIZES, expect, expectAccessible, expectFine, expectFits, test } from './fixtures.ts'
import { mailsTo, signUp } from './seller.ts'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })

async function ask<Answer>(context: BrowserContext, method: string, path: string, data?: object): Promise<Answer> {
  const answer = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: BASE_URL } })
  expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()) as Answer
}

interface Product {
  id: string
  payUrl: string
  amount: number
}

/** A product on sale, with a file. */
async function product(context: BrowserContext, data: object = {}): Promise<Product> {
  const more = { name: 'The Quiet Shop', amount: 1900, currency: 'USD', ...data }
  const { id } = await ask<Product>(context, 'POST', 'products', more)
  await context.request.fetch(`/api/products/${id}/files?name=book.pdf`, {
    method: 'POST',
    data: Buffer.from('book'),
    headers: { origin: BASE_URL, 'content-type': 'application/octet-stream' },
  })
  return ask<Product>(context, 'PATCH', `products/${id}`, { status: 'active' })
}

async function buy(page: Page, productId: string): Promise<string> {
  const email = newEmail()
  const created = await page.request.post('/api/checkout', { data: { productId, email } })
  const { orderId, clientSecret } = (await created.json()) as { orderId: string; clientSecret: string }
  await page.request.post('/api/sandbox/confirm', { data: { clientSecret, rail: 'card', scenario: 'success' } })
  await expect.poll(async () => (await statusOf(page, orderId, email)).status).toBe('paid')
  return orderId
}

/** The notice is in the window, has the focus, and is at most one row of buttons away from the button. */
async function expectBeside(notice: Locator, pressed: Locator): Promise<void> {
  await expect(notice).toBeFocused()
  await expect(notice).toBeInViewport({ ratio: 0.99 })
  await expect(notice).toHaveAttribute('role', 'alert')
  const [a, b] = [(await notice.boundingBox())!, (await pressed.boundingBox())!]
  const apart = Math.max(a.y - (b.y + b.height), b.y - (a.y + a.height), 0)
  expect(apart, 'pixels between the notice and the button').toBeLessThan(90)
}

const BUSY = { status: 409, contentType: 'application/problem+json', json: { code: 'refund_not_possible', status: 409, detail: 'Not now, for a reason.' } } // oxfmt-ignore
/** The service refuses every request that changes something. */
const refuseChanges = (page: Page) =>
  page.route('**/api/**', (route) => (route.request().method() === 'GET' ? route.continue() : route.fulfill(BUSY)))

for (const [name, size] of Object.entries(SIZES)) {
  test.describe(name, () => {
    test.use(size)

    test('the notice of a conflicting save is beside the button and has the focus', async ({ page, context }) => {
      await signUp(page)
      const { id } = await product(context)
      await page.goto(`/shop/#/products/${id}`)
      await field(page, 'Name').fill('Mine')
      await expect(button(page, 'Save')).toBeInViewport()
      await expect(page.getByText('Not saved yet')).toBeInViewport()
      await ask(context, 'PATCH', `products/${id}`, { name: 'Theirs' })
      await button(page, 'Save').click()
      const notice = page.getByRole('alert').filter({ hasText: 'This was changed in the meantime.' })
      await expectBeside(notice, button(page, 'Save'))
      await expectAccessible(page, 'a conflict')
      await expectFits(page, 'a conflict')
      // A second press without a choice is refused again, as visibly.
      await page.getByRole('heading', { name: 'Discount codes' }).scrollIntoViewIfNeeded()
      await button(page, 'Save').click()
      await expectBeside(notice, button(page, 'Save'))
      await button(page, 'Show the latest, keep what I typed').click()
      await expectBeside(page.getByRole('alert').filter({ hasText: 'Theirs' }), button(page, 'Save'))
      await button(page, 'Save').click()
      await expect(page.getByText('Saved.', { exact: true })).toBeInViewport()
    })

    test('each refusal on the pages of a product, an order and the account is beside the pressed button', async ({
      page,
      context,
    }) => {
      await signUp(page)
      const { id } = await product(context)
      const orderId = await buy(page, id)
      await refuseChanges(page)
      const press = async (pressed: Locator, text = 'Not now, for a reason.') => {
        await pressed.click()
        // An earlier notice of another part may still be there.
        await expectBeside(page.locator('[role=alert]:focus').filter({ hasText: text }), pressed)
      }
      await page.goto(`/shop/#/products/${id}`)
      await field(page, 'Description').fill('Something new')
      await press(button(page, 'Save'))
      // The same refusal is as visible the second time.
      await page.getByRole('heading', { name: 'Discount codes' }).scrollIntoViewIfNeeded()
      await press(button(page, 'Save'))
      await button(page, 'Discard changes').click()
      await press(button(page, 'Take it off sale'))
      await button(page, 'New code').click()
      await field(page, 'Code').fill('SPRING')
      await field(page, 'Off').fill('20')
      await press(button(page, 'Create the code'))
      await page.getByRole('button', { name: 'Cancel' }).click()
      await button(page, 'Archive this product…').click()
      await press(button(page, 'Archive it'))
      await page.goto(`/shop/#/orders/${orderId}`)
      await press(page.getByRole('button', { name: 'Send the receipt again' }))
      await button(page, 'Refund…').click()
      await press(button(page, 'Refund $19.00'))
      await page.goto('/account/')
      const refused = 'The service did not accept this.'
      await field(page, 'Your name, or your shop’s').fill('Ann')
      await press(button(page, 'Save the name'), refused)
      await page.goto('/account/#mails')
      await page.reload()
      await page.getByRole('radio', { name: 'Never' }).click()
      await expect(page.locator('[role=alert]:focus')).toContainText(refused)
      await expect(page.getByRole('radio', { name: 'For each sale' })).toBeChecked()
    })
  })
}

test('a page that did not come while offline comes by itself', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto('/shop/#/products')
  await expect(page.getByRole('link', { name: 'The Quiet Shop' })).toBeVisible()
  await context.setOffline(true)
  // Neither its script nor its data is here yet.
  await page.getByRole('link', { name: 'Money' }).click()
  await expect(page.getByRole('alert')).toContainText('You are offline.')
  await context.setOffline(false)
  await expect(page.getByText('No money has moved yet.')).toBeVisible()
  // The service is away while the network is there: the page asks again after a pause.
  await page.route('**/api/products/*', (route) => route.abort())
  await page.goto(`/shop/#/products/${id}`)
  await expect(page.getByRole('alert')).toContainText('The service cannot be reached right now.')
  await page.unroute('**/api/products/*')
  await expect(field(page, 'Name')).toHaveValue('The Quiet Shop')
  await expect(page.getByRole('alert')).toHaveCount(0)
  await page.route('**/api/auth/session', (route) => route.abort())
  await page.goto('/account/')
  await expect(page.getByRole('alert')).toContainText('The service cannot be reached right now.')
  await page.unroute('**/api/auth/session')
  await expect(page.getByText('Signed in as')).toBeVisible()
})

test('a part of a list or of the money that does not come says so, and comes by itself', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  await buy(page, id)
  const away = 'The service cannot be reached right now.'
  const tax = page.getByRole('heading', { name: 'Tax' })
  await ask(context, 'PUT', 'tax/profile', { country: 'DE', exempt: true, prices: 'inclusive' })
  for (const [address, part, view, sign] of [
    [
      /\/api\/products\?limit=100$/,
      page.getByRole('search'),
      'orders',
      page.getByRole('option', { name: 'The Quiet Shop' }),
    ],
    [/\/api\/tax\/profile$/, page.getByRole('main'), 'money', tax],
    [/\/api\/balance\/history$/, page.getByRole('main'), 'money', page.locator('.balances')],
  ] as const) {
    await page.route(address, (route) => route.abort())
    await page.goto(`/shop/#/${view}`)
    await page.reload()
    await expect(part.getByRole('alert')).toContainText(away)
    await expect(part.getByRole('button', { name: 'Try again' })).toBeVisible()
    await page.unroute(address)
    await expect(part.getByRole('alert')).toHaveCount(0)
    await expect(sign).toHaveCount(1)
  }
})

test('a product whose answer is lost is made once, also after a reload', async ({ page, context }) => {
  await signUp(page)
  await page.goto('/shop/#/products/new')
  await field(page, 'Name').fill('Asked for twice')
  await field(page, 'What buyers pay').fill('19')
  let asked = 0
  await page.route('**/api/products', async (route) => {
    if (route.request().method() !== 'POST' || ++asked > 1) return route.continue()
    await route.fetch()
    await route.abort('connectionreset')
  })
  await button(page, 'Create the product').click()
  await expect(page.getByRole('alert')).toContainText('The service cannot be reached right now.')
  await page.reload()
  await expect(field(page, 'Name')).toHaveValue('Asked for twice')
  await button(page, 'Create the product').click()
  await expect(page).toHaveURL(/#\/products\/prod_/)
  expect(asked).toBe(2)
  const { items } = await (await context.request.get('/api/products')).json()
  expect(items.map(({ name }: { name: string }) => name)).toEqual(['Asked for twice'])
})

test('a next page that does not come is tried again without taking the focus, ever more rarely', async ({
  page,
  context,
}) => {
  // The test records pauses of two seconds and more, and skips them.
  await page.addInitScript(() => {
    const wait = window.setTimeout.bind(window)
    const noted = Object.assign(window, { pauses: [] as number[] })
    window.setTimeout = ((work: () => void, ms = 0) => {
      if (ms < 2_000) return wait(work, ms)
      noted.pauses.push(ms)
      return wait(work, 50)
    }) as typeof window.setTimeout
  })
  const pauses = () => page.evaluate(() => (window as unknown as { pauses: number[] }).pauses)
  await signUp(page)
  await product(context)
  let asked = 0
  let isEnough = false
  const released = Promise.withResolvers<void>()
  await page.route(/\/api\/products(\?|$)/, async (route) => {
    if (!new URL(route.request().url()).searchParams.has('cursor')) {
      const response = await route.fetch()
      return route.fulfill({ response, json: { ...(await response.json()), nextCursor: 'later' } })
    }
    asked += 1
    if (asked === 2) await released.promise
    // The last request never gets an answer.
    if (!isEnough) await route.abort()
  })
  await page.goto('/shop/#/products')
  const more = button(page, 'Show more')
  await more.click()
  const notice = page.getByRole('alert')
  await expect(notice).toBeFocused()
  const search = page.getByRole('searchbox')
  await search.focus()
  released.resolve()
  await expect.poll(() => asked).toBeGreaterThan(4)
  isEnough = true
  await expect(search).toBeFocused()
  await expect(notice).toContainText('The service cannot be reached right now.')
  expect((await pauses()).slice(0, 4)).toEqual([2_000, 4_000, 8_000, 15_000])
  // A message about one list does not appear at another.
  await button(page, 'Drafts').click()
  await expect(page.getByText('No product matches').or(more)).toBeVisible()
  await expect(notice).toHaveCount(0)
  await button(page, 'All').click()
  await expect(page.getByRole('link', { name: 'The Quiet Shop' })).toBeVisible()
  await expect(notice).toHaveCount(0)
})

test('a price in another notation is read correctly, or the page asks about it', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  const price = field(page, 'What buyers pay')
  await price.fill('24.555')
  await button(page, 'Save').click()
  await expect(page.getByText(/24,555\.00 or 24\.55/)).toBeInViewport()
  await expect(price).toBeFocused()
  await price.fill('$5')
  await expect(page.getByText('Buyers pay $5.00.')).toBeVisible()
  await button(page, 'Save').click()
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible()
  expect((await ask<Product>(context, 'GET', `products/${id}`)).amount).toBe(500)
})

test('a card’s number in the description is refused at that field', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  await field(page, 'Description').fill('4242 4242 4242 4242')
  await button(page, 'Save').click()
  await expect(page.getByRole('alert')).toHaveText('looks like the number of a card')
  await expect(field(page, 'Description')).toBeFocused()
  await expect(field(page, 'Description')).toBeInViewport()
})

test('the account is in the shop’s frame, and each entry leads there and back', async ({ page, context }) => {
  await signUp(page)
  await product(context)
  await expect(page.getByRole('link', { name: 'Account' })).toHaveAttribute('aria-current', 'page')
  for (const [entry, heading] of [
    ['Overview', 'Overview'],
    ['Products', 'Products'],
    ['Orders', 'Orders'],
    ['Money', 'Money'],
  ] as const) {
    // oxfmt-ignore
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: entry }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Account' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Your account')
  }
})

test('a shop without sales shows its link to share, and after a sale the sales', async ({ page, context }) => {
  await signUp(page)
  const { id, payUrl } = await product(context)
  await page.goto('/shop/')
  await expect(page.getByRole('heading', { name: 'Share your link' })).toBeVisible()
  await expect(page.getByText(payUrl)).toBeVisible()
  await expect(page.getByRole('img', { name: 'QR code of the link' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Open the page' })).toHaveAttribute('href', payUrl)
  await expect(button(page, 'Copy the link')).toBeVisible()
  await expect(page.locator('.chart')).toHaveCount(0)
  await expectAccessible(page, 'overview without a sale')
  await buy(page, id)
  await page.reload()
  await expect(page.locator('.sums')).toContainText('$19.00')
})

test('neither a link nor signing out loses typed text without a question', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  const questions: string[] = []
  // An open question swallows the next press, so it counts when it is answered.
  page.on('dialog', async (dialog) => {
    await dialog.dismiss()
    questions.push(dialog.type())
  })
  const orders = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Orders' })
  const lost = page.getByRole('alert').filter({ hasText: 'Unsaved text will be lost.' })
  await field(page, 'Your name, or your shop’s').fill('Ann')
  await orders.click({ noWaitAfter: true })
  await expect.poll(() => questions).toEqual(['beforeunload'])
  await button(page, 'Sign out').click()
  await expect(lost).toBeVisible()
  await expectFine(page, 'signing out with unsaved text')
  await button(page, 'Save the name').click()
  await expect(page.getByText('Saved. Buyers read this name from now on.')).toBeVisible()
  await expect(lost).toHaveCount(0)

  // the tab keeps the text of a form that is gone
  await page.goto(`/shop/#/products/${id}`)
  await field(page, 'Name').fill('Mine')
  await orders.click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Orders')
  await button(page, 'Sign out').dblclick()
  await expect(lost).toBeVisible()
  await page.goBack()
  await expect(field(page, 'Name')).toHaveValue('Mine')
  await expect(lost).toHaveCount(0)
  await button(page, 'Sign out').click()
  await expect(lost).toBeVisible()
  await button(page, 'Sign out').click()
  await expect(page).toHaveURL(/\/sign-in\//)
  expect(questions).toEqual(['beforeunload'])
})

test('signing out says that uploads stop, and speaks of unsaved text only where there is some', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id } = await product(context)
  await page.route('**/api/uploads', () => {})
  await page.goto(`/shop/#/products/${id}`)
  const chooser = page.waitForEvent('filechooser')
  // An evaluation in the page waits for the command to catch the file chooser.
  await page.evaluate(() => {})
  await button(page, 'Add files').click()
  await (await chooser).setFiles({ name: 'more.bin', mimeType: 'text/plain', buffer: Buffer.from('more') })
  await expect(page.getByText('Uploading…')).toBeVisible()
  await button(page, 'Sign out').click()
  const lost = page.getByRole('alert').filter({ hasText: 'Press “Sign out” again' })
  await expect(lost.locator('p')).toHaveText('Your uploads will stop.')
  await expect(lost).toBeInViewport()
  // more is lost by now, so the next press says that first
  await field(page, 'Name').fill('Mine')
  await button(page, 'Sign out').click()
  await expect(lost.locator('p')).toHaveText('Unsaved text will be lost. Your uploads will stop.')
  await button(page, 'Sign out').click()
  await expect(page).toHaveURL(/\/sign-in\//)
})

test('the seller chooses which mails about sales come', async ({ page, context }) => {
  const email = await signUp(page)
  await page.goto('/account/')
  await page.getByRole('radio', { name: 'Once a day' }).click()
  await expect(page.locator('#mails').getByText('Saved.')).toBeVisible()
  await page.reload()
  await expect(page.getByRole('radio', { name: 'Once a day' })).toBeChecked()
  expect((await mailsTo(context, email)).some(({ subject }) => /sale/.test(subject))).toBe(false)

  // the newest choice counts, also when it is made while one before is being saved
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(
    '**/api/auth/mails',
    async (route) => {
      asked.resolve()
      await answered.promise
      await route.continue()
    },
    { times: 1 },
  )
  await page.getByRole('radio', { name: 'Once a day' }).focus()
  await page.keyboard.press('ArrowUp')
  await asked.promise
  await page.keyboard.press('ArrowUp')
  answered.resolve()
  await expect(page.locator('#mails').getByText('Saved.')).toBeVisible()
  await page.reload()
  await expect(page.getByRole('radio', { name: 'Never' })).toBeChecked()
})
