import type { BrowserContext, Locator, Page, Route } from '@playwright/test'
import { newEmail, statusOf } from './buyer.ts'
import { BASE_URL, expect, test } from './fixtures.ts'
import { signUp } from './seller.ts'

const headers = { origin: BASE_URL }
/** The pages of sellers with several parts, and a text at the end of each. */
const PAGES: [address: (made: Made) => string, last: RegExp][] = [
  [() => '/shop/#/', /By product/],
  [() => '/shop/#/money', /How the fee was computed/],
  [() => '/shop/#/developers', /What your keys have changed/],
  [({ productId }) => `/shop/#/products/${productId}`, /Archive/],
  [({ orderId }) => `/shop/#/orders/${orderId}`, /How the fee was computed|What happened/],
  [() => '/account/', /What has changed/],
]

interface Made {
  productId: string
  orderId: string
}

async function ask<Answer>(context: BrowserContext, method: string, path: string, data: object): Promise<Answer> {
  const answer = await context.request.fetch(`/api/${path}`, { method, data, headers })
  expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()) as Answer
}

/** A seller's product with a file and a code, a sale of it, a key and an address for events. */
async function shop(page: Page): Promise<Made> {
  const context = page.context()
  const product = { name: 'The Quiet Shop', amount: 1900, currency: 'USD' }
  const { id } = await ask<{ id: string }>(context, 'POST', 'products', product)
  const type = { ...headers, 'content-type': 'application/octet-stream' }
  await context.request.post(`/api/products/${id}/files?name=book.pdf`, { data: Buffer.from('book'), headers: type })
  await ask(context, 'PATCH', `products/${id}`, { status: 'active' })
  await ask(context, 'POST', 'discounts', { code: 'SPRING', percentOff: 20, productId: id })
  await ask(context, 'POST', 'keys', { name: 'A program', scopes: ['orders:read'] })
  await ask(context, 'POST', 'webhook-endpoints', { url: 'https://shop.example.com/till', events: ['order.paid'] })
  const email = newEmail()
  const order = await ask<{ orderId: string; clientSecret: string }>(context, 'POST', 'checkout', {
    productId: id,
    email,
  })
  const { orderId, clientSecret } = order
  await ask(context, 'POST', 'sandbox/confirm', { clientSecret, rail: 'card', scenario: 'success' })
  await expect.poll(async () => (await statusOf(page, orderId, email)).status).toBe('paid')
  return { productId: id, orderId }
}

/**
 * Holds the API's answers. The returned function lets them go one at a time, the newest request first, and the page draws
 * each before the next one comes. It returns when the page shows its end and asks for nothing more.
 */
async function holdAnswers(page: Page): Promise<(end: Locator) => Promise<void>> {
  const held: Route[] = []
  await page.route('**/api/**', (route) => void held.push(route))
  return async (end) => {
    for (let quiet = 0; quiet < 5; quiet++) {
      if (held.length > 0 || !(await end.isVisible())) quiet = 0
      await held.pop()?.continue()
      await new Promise((later) => setTimeout(later, 150))
    }
  }
}

/** Each part of the page that moved after it had been drawn. */
const moved = (page: Page) => page.evaluate(() => (window as unknown as { moved: string[] }).moved)

async function watchMoves(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: string[] = []
    Object.assign(window, { moved: seen })
    // The bar for saving sticks to the edge of the window. It only moves in a window this tall.
    const canSlip = (node: Element) =>
      node.closest('main') && node.querySelector('a, button, input') && !node.matches('.save-bar')
    interface Shift extends PerformanceEntry {
      sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[]
    }
    new PerformanceObserver((list) => {
      for (const { sources } of list.getEntries() as Shift[])
        for (const { node, previousRect, currentRect } of sources)
          if (node instanceof Element && canSlip(node) && currentRect.y !== previousRect.y)
            seen.push(`${node.textContent} from ${previousRect.y} to ${currentRect.y}`)
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

test.use({ viewport: { width: 390, height: 4000 } })

test('no part of a seller’s page moves when another part arrives', async ({ page }) => {
  await signUp(page)
  const made = await shop(page)
  for (const [address, last] of PAGES) {
    await test.step(address(made), async () => {
      const one = await page.context().newPage()
      await watchMoves(one)
      const answerBackwards = await holdAnswers(one)
      await one.goto(address(made))
      await answerBackwards(one.getByRole('main').getByText(last).last())
      await expect(one.locator('.one-moment')).toHaveCount(0)
      await one.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
      expect.soft(await moved(one)).toEqual([])
      await one.close()
    })
  }
})
