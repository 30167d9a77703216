import { readFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { expectNoPayButton, expectPaid, makeOrder, newEmail, payButton, payWith, shownOrderId } from './buyer.ts'
import { BASE_URL, DEMO_URL, PRODUCT_ID, expect, test } from './fixtures.ts'
import { startService } from './service.ts'

const DIST = path.resolve(import.meta.dirname, '../../dist')

/** The "slow 4G" of the browsers' developer tools. */
const SLOW_4G = {
  offline: false,
  latency: 562.5,
  downloadThroughput: (1.44 * 1024 * 1024) / 8,
  uploadThroughput: (675 * 1024) / 8,
}

/** The payment form in the page's language, which comes after the page: the sandbox's here, a processor's script otherwise. */
const FORM = /\/assets\/sandbox-part-[\w-]+\.en\.js$/

/** Slow 4G carries this much within 0.9 s, its latency included. */
const MOST_BYTES = 60_000

test('on slow 4G the page can be used after one answer that arrives within a second', async ({ page, context }) => {
  const needed: string[] = []
  page.on('request', (request) => {
    const isNeeded = /^(script|stylesheet|fetch|xhr|font)$/.test(request.resourceType())
    if (isNeeded && !FORM.test(request.url())) needed.push(request.url())
  })
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('#email')) return
      observer.disconnect()
      // The page is usable when the element is on the screen.
      requestAnimationFrame(() => performance.mark('usable'))
    }).observe(document, { childList: true, subtree: true })
  })
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', SLOW_4G)
  await page.goto(DEMO_URL, { waitUntil: 'commit' })
  await page.waitForFunction(() => performance.getEntriesByName('usable').length > 0)
  const answer = await page.waitForFunction(() => {
    const [one] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
    return one!.responseEnd > 0 && one!.transferSize
  })
  const bytes = await answer.jsonValue()
  expect(needed, 'it waits for nothing else').toEqual([])
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThan(MOST_BYTES)
  // The page also answers: the suggestion appears while the buyer types.
  await page.getByLabel('E-mail').fill('ann@gmial.con')
  await page.getByLabel('E-mail').blur()
  await expect(page.getByText('Did you mean')).toBeVisible()
})

test('a page from the service requests the payment form alone, and no data before the order', async ({ page }) => {
  const asked: string[] = []
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
  await page.goto(DEMO_URL)
  await expect(page.locator('#card-number')).toBeVisible()
  expect(asked.filter((one) => /\.(js|css)$/.test(one))).toEqual([expect.stringMatching(FORM)])
  await page.getByLabel('E-mail').fill(newEmail())
  await page.waitForLoadState('networkidle')
  expect(asked.filter((one) => one.includes('/api/'))).toEqual([])
})

test('the page has the product for link previews and for readers without scripts', async ({ request }) => {
  const html = await (await request.get(DEMO_URL)).text()
  expect(html).toContain('<title>The Quiet Shop')
  expect(html).toMatch(/<meta property="og:image" content="http[^"]+demo-cover\.png"/)
})

test('from a static host on another origin: one request for data, then the whole purchase', async ({ page, watch }) => {
  const host = await staticHost()
  watch.allow(host.url)
  const toApi: string[] = []
  page.on('request', (request) => {
    const { pathname, origin } = new URL(request.url())
    if (origin === new URL(BASE_URL).origin && pathname.startsWith('/api/') && request.method() !== 'OPTIONS')
      toApi.push(`${request.method()} ${pathname}`)
  })
  await page.goto(`${host.url}/pay/?product=${PRODUCT_ID}`)
  await expect(page.getByRole('heading', { name: 'The Quiet Shop' })).toBeVisible()
  await page.waitForLoadState('networkidle')
  expect(toApi).toEqual([`GET /api/products/${PRODUCT_ID}/public`])
  await page.getByLabel('E-mail').fill(newEmail())
  await payWith(page, { rail: 'UPI', scenario: 'lost_webhook' })
  await expectPaid(page)
  const orderId = await shownOrderId(page)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('link', { name: /^Download / })
      .first()
      .click(),
  ])
  expect(await readFile(await download.path())).not.toHaveLength(0)
  await page.getByRole('link', { name: 'View your order' }).click()
  await expect(page).toHaveURL(`${host.url}/order/?order=${orderId}`)
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()

  await page.goto(`${host.url}/pay/?product=prod_nothing`)
  await expect(page.getByRole('heading', { name: 'This product is not for sale' })).toBeVisible()
  await host.close()
})

test('from a static host whose API is away: says so, and goes on when it is back', async ({ page, watch }) => {
  const host = await staticHost()
  watch.allow(host.url)
  await page.route('**/public*', (route) => route.abort())
  await page.goto(`${host.url}/pay/?product=${PRODUCT_ID}`)
  await expect(page.getByRole('heading', { name: 'The shop is not responding' })).toBeVisible()
  await page.unroute('**/public*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByLabel('E-mail')).toBeVisible()
  await host.close()
})

test('where the shop has closed meanwhile, a buyer who has an order for the product is led to it', async ({
  page,
  watch,
}) => {
  const host = await staticHost()
  watch.allow(host.url)
  const url = `${host.url}/pay/?product=${PRODUCT_ID}`
  const { orderId } = await makeOrder(page)
  const [name, order] = await page.evaluate(
    (id) => [`till:product:${id}`, localStorage.getItem(`till:product:${id}`)!],
    PRODUCT_ID,
  )
  await page.goto(`${host.url}/order/`)
  await page.evaluate(([key, value]) => localStorage.setItem(key!, value!), [name, order] as const)
  await page.route('**/public*', (route) =>
    route.fulfill({
      status: 409,
      headers: { 'access-control-allow-origin': '*' },
      json: { code: 'shop_not_open', detail: 'This shop is not open.' },
    }),
  )
  await page.goto(url)
  await expect(page).toHaveURL(`${host.url}/order/?order=${orderId}`)
  await page.evaluate(() => localStorage.clear())
  await page.goto(url)
  await expect(page.getByRole('heading', { name: 'This shop is not open' })).toBeVisible()
  await host.close()
})

test('where card payments are not live the page says so and offers no payment', async ({ page, watch }) => {
  const service = await startService({ PROCESSORS: 'none' })
  watch.allow(new URL(service.url).origin)
  try {
    await page.goto(service.demoUrl)
    await expect(page.getByRole('heading', { name: 'Not open for payments yet' })).toBeVisible()
    await expect(page.getByText('Please come back later.')).toBeVisible()
    await expectNoPayButton(page)
    await expect(page.getByRole('button', { name: /Continue/ })).toHaveCount(0)
  } finally {
    await service.stop()
  }
})

test('the home page leads a newcomer to the demo product and to the mails', async ({ page }) => {
  await page.goto('/')
  await page.getByRole('link', { name: 'Buy the demo product' }).click()
  await expect(page).toHaveURL(DEMO_URL)
  const { email } = await makeOrder(page)
  await payWith(page)
  await expectPaid(page)
  expect(await shownOrderId(page)).toMatch(/^ord_/)
  await expect(payButton(page)).toHaveCount(0)
  await page.goto('/')
  await page.getByRole('link', { name: 'Open the outbox' }).click()
  await page.getByLabel('Mails to').fill(email)
  await expect(page.getByText('1 mail')).toBeVisible()
  await expect(page.frameLocator('iframe').getByRole('link').first()).toBeVisible()
})

/** The built pages on any file server, with the API's address that the operator wrote into them, and the policy of docs/payments.md. */
async function staticHost(): Promise<{ url: string; close: () => Promise<void> }> {
  const types: Record<string, string> = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.svg': 'image/svg+xml',
    '.png': 'image/png',
  }
  const ofService = (await fetch(DEMO_URL)).headers.get('content-security-policy')!
  const ofPay = ofService.replace("connect-src 'self'", `connect-src 'self' ${BASE_URL}`)
  const ofOthers = ofPay.replaceAll(/ 'sha256-[^']+'/g, '')
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://host')
    const file = path.join(DIST, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    const body = await readFile(file).catch(() => undefined)
    response.writeHead(body ? 200 : 404, {
      'content-type': types[path.extname(file)] ?? 'application/octet-stream',
      'content-security-policy': pathname === '/pay/' ? ofPay : ofOthers,
    })
    response.end(
      file.endsWith('.html')
        ? body?.toString().replace('name="till-api" content=""', `name="till-api" content="${BASE_URL}"`)
        : body,
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
