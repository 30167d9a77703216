import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import type { BrowserContext, Page } from '@playwright/test'
import { newEmail, statusOf, type Status } from './buyer.ts'
import { BASE_URL, SIZES, expect, expectAccessible, expectFits, tabTo, test } from './fixtures.ts'
import { askCode, codeField, codeFor, newSellerEmail, signUp } from './seller.ts'

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const alert = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

async function choose(
  page: Page,
  press: () => Promise<void>,
  ...files: (string | [name: string, bytes: Buffer, mimeType?: string])[]
): Promise<void> {
  const asked = page.waitForEvent('filechooser')
  // A key press can overtake the command to catch the file chooser. An evaluation in the page waits for that command.
  await page.evaluate(() => {})
  await press()
  const chooser = await asked
  const paths = files.filter((one) => typeof one === 'string')
  if (paths.length > 0) return chooser.setFiles(paths)
  const made = files.filter((one) => typeof one !== 'string')
  await chooser.setFiles(
    made.map(([name, buffer, mimeType = 'application/octet-stream']) => ({ name, mimeType, buffer })),
  )
}

/** A seller's request beside the page, as another tab would send it. */
async function ask<Answer>(context: BrowserContext, method: string, path: string, data?: object): Promise<Answer> {
  const answer = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: BASE_URL } })
  expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()) as Answer
}

interface Product {
  id: string
  payUrl: string
  status: string
  amount: number
  name: string
  files: { id: string; name: string; sha256: string }[]
}
const product = (context: BrowserContext, data: object = {}) =>
  ask<Product>(context, 'POST', 'products', { name: 'The Quiet Shop', amount: 1900, currency: 'USD', ...data })

const filesOf = async (context: BrowserContext, id: string) =>
  (await ask<Product>(context, 'GET', `products/${id}`)).files

/** A product with a file, on sale. */
async function published(context: BrowserContext, data: object = {}): Promise<Product> {
  const { id } = await product(context, data)
  const headers = { origin: BASE_URL, 'content-type': 'application/pdf' }
  const added = await context.request.post(`/api/products/${id}/files?name=book.pdf`, { data: 'a book', headers })
  expect(added.status()).toBe(201)
  return ask<Product>(context, 'PATCH', `products/${id}`, { status: 'active' })
}

/** A sale by the requests of the hosted page. */
async function buy(page: Page, productId: string): Promise<Status> {
  const email = newEmail()
  const created = await page.request.post('/api/checkout', { data: { productId, email } })
  const { orderId, clientSecret } = (await created.json()) as { orderId: string; clientSecret: string }
  await page.request.post('/api/sandbox/confirm', { data: { clientSecret, rail: 'card', scenario: 'success' } })
  await expect.poll(async () => (await statusOf(page, orderId, email)).status).toBe('paid')
  return statusOf(page, orderId, email)
}

test('from nothing to a link that sells in three steps, by keyboard alone', async ({ page }) => {
  // A seller without a session returns to the requested page after signing in.
  await page.goto('/shop/#/products')
  const email = newSellerEmail()
  await askCode(page, email)
  await codeField(page).fill(await codeFor(page, email))
  await expect(page).toHaveURL(/\/shop\/#\/products$/)
  await page.getByRole('link', { name: 'Overview' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Three steps to your first sale')
  await tabTo(page, field(page, 'Name'))
  await page.keyboard.press('Enter')
  await expect(page.getByText('Please enter a price.')).toBeVisible()
  await expect(field(page, 'Name')).toBeFocused()
  await page.keyboard.type('Field <b>guide')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Please enter a price.')).toBeVisible()
  await expect(field(page, 'What buyers pay')).toBeFocused()
  await page.keyboard.type('19')
  await expect(page.getByText('Buyers pay $19.00. You get $18.62; the fee is $0.38, 2%.')).toBeVisible()
  await page.keyboard.press('Enter')

  await expect(page.getByRole('heading', { name: 'The file that buyers get' })).toBeFocused()
  const chooser = button(page, 'Choose files')
  await tabTo(page, chooser)
  const files: [string, Buffer][] = ['one', 'two', 'three'].map((name) => [`${name}.txt`, Buffer.from(name)])
  await choose(page, () => page.keyboard.press('Enter'), ...files)
  await expect(page.getByRole('heading', { name: 'Publish it, and share the link' })).toBeFocused()
  await tabTo(page, button(page, 'Publish'))
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Your link is ready')
  const link = (await page.locator('.ready-link').textContent())!

  const { status, downloads } = await buy(page, new URL(link).searchParams.get('product')!)
  expect([status, downloads.map(({ name }) => name).sort()]).toEqual(['paid', ['one.txt', 'three.txt', 'two.txt']])
  await tabTo(page, button(page, 'Go to the overview'))
  await page.keyboard.press('Enter')
  await expect(page.locator('.sums')).toContainText('$19.00')
  await expect(page.locator('.sums')).toContainText('1 order')
  await expectAccessible(page, 'overview')
})

test('after the first publishing the overview has the link to share', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  const headers = { origin: BASE_URL, 'content-type': 'application/pdf' }
  await context.request.post(`/api/products/${id}/files?name=book.pdf`, { data: 'a book', headers })
  await page.goto('/shop/')
  await button(page, 'Publish').click()
  await button(page, 'Go to the overview').click()
  await expect(page.getByRole('heading', { name: 'Share your link' })).toBeVisible()
  await expect(page.getByText('Nothing is on sale')).toHaveCount(0)
})

test('the first step names a fault in a field that it does not show', async ({ page }) => {
  await signUp(page)
  await page.goto('/shop/#/products/new')
  await field(page, 'Statement descriptor').fill('ÉDITION')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }).click()
  await field(page, 'Name').fill('Field guide')
  await field(page, 'What buyers pay').fill('19')
  await button(page, 'Continue').click()
  await expect(alert(page, 'Statement descriptor: Banks print letters without accents')).toBeVisible()
  await expectAccessible(page, 'a fault elsewhere')
  await page.getByRole('link', { name: 'Correct it in the whole form' }).click()
  await expect(field(page, 'Statement descriptor')).toHaveValue('ÉDITION')
})

test('a link that is followed just before the products write their search into the address leads to its view', async ({
  page,
}) => {
  await signUp(page)
  // The view's effects run in a timer. The click comes right before the first one, and its event after them.
  await page.addInitScript(() => {
    const later = window.setTimeout
    let followed = false
    const followOnce = () => {
      if (followed || document.querySelector('h1')?.textContent !== 'Products') return
      followed = true
      ;[...document.querySelectorAll('a')].find(({ textContent }) => textContent === 'Overview')!.click()
    }
    window.setTimeout = ((work: () => void, ms?: number) =>
      later(() => {
        followOnce()
        work()
      }, ms)) as typeof setTimeout
  })
  await page.goto('/shop/#/products')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Three steps to your first sale')
})

test('a link that is followed as soon as it is drawn leads to its view', async ({ page }) => {
  await signUp(page)
  await page.addInitScript(() => {
    new MutationObserver((_changes, observer) => {
      const link = [...document.querySelectorAll('a')].find(({ textContent }) => textContent === 'Products')
      if (!link) return
      observer.disconnect()
      link.click()
    }).observe(document, { childList: true, subtree: true })
  })
  await page.goto('/shop/#/')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Products')
})

test('a save never overwrites another person’s change unseen, and typed text stays', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  await field(page, 'Name').fill('The Quiet Shop, second edition')
  await field(page, 'Description').fill('Mine')
  await page.reload()
  await expect(page.getByText('We restored what you typed last time.')).toBeVisible()
  await expect(field(page, 'Description')).toHaveValue('Mine')

  await ask(context, 'PATCH', `products/${id}`, { description: 'Theirs', amount: 2500 })
  await button(page, 'Save').click()
  await expect(alert(page, 'This was changed in the meantime.')).toBeVisible()
  await button(page, 'Show the latest, keep what I typed').click()
  await expect(field(page, 'What buyers pay')).toHaveValue('25.00')
  await expect(field(page, 'Description')).toHaveValue('Mine')
  await expect(alert(page, 'Theirs')).toBeVisible()
  await button(page, 'Save').click()
  await expect(page.getByText('Saved.')).toBeVisible()
  const saved = await ask<Product & { description: string }>(context, 'GET', `products/${id}`)
  expect([saved.name, saved.description, saved.amount]).toEqual(['The Quiet Shop, second edition', 'Mine', 2500])
})

test('taking a product off sale saves no typed text, whatever it is', async ({ page, context }) => {
  await signUp(page)
  const { id } = await published(context)
  const onService = async () => {
    const { status, name, amount } = await ask<Product>(context, 'GET', `products/${id}`)
    return [status, name, amount]
  }
  const isDraft = page.getByText('It is a draft again: its link says that it is not for sale.')
  await page.goto(`/shop/#/products/${id}`)
  await field(page, 'What buyers pay').fill('1')
  await button(page, 'Take it off sale').click()
  await expect(isDraft).toBeVisible()
  await expect(field(page, 'What buyers pay')).toHaveValue('1')
  await expect(page.getByText('Not saved yet')).toBeVisible()
  expect(await onService()).toEqual(['draft', 'The Quiet Shop', 1900])
  await button(page, 'Save and publish').click()
  await expect(page.getByText('Everything is saved')).toBeVisible()
  expect(await onService()).toEqual(['active', 'The Quiet Shop', 100])

  await field(page, 'Name').fill('')
  await field(page, 'Description').fill('Mine')
  await ask(context, 'PATCH', `products/${id}`, { amount: 2500 })
  // what another tab has saved is shown first
  await button(page, 'Take it off sale').click()
  await expect(alert(page, 'This was changed in the meantime.')).toBeVisible()
  await button(page, 'Show the latest, keep what I typed').click()
  await button(page, 'Take it off sale').click()
  await expect(isDraft).toBeVisible()
  expect(await onService()).toEqual(['draft', 'The Quiet Shop', 2500])
  await field(page, 'Name').fill('Renamed')
  await page.reload()
  await expect(field(page, 'Description')).toHaveValue('Mine')
  await button(page, 'Save').click()
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible()
  expect(await onService()).toEqual(['draft', 'Renamed', 2500])
})

test('when the session has ended, a save leads to the sign-in without a question, and the typed text is there after it', async ({
  page,
  context,
}) => {
  const email = await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  await field(page, 'Description').fill('Two hundred quiet pages')
  const questions: string[] = []
  page.on('dialog', (dialog) => {
    questions.push(dialog.type())
    void dialog.dismiss()
  })
  // The form and an upload each have the browser ask.
  await page.route('**/api/uploads', () => {})
  await choose(page, () => button(page, 'Choose files').click(), ['book.bin', Buffer.from('a book')])
  await expect(page.getByText('Uploading…')).toBeVisible()
  await context.clearCookies()
  await button(page, 'Save').click()
  await expect.poll(() => questions.length > 0 || page.url().includes('/sign-in/')).toBe(true)
  expect(questions).toEqual([])
  await askCode(page, email)
  await codeField(page).fill(await codeFor(page, email, 2))
  await expect(field(page, 'Description')).toHaveValue('Two hundred quiet pages')
})

test('discarding restored text shows what another tab has saved since, also after an upload', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  await field(page, 'Description').fill('Mine')
  const main = page.getByRole('navigation', { name: 'Main' })
  await main.getByRole('link', { name: 'Orders' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Orders')
  await ask(context, 'PATCH', `products/${id}`, { amount: 2000 })
  await page.goBack()
  await expect(page.getByText('We restored what you typed last time.')).toBeVisible()
  await expect(field(page, 'Description')).toHaveValue('Mine')
  await button(page, 'Discard changes').click()
  await expect(page.getByText('Everything is saved')).toBeVisible()
  await expect(field(page, 'What buyers pay')).toHaveValue('20.00')
  await expect(field(page, 'Description')).toHaveValue('')

  await field(page, 'Description').fill('Mine again')
  await ask(context, 'PATCH', `products/${id}`, { amount: 3000 })
  await choose(page, () => button(page, 'Choose files').click(), ['book.txt', Buffer.from('a book')])
  await expect(page.getByRole('list', { name: 'Files' }).locator('.name')).toHaveText('book.txt')
  await button(page, 'Discard changes').click()
  await expect(field(page, 'What buyers pay')).toHaveValue('30.00')
  await field(page, 'Description').fill('Saved')
  await button(page, 'Save').click()
  await expect(page.getByText('Saved.')).toBeVisible()
})

test('text typed during a save stays, and the next save saves it', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await page.route(`**/api/products/${id}`, async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue()
    const response = await route.fetch()
    asked.resolve()
    await answered.promise
    await route.fulfill({ response })
  })
  await field(page, 'Name').fill(' The Quiet Shop, second ')
  await button(page, 'Save').click()
  await asked.promise
  await field(page, 'Description').fill('Typed meanwhile')
  const answer = page.waitForResponse((response) => response.request().method() === 'PATCH')
  answered.resolve()
  await (await answer).finished()
  // As the service has it.
  await expect(field(page, 'Name')).toHaveValue('The Quiet Shop, second')
  await expect(field(page, 'Description')).toHaveValue('Typed meanwhile')
  await expect(page.getByText('Not saved yet')).toBeVisible()
  await page.reload()
  await expect(field(page, 'Description')).toHaveValue('Typed meanwhile')
  await button(page, 'Save').click()
  await expect(page.getByText('Saved.')).toBeVisible()
  const saved = await ask<Product & { description: string }>(context, 'GET', `products/${id}`)
  expect([saved.name, saved.description]).toEqual(['The Quiet Shop, second', 'Typed meanwhile'])
})

test('text typed while the page reads the product again after an upload stays', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  await expect(field(page, 'Name')).toHaveValue('The Quiet Shop')
  await ask(context, 'PATCH', `products/${id}`, { name: 'Renamed in another tab' })
  const asked = Promise.withResolvers<void>()
  const typed = Promise.withResolvers<void>()
  await page.route(`**/api/products/${id}`, async (route) => {
    const response = await route.fetch()
    asked.resolve()
    await typed.promise
    await route.fulfill({ response })
  })
  await choose(page, () => button(page, 'Choose files').click(), ['book.txt', Buffer.from('a book')])
  await asked.promise
  await field(page, 'Description').fill('Typed meanwhile')
  const answer = page.waitForResponse((response) => response.url().endsWith(id))
  typed.resolve()
  await (await answer).finished()
  await expect(page.getByText('Not saved yet')).toBeVisible()
  await expect(field(page, 'Description')).toHaveValue('Typed meanwhile')
})

test('an upload that breaks off goes on where it stopped, after a reload too; files are replaced and removed', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id } = await product(context)
  // A real file, whose time of change stays the same.
  const bytes = Buffer.alloc(8_000_000, 'till')
  const file = test.info().outputPath('book.bin')
  await fs.writeFile(file, bytes)
  // The bytes that the page itself reads. The browser reads the bytes that it sends.
  await page.addInitScript(() => {
    const read = Blob.prototype.arrayBuffer
    const counted = window as unknown as { bytesRead: number }
    counted.bytesRead = 0
    Blob.prototype.arrayBuffer = function (this: Blob) {
      counted.bytesRead += this.size
      return read.call(this)
    }
  })
  const bytesRead = () => page.evaluate(() => (window as unknown as { bytesRead: number }).bytesRead)
  const half = bytes.length / 2
  const offsets: string[] = []
  // The service gets half of the file, and then it cannot be reached.
  await page.route('**/api/uploads/*', async (route) => {
    const request = route.request()
    if (request.method() !== 'PATCH') return route.continue()
    offsets.push(request.headers()['upload-offset']!)
    if (offsets.length > 1) return route.abort()
    await route.fetch({ postData: bytes.subarray(0, half) })
    await route.abort()
  })
  await page.goto(`/shop/#/products/${id}`)
  await choose(page, () => button(page, 'Choose files').click(), file)
  await expect.poll(() => offsets.length).toBeGreaterThan(1)
  expect(await bytesRead()).toBeLessThan(3_000_000)
  await expect(page.getByText('The connection was lost. Trying again…')).toBeVisible()
  await button(page, 'Pause book.bin').click()
  await expect(page.getByText('Paused')).toBeVisible()
  // It began more than a day ago, and its last request was two hours ago.
  await passHours(page, 23)
  await button(page, 'Continue book.bin').click()
  await expect(page.getByText('The connection was lost. Trying again…')).toBeVisible()
  await button(page, 'Pause book.bin').click()
  await passHours(page, 2)

  await page.unroute('**/api/uploads/*')
  await page.reload()
  await expect(page.getByText('book.bin is not complete.')).toBeVisible()
  const went = page.waitForRequest((request) => request.method() === 'PATCH')
  await choose(page, () => button(page, 'Choose files').click(), file)
  expect((await went).headers()['upload-offset']).toBe(String(half))
  const files = page.getByRole('list', { name: 'Files' })
  await expect(files.locator('.name')).toHaveText('book.bin')
  await expect(page.getByText('book.bin is not complete.')).toHaveCount(0)
  expect(await bytesRead()).toBeLessThan(3_000_000)
  // The service has hashed the received bytes, and the page shows the hash.
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  await files.getByText('Checksum').click()
  await expect(files.getByText(sha256)).toBeVisible()
  expect((await ask<Product>(context, 'GET', `products/${id}`)).files).toMatchObject([{ name: 'book.bin', sha256 }])

  await choose(page, () => button(page, 'Replace book.bin').click(), ['book-2.bin', Buffer.from('second edition')])
  await expect(files.locator('.name')).toHaveText('book-2.bin')
  // A product goes off sale with its last file.
  await ask(context, 'PATCH', `products/${id}`, { status: 'active' })
  await page.reload()
  await button(page, 'Remove book-2.bin').click()
  await expect(page.getByRole('dialog')).toContainText('Everybody who has bought this product so far keeps it')
  await expect(page.getByRole('dialog')).toContainText('without it the product goes off sale')
  await expect(button(page, 'Cancel')).toBeFocused()
  await button(page, 'Remove it').click()
  await expect(files).toHaveCount(0)
  expect((await ask<Product>(context, 'GET', `products/${id}`)).status).toBe('draft')
  await expect(page.getByText('Draft', { exact: true })).toBeVisible()
  await expect(page.getByText('Add a file below; then you can publish it')).toBeVisible()
})

/** Moves the times that the page keeps of unfinished uploads. */
const passHours = (page: Page, hours: number) =>
  page.evaluate((ms) => {
    for (const name of Object.keys(localStorage).filter((one) => one.startsWith('till:upload:'))) {
      const upload = JSON.parse(localStorage.getItem(name)!)
      const creationTime = new Date(Date.parse(upload.creationTime) - ms).toString()
      localStorage.setItem(name, JSON.stringify({ ...upload, creationTime }))
    }
  }, hours * 3_600_000)

test('an upload keeps its place while the service is down, and when the seller has to sign in again', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id } = await product(context)
  const bytes = Buffer.alloc(2_000_000, 'till')
  const half = bytes.length / 2
  const begun: string[] = []
  const offsets: string[] = []
  const heads = [503, 401]
  await page.route(/\/api\/uploads(\/|$)/, async (route) => {
    const request = route.request()
    if (request.method() === 'POST') begun.push(request.url())
    if (request.method() === 'HEAD' && heads.length > 0) return route.fulfill({ status: heads.shift()! })
    if (request.method() !== 'PATCH') return route.continue()
    offsets.push(request.headers()['upload-offset']!)
    if (offsets.length > 1) return route.continue()
    await route.fetch({ postData: bytes.subarray(0, half) })
    await route.abort()
  })
  await page.goto(`/shop/#/products/${id}`)
  await choose(page, () => button(page, 'Choose files').click(), ['book.bin', bytes])
  await expect(page.getByText('You have been signed out.')).toBeVisible()
  await button(page, 'Continue book.bin').click()
  await expect(page.getByRole('list', { name: 'Files' }).locator('.name')).toHaveText('book.bin')
  expect(offsets).toEqual(['0', String(half)])
  expect(begun).toHaveLength(1)
})

test('a file for which there is no room is refused in the words of the service', async ({ page, context }) => {
  await signUp(page)
  const { id } = await product(context)
  const detail = 'A product may have at most 500 files. Removed files count too.'
  await page.route('**/api/uploads', (route) =>
    route.fulfill({
      status: 413,
      contentType: 'application/problem+json',
      body: JSON.stringify({ code: 'quota_exceeded', status: 413, detail }),
    }),
  )
  await page.goto(`/shop/#/products/${id}`)
  await choose(page, () => button(page, 'Choose files').click(), ['book.bin', Buffer.from('a book')])
  await expect(page.getByText('Stopped')).toBeVisible()
  await expect(alert(page, detail)).toBeVisible()
})

test('an upload that was complete before it was cancelled is shown as what it is, also after a reload', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id } = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  const files = page.getByRole('list', { name: 'Files' })
  const sent: string[] = []
  // The service gets every byte, and its answer is lost.
  await page.route('**/api/uploads/*', async (route) => {
    const request = route.request()
    if (request.method() === 'DELETE') return route.continue()
    if (request.method() === 'PATCH') {
      await route.fetch()
      sent.push(request.url())
    }
    await route.abort()
  })
  await choose(page, () => button(page, 'Replace book.pdf').click(), ['wrong.pdf', Buffer.from('the wrong file')])
  await expect.poll(() => sent.length).toBe(1)
  await expect(page.getByText('The connection was lost. Trying again…')).toBeVisible()
  await button(page, 'Cancel wrong.pdf').click()
  await expect(alert(page, 'wrong.pdf was complete before you cancelled it.')).toContainText(
    'It has taken the place of the earlier file.',
  )
  await expect(files.locator('.name')).toHaveText('wrong.pdf')
  await expectAccessible(page, 'an upload that was cancelled too late')
  await button(page, 'OK').click()
  await expect(page.getByText('was complete before you cancelled it', { exact: false })).toHaveCount(0)

  await choose(page, () => button(page, 'Add files').click(), ['more.pdf', Buffer.from('one more file')])
  await expect.poll(() => sent.length).toBe(2)
  await button(page, 'Pause more.pdf').click()
  await page.reload()
  await expect(files.locator('.name')).toHaveText(['wrong.pdf', 'more.pdf'])
  await expect(page.getByText('is not complete', { exact: false })).toHaveCount(0)
  // The entry is gone, so it does not come back when the file is removed elsewhere.
  const [, more] = await filesOf(context, id)
  await context.request.delete(`/api/products/${id}/files/${more!.id}`, { headers: { origin: BASE_URL } })
  await page.reload()
  await expect(files.locator('.name')).toHaveText('wrong.pdf')
  await expect(page.getByText('is not complete', { exact: false })).toHaveCount(0)
})

test('files are renamed and ordered, and the page asks about a second file of the same name', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id } = await product(context)
  await page.goto(`/shop/#/products/${id}`)
  const text = (words: string): [string, Buffer] => [`${words}.txt`, Buffer.from(words)]
  await choose(page, () => button(page, 'Choose files').click(), text('one'), text('two'), text('three'))
  const files = page.getByRole('list', { name: 'Files' })
  const names = files.locator('.name')
  await expect(names).toHaveCount(3)

  await ask(context, 'PATCH', `products/${id}/files/${(await filesOf(context, id)).find(({ name }) => name === 'one.txt')!.id}`, { position: 1 }) // oxfmt-ignore
  await page.reload()
  await button(page, 'Move down one.txt').click()
  await expect(names.nth(1)).toHaveText('one.txt')
  await expect(button(page, 'Move down one.txt')).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(names.nth(2)).toHaveText('one.txt')
  // At the end of the list the button with the focus is gone.
  await expect(button(page, 'Move up one.txt')).toBeFocused()
  expect((await filesOf(context, id)).map(({ name }) => name).at(-1)).toBe('one.txt')

  await button(page, 'Rename one.txt').click()
  await field(page, 'Name').last().fill('first.txt')
  await page.keyboard.press('Enter')
  await expect(names.nth(2)).toHaveText('first.txt')
  await expect(button(page, 'Rename first.txt')).toBeFocused()

  await choose(page, () => button(page, 'Add files').click(), ['First.txt', Buffer.from('again')], text('two'))
  const dialog = page.getByRole('dialog', { name: 'There is a file with this name already' })
  await expect(dialog).toContainText('First.txt')
  await expectAccessible(page, 'a second file of one name')
  await button(page, 'Keep both').click()
  await expect(dialog).toContainText('two.txt')
  // a press that comes at once would be the second half of a double press
  await page.clock.setFixedTime(Date.now() + 10_000)
  await button(page, 'Replace it').click()
  await expect(dialog).toHaveCount(0)
  await expect.poll(async () => (await filesOf(context, id)).map(({ name }) => name).toSorted()).toEqual(['First (2).txt', 'first.txt', 'three.txt', 'two.txt']) // oxfmt-ignore
})

test('a view that does not load says so, and loads on another try', async ({ page }) => {
  await signUp(page)
  await page.goto('/shop/#/products')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Products')
  await page.route('**/money-view*.js', (route) => route.abort())
  await page.getByRole('link', { name: 'Money' }).click()
  await expect(alert(page, 'The service cannot be reached right now.')).toBeVisible()
  await page.unroute('**/money-view*.js')
  await button(page, 'Try again').click()
  await expect(page.getByText('No money has moved yet.')).toBeVisible()
})

for (const [name, size] of Object.entries(SIZES)) {
  test(`every view of the shop fits, and can be used by everybody: ${name}`, async ({ browser }) => {
    const context = await browser.newContext({ ...size, baseURL: BASE_URL })
    const page = await context.newPage()
    await signUp(page)
    const look = async (hash: string, heading: string) => {
      await page.goto(`/shop/${hash}`)
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading)
      await page.waitForLoadState('networkidle')
      await expect(page.locator('.later')).toHaveCount(0)
      await expectAccessible(page, heading)
      await expectFits(page, heading)
    }
    await look('#/', 'Three steps to your first sale')
    const long = 'W'.repeat(200)
    const { id } = await published(context, { name: long, currency: 'JPY', amount: 1500 })
    await look('#/products', 'Products')
    await look(`#/products/${id}`, long)
    await context.close()
  })
}

test('a picture that is none is refused in words, one that is stands in the preview; free, and archived', async ({
  page,
  context,
}) => {
  await signUp(page)
  const { id, payUrl } = await published(context)
  await page.goto(`/shop/#/products/${id}`)
  const preview = page.locator('.preview')
  await choose(page, () => button(page, 'Choose a picture').click(), ['photo.txt', Buffer.from('not a picture')])
  await expect(alert(page, 'This picture cannot be read.')).toBeVisible()
  await choose(page, () => button(page, 'Choose a picture').click(), ['dot.png', PICTURE, 'image/png'])
  await expect(preview.locator('.cover')).toBeVisible()

  // The page for buyers offers the image in its widths, and in no other entry.
  await page.goto(payUrl)
  const srcset = (await page.locator('img.cover').getAttribute('srcset'))!
  expect(srcset.split(',').map((one) => / (\S+)$/.exec(one)?.[1])).toEqual(['320w', '640w', '1280w'])
  await page.goBack()
  await expect(preview.locator('.cover')).toBeVisible()

  await page.getByRole('radio', { name: 'Free' }).check()
  await button(page, 'Save').click()
  await expect(page.getByRole('region', { name: 'Save' }).getByText('Saved.')).toBeVisible()
  expect((await ask<Product>(context, 'GET', `products/${id}`)).amount).toBe(0)
  await button(page, 'Archive this product…').click()
  await button(page, 'Archive it').click()
  await expect(page.getByText('Archived', { exact: true })).toBeVisible()
  expect((await context.request.get(payUrl)).status()).toBe(404)
})

test('a discount code is made, taken and ended', async ({ page, context }) => {
  await signUp(page)
  const { id } = await published(context)
  // The list is slow, and then does not come. The button appears after it, so that the list does not move the button.
  const list = Promise.withResolvers<void>()
  let asked = 0
  await page.route('**/api/discounts?*', async (route) => {
    if (++asked > 1) return route.continue()
    await list.promise
    await route.abort()
  })
  await page.goto(`/shop/#/products/${id}`)
  await expect(page.getByRole('heading', { name: 'Discount codes' })).toBeVisible()
  await expect(button(page, 'New code')).toBeHidden()
  list.resolve()
  await button(page, 'New code').click()
  await field(page, 'Code').fill('spring-20')
  await field(page, 'Off').fill('20')
  await field(page, 'Last day').fill('20266-12-31')
  await button(page, 'Create the code').click()
  await expect(page.getByText('Please enter a day before the year 3000.')).toBeVisible()
  await field(page, 'Last day').fill('')
  await button(page, 'Create the code').click()
  const codes = page.getByRole('list', { name: 'Discount codes' })
  await expect(codes).toContainText('20% off')
  const view = await context.request.get(`/api/products/${id}/public?discountCode=SPRING-20`)
  expect(await view.json()).toMatchObject({ amount: 1900, discount: { amountOff: 380, amount: 1520 } })
  await page.getByRole('button', { name: /^End spring-20$/i }).click()
  await button(page, 'End it').click()
  await expect(codes).toContainText('Ended')
})

test('a code whose last day is past is not offered for use', async ({ page, context }) => {
  await signUp(page)
  const { id } = await published(context)
  for (const code of ['SUMMER', 'AUTUMN'])
    await ask(context, 'POST', 'discounts', { code, productId: id, percentOff: 20, expiresAt: '2099-09-01T12:00:00Z' })
  await page.goto(`/shop/#/products/${id}`)
  await button(page, 'End SUMMER').click()
  await button(page, 'End it').click()
  const codes = page.getByRole('list', { name: 'Discount codes' }).getByRole('listitem')
  const again = page.getByRole('button', { name: /^Use again ?: SUMMER$/ })
  await expect(again).toBeVisible()
  // The last day passes while the page is open.
  await page.clock.setFixedTime('2100-01-01T12:00:00Z')
  await again.click()
  await expect(page.getByText('The last day of SUMMER is past.')).toBeVisible()
  for (const code of ['SUMMER', 'AUTUMN'])
    await expect(codes.filter({ hasText: code })).toContainText(/ended Sep 1, 2099.*Ended$/)
  await expect(page.getByRole('button', { name: /^Use again|^End |the link with/ })).toHaveCount(0)
})
