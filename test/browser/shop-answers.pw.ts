import type { BrowserContext, Page } from '@playwright/test'
import { BASE_URL, expect, test } from './fixtures.ts'
import { loseAnswers, signUp } from './seller.ts'

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
const codes = (page: Page) => page.getByRole('list', { name: 'Discount codes' })

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const picture = { name: 'cover.png', mimeType: 'image/png', buffer: PICTURE }
const text = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) })
const filesInput = (page: Page) => page.locator('#files input[type=file]').first()

/** A seller's request beside the page, as another tab would send it. */
async function ask<Answer>(context: BrowserContext, method: string, path: string, data?: object): Promise<Answer> {
  const answer = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: BASE_URL } })
  expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()) as Answer
}

const product = (context: BrowserContext, data: object = {}) =>
  ask<{ id: string }>(context, 'POST', 'products', { name: 'The Quiet Shop', amount: 1900, currency: 'USD', ...data })

async function published(context: BrowserContext): Promise<string> {
  const { id } = await product(context)
  const headers = { origin: BASE_URL, 'content-type': 'application/pdf' }
  const added = await context.request.post(`/api/products/${id}/files?name=book.pdf`, { data: 'a book', headers })
  expect(added.status()).toBe(201)
  await ask(context, 'PATCH', `products/${id}`, { status: 'active' })
  return id
}

test('a save whose answer was lost counts as saved at the next press, and so does publishing', async ({
  page,
  context,
}) => {
  await signUp(page)
  const id = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  let lost = 0
  await page.route(`**/api/products/${id}`, async (route) => {
    if (route.request().method() !== 'PATCH' || ++lost % 2 === 0) return route.continue()
    await route.fetch()
    await route.abort('connectionreset')
  })
  for (const [press, said] of [
    ['Take it off sale', 'It is a draft again: its link says that it is not for sale.'],
    ['Save and publish', 'It is on sale now: the link is ready to be shared.'],
    ['Save', 'Saved.'],
  ] as const) {
    await field(page, 'Name').fill(`Renamed before ${press}`)
    await field(page, 'What buyers pay').fill(press === 'Save' ? '21' : '20')
    await button(page, press).click()
    await expect(page.getByRole('alert')).toContainText('The service cannot be reached right now.')
    await button(page, press).click()
    await expect(page.getByText(said, { exact: true })).toBeVisible()
  }
  await expect(field(page, 'What buyers pay')).toHaveValue('21.00')
  expect(lost).toBe(6)
})

test('an older product on sale is offered for sharing behind a page of drafts', async ({ page, context }) => {
  await signUp(page)
  const id = await published(context)
  for (let count = 0; count < 25; count++) await product(context, { name: `Draft ${count}` })
  await page.goto('/shop/')
  await expect(heading(page, 'Share your link')).toBeVisible()
  await expect(page.locator('.push-link')).toContainText(id)
})

test('a code that ends while the next page comes stays ended', async ({ page, context }) => {
  await signUp(page)
  const id = await published(context)
  await ask(context, 'POST', 'discounts', { code: 'SPRING', percentOff: 20, productId: id })
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(/\/api\/discounts\?/, async (route) => {
    if (new URL(route.request().url()).searchParams.has('cursor')) {
      asked.resolve()
      await answered.promise
      return route.fulfill({ json: { items: [] } })
    }
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), nextCursor: 'later' } })
  })
  await page.goto(`/shop/#/products/${id}`)
  await button(page, 'Show more').click()
  await asked.promise
  await codes(page).getByRole('button', { name: 'End SPRING' }).click()
  await button(page, 'End it').click()
  await expect(codes(page).getByText('Ended')).toBeVisible()
  answered.resolve()
  await expect(button(page, 'Show more')).toHaveCount(0)
  await expect(codes(page).getByText('Ended')).toBeVisible()
})

test('a discount code whose answer was lost is in the list', async ({ page, context }) => {
  await signUp(page)
  const id = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  await button(page, 'New code').click()
  await field(page, 'Code').fill('SPRING')
  await field(page, 'Off').fill('20')
  await loseAnswers(page, '**/api/discounts')
  await button(page, 'Create the code').click()
  await expect(page.getByRole('alert')).toContainText('The service cannot be reached right now.')
  await expect(codes(page)).toContainText('SPRING')
})

test('an answer about the product that is overtaken by a newer one changes nothing', async ({ page, context }) => {
  await signUp(page)
  const id = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  await expect(page.getByRole('list', { name: 'Files' })).toContainText('book.pdf')
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(
    `**/api/products/${id}`,
    async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await answered.promise
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  await page.getByLabel('Picture to upload').setInputFiles(picture)
  await asked.promise
  await filesInput(page).setInputFiles(text('more.txt'))
  await expect(page.getByRole('list', { name: 'Files' })).toContainText('more.txt')
  answered.resolve()
  await expect(page.getByText('The picture is saved.')).toBeVisible()
  await expect(page.getByRole('list', { name: 'Files' })).toContainText('more.txt')
})

/** Holds the answer to the next request of this method for the product, which is the state of this moment. */
async function holdNext(page: Page, id: string, method: string) {
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isHeld = false
  await page.route(`**/api/products/${id}`, async (route) => {
    if (isHeld || route.request().method() !== method) return route.fallback()
    isHeld = true
    const response = await route.fetch()
    asked.resolve()
    await answered.promise
    await route.fulfill({ response })
  })
  return { asked: asked.promise, answer: answered.resolve }
}

test('a reading of the product from before a save that arrives after it brings back nothing', async ({
  page,
  context,
}) => {
  await signUp(page)
  const id = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  await expect(field(page, 'Name')).toHaveValue('The Quiet Shop')
  const held = await holdNext(page, id, 'GET')
  await page.getByLabel('Picture to upload').setInputFiles(picture)
  await held.asked
  await field(page, 'Name').fill('The newer name')
  await button(page, 'Save').click()
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible()
  held.answer()
  await expect(page.getByText('The picture is saved.')).toBeVisible()
  await expect(field(page, 'Name')).toHaveValue('The newer name')
  await expect(heading(page, 'The newer name')).toBeVisible()
  await expect(button(page, 'Remove the picture')).toBeVisible()
})

test('a file that is added during a save stays in the list after the answer to the save', async ({ page, context }) => {
  await signUp(page)
  const id = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  const held = await holdNext(page, id, 'PATCH')
  await field(page, 'Name').fill('The newer name')
  await button(page, 'Save').click()
  await held.asked
  await filesInput(page).setInputFiles(text('more.txt'))
  const files = async () => (await ask<{ files: object[] }>(context, 'GET', `products/${id}`)).files
  await expect.poll(async () => (await files()).length).toBe(2)
  await expect(page.getByRole('main').getByText('more.txt').first()).toBeVisible()
  held.answer()
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible()
  await expect(page.getByRole('list', { name: 'Uploads' })).toHaveCount(0)
  await expect(page.getByRole('list', { name: 'Files' })).toContainText('more.txt')
})

test('a change of a product that is made is told so where only the reading after it fails', async ({
  page,
  context,
}) => {
  await signUp(page)
  const id = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  await filesInput(page).setInputFiles(text('more.txt'))
  const list = page.getByRole('list', { name: 'Files' })
  await expect(list.getByRole('listitem')).toHaveCount(2)
  let isAway = false
  await page.route(`**/api/products/${id}`, (route) =>
    isAway && route.request().method() === 'GET' ? route.abort() : route.fallback(),
  )
  const unread = page.locator('#files').getByRole('alert')
  const dialog = page.getByRole('dialog')
  /** Presses, sees the result and that the files are not read, and lets the page read them by itself. */
  const change = async (press: () => Promise<void>, result: () => Promise<void>) => {
    isAway = true
    await press()
    await result()
    await expect(unread).toContainText('The service cannot be reached right now.')
    await expect(page.getByRole('alert')).toHaveCount(1)
    isAway = false
    await expect(unread).toHaveCount(0)
  }
  await change(
    () => button(page, 'Move down book.pdf').click(),
    () => expect(page.getByText('book.pdf is file 2 of 2 now.')).toBeAttached(),
  )
  await expect(list.locator('.name')).toHaveText(['more.txt', 'book.pdf'])
  await button(page, 'Rename more.txt').click()
  await dialog.getByLabel('Name').fill('other.txt')
  await change(
    () => button(page, 'Rename it').click(),
    () => expect(dialog).toHaveCount(0),
  )
  await expect(list.locator('.name')).toHaveText(['other.txt', 'book.pdf'])
  await button(page, 'Remove other.txt').click()
  await change(
    () => button(page, 'Remove it').click(),
    () => expect(dialog).toHaveCount(0),
  )
  await expect(list.locator('.name')).toHaveText(['book.pdf'])
  await change(
    () => page.getByLabel('Picture to upload').setInputFiles(picture),
    () => expect(page.getByText('The picture is saved.')).toBeVisible(),
  )
  await change(
    () => button(page, 'Remove the picture').click(),
    () => expect(page.getByText('The picture is removed.')).toBeVisible(),
  )
  await change(
    () => filesInput(page).setInputFiles(text('third.txt')),
    () => expect(page.getByRole('list', { name: 'Uploads' })).toContainText('third.txt'),
  )
  await expect(list.locator('.name')).toHaveText(['book.pdf', 'third.txt'])
  await expect(page.getByRole('list', { name: 'Uploads' })).toHaveCount(0)
  await button(page, 'Archive this product…').click()
  await change(
    () => button(page, 'Archive it').click(),
    () => expect(dialog).toHaveCount(0),
  )
  await expect(button(page, 'Archive this product…')).toHaveCount(0)
})

test('the last of the first steps is done where the product cannot be read after it', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  const headers = { origin: BASE_URL, 'content-type': 'application/pdf' }
  await context.request.post(`/api/products/${id}/files?name=book.pdf`, { data: 'a book', headers })
  await page.goto('/shop/')
  await page.route(`**/api/products/${id}`, (route) =>
    route.request().method() === 'GET' ? route.abort() : route.continue(),
  )
  await button(page, 'Publish').click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Your link is ready')
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test('after a removal or an archiving, the title of the section has the focus', async ({ page, context }) => {
  await signUp(page)
  await page.getByLabel('Logo to upload').setInputFiles(picture)
  await button(page, 'Remove the logo').click()
  await expect(page.getByText('The logo is removed.')).toBeVisible()
  await expect(page.locator('h2:focus')).toHaveAttribute('id', 'brand-title')
  const id = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  await page.getByLabel('Picture to upload').setInputFiles(picture)
  await button(page, 'Remove the picture').click()
  await expect(page.getByText('The picture is removed.')).toBeVisible()
  await expect(heading(page, 'Picture')).toBeFocused()
  await button(page, 'Archive this product…').click()
  await button(page, 'Archive it').click()
  await expect(heading(page, 'On sale or not')).toBeFocused()
})

test('the answer to a new product leads nowhere once the seller has gone to another view', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id } = await product(context)
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/api/products', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const response = await route.fetch()
    asked.resolve()
    await answered.promise
    await route.fulfill({ response })
  })
  await page.goto('/shop/#/products/new')
  await field(page, 'Name').fill('The second one')
  await field(page, 'What buyers pay').fill('19')
  await button(page, 'Create the product').click()
  await asked.promise
  await page.goto(`/shop/#/products/${id}`)
  await expect(field(page, 'Name')).toHaveValue('The Quiet Shop')
  await field(page, 'Name').fill('Typed meanwhile')
  const read = page.waitForResponse((one) => one.request().method() === 'POST' && one.url().endsWith('/api/products'))
  answered.resolve()
  await (await read).finished()
  await button(page, 'Save').click()
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible()
  await expect(page).toHaveURL(new RegExp(`#/products/${id}$`))
  await expect(field(page, 'Name')).toHaveValue('Typed meanwhile')
})

test('a code is used again one at a time, and a refusal stands at its own code', async ({ page, context }) => {
  await signUp(page)
  const id = await published(context)
  for (const code of ['SPRING', 'SUMMER']) {
    const made = await ask<{ id: string }>(context, 'POST', 'discounts', { code, percentOff: 20, productId: id })
    await ask(context, 'PATCH', `discounts/${made.id}`, { active: false })
  }
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/api/discounts/*', async (route) => {
    asked.resolve()
    await answered.promise
    await route.abort()
  })
  await page.goto(`/shop/#/products/${id}`)
  const row = (code: string) => codes(page).getByRole('listitem').filter({ hasText: code })
  const again = (code: string) => row(code).getByRole('button', { name: /^Use again/ })
  await again('SPRING').click()
  await asked.promise
  await again('SUMMER').dispatchEvent('click')
  for (const code of ['SPRING', 'SUMMER']) await expect(again(code)).toHaveAttribute('aria-disabled', 'true')
  answered.resolve()
  await expect(row('SPRING').getByRole('alert')).toContainText('The service cannot be reached right now.')
  await expect(row('SUMMER').getByRole('alert')).toHaveCount(0)
  await page.unrouteAll()
  await again('SUMMER').click()
  await expect(page.getByText('SUMMER works again.')).toBeVisible()
  await expect(codes(page).getByRole('alert')).toHaveCount(0)
})

test('a double click or a held key answers one question about a file, not the next one too', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  const names = ['one.txt', 'two.txt', 'three.txt']
  await filesInput(page).setInputFiles(names.map(text))
  await expect(page.getByRole('list', { name: 'Files' }).getByRole('listitem')).toHaveCount(3)
  await page.clock.setFixedTime(Date.now())
  await filesInput(page).setInputFiles(names.map(text))
  const question = page.getByRole('dialog', { name: 'There is a file with this name already' })
  await expect(question).toContainText('one.txt')
  await button(page, 'Replace it').dblclick()
  await expect(question).toContainText('two.txt')
  await page.clock.setFixedTime(Date.now() + 10_000)
  await page.keyboard.down('Enter')
  await expect(question).toContainText('three.txt')
  await page.clock.setFixedTime(Date.now() + 20_000)
  await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await expect(question).toContainText('three.txt')
  await page.keyboard.press('Enter')
  await expect(question).toHaveCount(0)
})
