import type { Page } from '@playwright/test'
import { Webhook } from 'standardwebhooks'
import { SIZES, expect, expectAccessible, expectFine, test } from './fixtures.ts'
import { type Receiver, publish, sell, startReceiver } from './receiver.ts'
import { loseAnswers, signUp } from './seller.ts'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const rows = (page: Page) => page.locator('.deliveries > li')
const row = (page: Page, type: string) => rows(page).filter({ hasText: type }).first()
const state = (page: Page) => page.getByRole('region', { name: 'State' })

let receiver: Receiver
test.beforeEach(async () => {
  receiver = await startReceiver()
})
test.afterEach(() => receiver.close())

async function open(page: Page): Promise<void> {
  await signUp(page)
  await page.goto('/shop/#/developers')
  await expect(page.getByRole('heading', { name: 'Webhooks' })).toBeVisible()
}

/** Adds the receiver as an endpoint, by the form. Returns the secret. */
async function add(page: Page, name = 'Unlock'): Promise<string> {
  await button(page, 'New endpoint').click()
  await page.getByLabel('Address of your program').fill(receiver.url)
  await page.getByLabel('Name (optional)').fill(name)
  await button(page, 'Add the endpoint').click()
  await expect(page.getByRole('heading', { name: 'The secret of this endpoint' })).toBeFocused()
  return (await page.locator('.secret-text').textContent()) ?? ''
}

async function openEndpoint(page: Page, name = 'Unlock'): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
}

const sendTest = (page: Page) => button(page, 'Test it').click()
const sendChosen = (page: Page) => button(page, 'Send the test event').click()

test.describe('on a phone', () => {
  test.use(SIZES.phone)

  test('an endpoint is added, and a sale arrives on the page by itself, with the exact body', async ({ page }) => {
    await open(page)
    await expect(page.getByText('Begin with a receiver like the one below')).toBeVisible()
    await page.getByText('A receiver to copy').click()
    for (const name of ['Node', 'Python', 'PHP'])
      await expect(page.getByRole('region', { name })).toContainText('WEBHOOK_SECRET')
    await expectFine(page, 'the receivers')
    await button(page, 'New endpoint').click()
    await expect(page.getByLabel('Address of your program')).toBeFocused()
    await button(page, 'Add the endpoint').click()
    await expect(page.getByText('Please enter the address of your program.')).toBeVisible()
    await page.getByLabel('Only these').check()
    await expectFine(page, 'the form')
    await button(page, 'Cancel').click()
    await expect(page.getByRole('heading', { name: 'Webhooks' })).toBeFocused()

    const secret = await add(page)
    expect(secret).toMatch(/^whsec_/)
    await expectFine(page, 'the secret')
    await button(page, 'I have it').click()
    await openEndpoint(page)
    await expect(state(page)).toContainText('Nothing sent yet')
    await expect(page.getByText('it appears here by itself')).toBeVisible()
    await expectFine(page, 'without deliveries')

    const orderId = await sell(page, await publish(page.context()))
    await expect(row(page, 'order.paid')).toContainText(/Delivered.*200 in \d+ ms/)
    await expect(state(page)).toContainText('Works')
    await row(page, 'order.paid').locator('summary').press('Enter')
    await expect(page.getByRole('list', { name: 'Tries, the newest first' })).toContainText('thank you')
    const sent = receiver.received.find(({ body }) => body.includes('order.paid'))!
    new Webhook(secret).verify(sent.body, sent.headers)
    const headers = (await page.getByLabel('Headers').textContent()) ?? ''
    for (const name of ['content-type', 'content-length', 'user-agent', 'webhook-id', 'webhook-timestamp'])
      expect(headers).toContain(`${name}: ${sent.headers[name]}`)
    const body = JSON.parse((await page.getByLabel('Body').textContent()) ?? '') as { data: { order: object } }
    expect(JSON.stringify(body)).toBe(sent.body)
    expect(body.data.order).toMatchObject({ orderId })
    await expectFine(page, 'an open delivery')

    await page.goto('/shop/#/developers')
    await expect(page.getByRole('list', { name: 'Last deliveries to Unlock' })).toContainText('order.paid')
    await expectFine(page, 'with an endpoint')
    expect(await page.content()).not.toContain(secret)
  })

  test('a failing receiver shows what came back and what helps, and a replay keeps the id', async ({ page }) => {
    receiver.status = 503
    receiver.answer = 'the database is away'
    await open(page)
    await add(page)
    await button(page, 'I have it').click()
    await openEndpoint(page)
    await sendTest(page)
    await expect(row(page, 'endpoint.test')).toContainText(/Failing.*503 in \d+ ms/)
    await expect(state(page)).toContainText('No try has succeeded since')
    await expect(state(page)).toContainText('The receiver answered 503.')
    await row(page, 'endpoint.test').locator('summary').click()
    await expect(page.getByText('What helps:')).toBeVisible()
    await expect(page.getByLabel('The beginning of the answer').first()).toHaveText('the database is away')
    await expectFine(page, 'a failing endpoint')

    receiver.status = 204
    await button(page, 'Replay this endpoint.test').click()
    await expect(page.getByText('It is sent again, with the same id.')).toBeVisible()
    await expect(row(page, 'endpoint.test')).toContainText('Delivered')
    await expect(state(page)).toContainText('Works')
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })
})

test('an endpoint whose answer is lost is in the list, and the page says what to do with it', async ({ page }) => {
  await open(page)
  await loseAnswers(page, '**/api/webhook-endpoints')
  await button(page, 'New endpoint').click()
  await page.getByLabel('Address of your program').fill(receiver.url)
  await button(page, 'Add the endpoint').click()
  await expect(page.getByRole('alert')).toContainText('The endpoint may have been added all the same.')
  await expect(page.getByRole('list', { name: 'Endpoints' }).getByText(receiver.url)).toHaveCount(1)
  await expectAccessible(page, 'the endpoint of a lost answer')
})

test('an address that we may not call is refused at its field', async ({ page }) => {
  await open(page)
  await button(page, 'New endpoint').click()
  const field = page.getByLabel('Address of your program')
  for (const [address, fault] of [
    ['shop.example/hook', 'The address begins with https://'],
    ['https://10.0.0.7/hook', 'The address must not be an address of a private network.'],
    ['http://shop.example/hook', 'The address must begin with https://.'],
  ] as const) {
    await field.fill(address)
    await button(page, 'Add the endpoint').click()
    await expect(page.locator('#endpoint-url-fault')).toHaveText(fault)
    await expect(field).toBeFocused()
  }
  await expectAccessible(page, 'a refused address')
})

test('new deliveries move nothing that is being read, are announced, and wait while the list is paused', async ({
  page,
}) => {
  await open(page)
  await add(page)
  await button(page, 'I have it').click()
  await openEndpoint(page)
  await sendTest(page)
  await expect(rows(page)).toHaveCount(1)
  await expect(page.getByText('A new delivery: endpoint.test.')).toBeAttached()
  const read = rows(page).last()
  await read.locator('summary').click()
  await expect(page.getByLabel('Body')).toBeVisible()
  // the page may have shown it before its try was over, and what came back is above the body
  await expect(read).toContainText('Delivered')
  await expect(read).toContainText('thank you')
  await page.getByLabel('Body').scrollIntoViewIfNeeded()
  const id = await page.evaluate(() => document.querySelector('.deliveries > li')!.id)
  const place = page.locator(`#${id}`).getByLabel('Body')
  const before = await place.boundingBox()
  const productId = await publish(page.context())
  await expect(rows(page)).toHaveCount(2)
  expect(Math.abs((await place.boundingBox())!.y - before!.y)).toBeLessThanOrEqual(1)

  await button(page, 'Pause the list').click()
  await sell(page, productId)
  await expect.poll(() => receiver.received.some(({ body }) => body.includes('order.paid'))).toBe(true)
  await expect(rows(page)).toHaveCount(2)
  await button(page, 'Go on').click()
  await expect(row(page, 'order.paid')).toContainText('Delivered')
})

test('a look at the deliveries from before a pause of the list takes away nothing that came since', async ({
  page,
}) => {
  await open(page)
  await add(page)
  await button(page, 'I have it').click()
  await openEndpoint(page)
  await sendTest(page)
  await expect(rows(page)).toHaveCount(1)
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const look = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await page.route(
    /\/deliveries$/,
    async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await answered.promise
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  await look()
  await asked.promise
  await button(page, 'Pause the list').click()
  await button(page, 'Go on').click()
  await publish(page.context())
  await expect(rows(page)).toHaveCount(2)
  await button(page, 'Pause the list').click()
  const late = page.waitForResponse(/\/deliveries$/)
  answered.resolve()
  await (await late).finished()
  // The page has seen the late answer before the answer to a later request.
  await page.evaluate(() => fetch('/'))
  await expect(rows(page)).toHaveCount(2)
})

test('a replay that is made is told so where only the reading after it fails', async ({ page }) => {
  await open(page)
  await add(page)
  await button(page, 'I have it').click()
  await openEndpoint(page)
  await sendTest(page)
  await expect(row(page, 'endpoint.test')).toContainText('Delivered')
  await row(page, 'endpoint.test').locator('summary').click()
  const tries = page.getByRole('list', { name: 'Tries, the newest first' }).getByRole('listitem')
  await expect(tries).toHaveCount(1)
  await page.route(/\/deliveries\/evt_\w+$/, (route) => route.abort())
  await button(page, 'Replay this endpoint.test').click()
  await expect(page.getByText('It is sent again, with the same id.')).toBeVisible()
  const unread = row(page, 'endpoint.test').getByRole('alert')
  await expect(unread).toHaveCount(1)
  await expect(unread).toContainText('The service cannot be reached right now.')
  await page.unroute(/\/deliveries\/evt_\w+$/)
  await expect(unread).toHaveCount(0)
  await expect(tries).toHaveCount(2)
})

test('where the state of an endpoint cannot be read, the page says so, and reads it again', async ({ page }) => {
  await open(page)
  await add(page)
  await button(page, 'I have it').click()
  await page.route(/\/deliveries\?limit=3$/, (route) => route.abort())
  await openEndpoint(page)
  await expect(state(page).getByRole('alert')).toContainText('The service cannot be reached right now.')
  await expect(state(page).getByRole('button', { name: 'Try again' })).toBeVisible()
  await page.unroute(/\/deliveries\?limit=3$/)
  await expect(state(page)).toContainText('Nothing sent yet')
  await expect(state(page).getByRole('alert')).toHaveCount(0)
})

test('an endpoint that is gone says so, and resuming sends what waited', async ({ page }) => {
  receiver.status = 410
  await open(page)
  await add(page)
  await button(page, 'I have it').click()
  await openEndpoint(page)
  await sendTest(page)
  await expect(state(page)).toContainText(/Gone: paused.*410.*one delivery waits/)
  await publish(page.context())
  await expect(row(page, 'product.published')).toContainText('Waiting')
  await expect(row(page, 'product.published')).toContainText('It waits until you resume')
  await expectAccessible(page, 'a paused endpoint')
  receiver.status = 200
  await button(page, 'Resume').click()
  await expect(page.getByText('Resumed.')).toBeVisible()
  await expect(row(page, 'product.published')).toContainText('Delivered')
  await expect(row(page, 'endpoint.test')).toContainText('Delivered')
  await expect(state(page)).toContainText('Works')
})

test('the weather of a test event, and a replay of everything since a time', async ({ page }) => {
  await open(page)
  await add(page)
  await button(page, 'I have it').click()
  await openEndpoint(page)
  await page.getByLabel('Event', { exact: true }).selectOption('order.refunded')
  await page.getByLabel('Twice').check()
  await sendChosen(page)
  await expect(page.getByText('Sent, two times with one id.')).toBeVisible()
  await expect.poll(() => receiver.received.length).toBe(2)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  await page.getByLabel('Reordered').check()
  await sendChosen(page)
  await expect(rows(page)).toHaveCount(3)
  await expect.poll(() => receiver.received.length).toBe(4)

  await publish(page.context())
  await expect.poll(() => receiver.received.length).toBe(5)
  await page.getByText('Replay many').click()
  await page.getByLabel('Since').fill('')
  await button(page, 'Send again').click()
  await expect(page.getByText('Please choose a day and a time.')).toBeVisible()
  await page.getByLabel('Since').fill('2026-01-01T00:00')
  await button(page, 'Send again').click()
  await expect(page.getByText('There was nothing to send again.')).toBeVisible()
  await page.getByLabel(/^Everything/).check()
  await expectAccessible(page, 'replay many')
  await button(page, 'Send again').click()
  await expect(page.getByText(/sent again\.$/)).toBeVisible()
  await expect.poll(() => receiver.received.filter(({ body }) => body.includes('product.published')).length).toBe(2)
})

test('an endpoint is changed, its secret rotated with both signing, and removed', async ({ page }) => {
  await open(page)
  const first = await add(page)
  await button(page, 'I have it').click()
  await openEndpoint(page)
  await button(page, 'Change').click()
  await page.getByLabel('Name (optional)').fill('Unlock two')
  await page.getByLabel('Only these').check()
  await button(page, 'Save').click()
  await expect(page.getByRole('heading', { level: 1, name: 'Unlock two' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Settings' })).toBeFocused()

  await button(page, 'Rotate the secret').click()
  await expectAccessible(page, 'the question about rotating')
  await button(page, 'Rotate it').click()
  await expect(page.getByRole('heading', { name: 'The secret of this endpoint' })).toBeFocused()
  const second = (await page.locator('.secret-text').textContent())!
  expect(second).not.toBe(first)
  await expect(page.getByText('signs too until')).toBeVisible()
  await sendTest(page)
  await expect.poll(() => receiver.received.length).toBe(1)
  const [{ body, headers }] = receiver.received as [Receiver['received'][number]]
  for (const secret of [first, second]) new Webhook(secret).verify(body, headers)

  await button(page, 'Remove the endpoint').click()
  await expect(button(page, 'Cancel')).toBeFocused()
  await button(page, 'Remove it').click()
  await expect(page).toHaveURL(/#\/developers$/)
  await expect(page.getByText('Begin with a receiver like the one below')).toBeVisible()
  await page.goBack()
  await expect(page.getByText('There is no such endpoint in your shop.')).toBeVisible()
})

test('a secret that is shown once stays until the seller has it', async ({ page }) => {
  await open(page)
  const secret = page.locator('.secret-text')
  const first = await add(page)
  await button(page, 'New endpoint').click()
  await button(page, 'Cancel').click()
  await expect(page.getByRole('heading', { name: 'Webhooks' })).toBeFocused()
  await expect(secret).toHaveText(first)
  await button(page, 'I have it').click()
  await expect(secret).toHaveCount(0)
  await expect(page.getByRole('heading', { name: 'Webhooks' })).toBeFocused()

  await openEndpoint(page)
  await button(page, 'Rotate the secret').click()
  await button(page, 'Rotate it').click()
  await expect(secret).toHaveCount(1)
  const second = (await secret.textContent())!
  for (const press of ['Cancel', 'Save']) {
    await button(page, 'Change').click()
    await button(page, press).click()
    await expect(page.getByRole('heading', { name: 'Settings' })).toBeFocused()
    await expect(secret).toHaveText(second)
  }
  await button(page, 'I have it').click()
  await expect(secret).toHaveCount(0)
  await expect(page.getByRole('heading', { name: 'Settings' })).toBeFocused()
})
