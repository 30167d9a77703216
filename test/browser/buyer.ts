import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type FrameLocator, type Page, type Request } from '@playwright/test'
import { CARDS } from '../../web/pay/sandbox-cards.ts'
import { BASE_URL, DEMO_URL, PRODUCT_ID, expect } from './fixtures.ts'

export const RAILS = ['Card', 'Bank debit', 'Bank transfer', 'UPI', 'Apple Pay', 'Google Pay', 'Wallet']
export const RAIL_IDS: Record<string, string> = {
  Card: 'card',
  'Bank debit': 'debit',
  'Bank transfer': 'bank_transfer',
  UPI: 'upi',
  'Apple Pay': 'apple_pay',
  'Google Pay': 'google_pay',
  Wallet: 'wallet',
}

/** An address that no other test uses. */
export const newEmail = (): string => `buyer-${randomUUID().slice(0, 8)}@example.com`

export const payButton = (page: Page) => page.getByRole('button', { name: /^pay\b/i })

/** The page with everything on it, and the buyer's address filled in. A press on the button makes the order and pays it. */
export async function fillIn(page: Page, email = newEmail(), url = DEMO_URL): Promise<{ email: string }> {
  await page.goto(url)
  await page.getByLabel('E-mail').fill(email)
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  return { email }
}

/** The page of a buyer who comes back to an order that was made on an earlier visit and is not paid. */
export async function makeOrder(
  page: Page,
  email = newEmail(),
  url = DEMO_URL,
  wish?: Record<string, string>,
): Promise<{ email: string; orderId: string }> {
  const productId = new URL(url).searchParams.get('product')!
  const key = randomUUID()
  const made = await page.request.post(`${new URL(url).origin}/api/checkout`, {
    data: { productId, email, ...wish },
    headers: { 'idempotency-key': key },
  })
  expect(made.status(), await made.text()).toBe(201)
  const { orderId } = (await made.json()) as { orderId: string }
  // The front page of the shop has the same storage and no order.
  await page.goto(new URL('/pricing/', url).href)
  await page.evaluate(([name, kept]) => localStorage.setItem(name!, kept!), [
    `till:product:${productId}`,
    JSON.stringify({ email, key, ...(wish && { wish }), orderId }),
  ] as const)
  // a test may hold the script of the payment form, and the page has not loaded before it
  await page.goto(url, { waitUntil: 'domcontentloaded' })
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  expect(await shownOrderId(page)).toBe(orderId)
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  return { email, orderId }
}

export async function shownOrderId(page: Page): Promise<string> {
  const text = await page
    .getByText(/^ord_[0-9a-z]{26}$/)
    .first()
    .textContent()
  return text!
}

export async function payWith(page: Page, { rail = 'Card', scenario = 'success' } = {}): Promise<void> {
  if (rail === 'Apple Pay' || rail === 'Google Pay') return page.getByRole('button', { name: rail }).click()
  await page.getByRole('radio', { name: rail, exact: true }).check()
  if (rail === 'Card') return payByCard(page, { scenario })
  await page.locator('details.sandbox').evaluate((fold: HTMLDetailsElement) => void (fold.open = true))
  await page.getByLabel('How should the bank behave?').selectOption(scenario)
  await payButton(page).click()
}

/** Pays in the sandbox by the card that is chosen from the beginning, in a page or in a frame of one. */
export async function payByCard(
  place: Page | FrameLocator,
  { scenario = 'success', button = /^pay\b/i } = {},
): Promise<void> {
  await fillCard(place, CARDS.find(([, plays]) => plays === scenario)![0])
  await place.getByRole('button', { name: button }).click()
}

export async function fillCard(place: Page | FrameLocator, number: string): Promise<void> {
  await place.locator('#card-number').fill(number)
  await place.locator('#card-expiry').fill('12 / 34')
  await place.locator('#card-cvc').fill('123')
}

const STATUS = '**/status?**'

/**
 * The service reports a paid order as `status`, until the caller calls the returned function. A bank takes three
 * seconds.
 */
export async function sayBefore(page: Page, status: 'pending' | 'processing'): Promise<() => void> {
  let isOver = false
  await page.route(STATUS, async (route) => {
    if (isOver) return route.continue()
    const response = await route.fetch()
    const answer = await response.json()
    const before = { status, paid: false, canPay: status === 'pending', paidAt: null, downloads: [], nextPollMs: 2_000 }
    await route.fulfill({ response, json: answer.paid && !isOver ? { ...answer, ...before } : answer })
  })
  return () => {
    isOver = true
  }
}

/** Presses "Try again". The page tries by itself too, and has no button once that succeeds. */
export async function tryAgain(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Try again' })
  await expect(async () => {
    if (await button.isVisible()) await button.click({ timeout: 1_000 })
    await expect(button).toHaveCount(0, { timeout: 20_000 })
  }).toPass()
}

/** The page gets no status, until the caller calls the returned function. */
export async function sayNothing(page: Page): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(STATUS, async (route) => {
    await released
    await route.continue()
  })
  return release
}

export async function expectPaid(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await expectNoPayButton(page)
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)
}

export const expectNoPayButton = (page: Page) => expect(payButton(page)).toHaveCount(0)

export interface Status {
  status: string
  rail: string | null
  amount: number
  currency: string
  timeline: { what: string }[]
  downloads: { name: string; url: string; sha256: string }[]
}

/** The service's own answer about the order. */
export async function statusOf(page: Page, orderId: string, email: string, url = BASE_URL): Promise<Status> {
  const answer = await page.request.get(`${url}/api/checkout/${orderId}/status?${new URLSearchParams({ email })}`)
  return (await answer.json()) as Status
}

/** Downloads by a click, as a buyer does, and compares the bytes with the page and the service. */
export async function expectDownloads(page: Page, orderId: string, email: string, url = BASE_URL): Promise<void> {
  const { downloads } = await statusOf(page, orderId, email, url)
  for (const { name, sha256 } of downloads) {
    const item = page.getByRole('listitem').filter({ hasText: name })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      item.getByRole('link', { name: /^Download / }).click(),
    ])
    expect(download.suggestedFilename()).toBe(name)
    const bytes = await readFile(await download.path())
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
    await item.getByText('Checksum').click()
    await expect(item.getByText(sha256)).toBeVisible()
  }
}

/** The page's requests to one address of the API, from now on. */
export function requestsTo(page: Page, path: RegExp): Request[] {
  const seen: Request[] = []
  page.on('request', (request) => {
    if (request.method() !== 'OPTIONS' && path.test(new URL(request.url()).pathname)) seen.push(request)
  })
  return seen
}

/** Does what Chrome does to a page that it translates, but that the words stay: each text gets new elements, and the old text leaves the page. */
export const translate = (page: Page) =>
  page.evaluate(() => {
    document.documentElement.lang = 'uk'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const texts: Text[] = []
    while (walker.nextNode()) texts.push(walker.currentNode as Text)
    for (const text of texts) {
      if (!text.data.trim() || text.parentElement!.closest('script, style, font, .notranslate, [translate=no]'))
        continue
      const [outer, inner] = [document.createElement('font'), document.createElement('font')]
      inner.textContent = text.data
      outer.append(inner)
      text.replaceWith(outer)
    }
  })

export const kept = (page: Page) =>
  page.evaluate(
    (id) => JSON.parse(localStorage.getItem(`till:product:${id}`) ?? 'null') as { orderId?: string } | null,
    PRODUCT_ID,
  )
