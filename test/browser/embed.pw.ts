import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { BrowserContext, FrameLocator, Page } from '@playwright/test'
import { de } from '../../src/words/de.ts'
import { newEmail, payByCard, statusOf } from './buyer.ts'
import { BASE_URL, DEMO_URL, expect, expectAccessible, expectFits, holdClock, tabTo, test } from './fixtures.ts'
import { type OtherSite, buyLink, changeSite, giveUp, missAnswer, startOtherSite, waitForEver } from './other-site.ts'

// The checkout in a frame, on a site of another origin.
test.describe.configure({ mode: 'default' })

const STRICT = `default-src 'none'; script-src ${BASE_URL}; frame-src ${BASE_URL}; require-trusted-types-for 'script'; trusted-types 'none'`

/** The browser says so on a page whose host is not one of the seller's sites. */
const REFUSED_FRAME = /^Framing '.*"frame-ancestors /

let site: OtherSite
test.beforeAll(async () => {
  site = await startOtherSite()
  await changeSite('put', site.host)
})
test.afterAll(async () => {
  await changeSite('delete', site.host)
  await site.close()
})
test.beforeEach(async ({ context, watch }) => {
  watch.allow(site.origin)
  await waitForEver(context)
})

/** Notes all that the page around the frame hears. */
const listen = (context: BrowserContext) =>
  context.addInitScript(() => {
    if (self !== top) return
    const heard: unknown[] = []
    Object.assign(self, { heard })
    addEventListener('message', ({ origin, data }) => heard.push({ origin, ...data }))
    for (const name of ['ready', 'paid', 'closed'])
      addEventListener(`till:${name}`, (event) => heard.push({ event: name, ...(event as CustomEvent<object>).detail }))
  })
interface Heard {
  origin?: string
  till?: string
  event?: string
  orderId?: string
}
const heardBy = (page: Page) => page.evaluate(() => (self as unknown as { heard: Heard[] }).heard)

const frameIn = (page: Page): FrameLocator => page.frameLocator('iframe[title="Checkout"]')
const dialogIn = (page: Page) => page.getByRole('dialog', { name: 'Checkout' })
const link = (page: Page) => page.getByRole('link', { name: 'Buy the book' })

async function openOverlay(page: Page): Promise<FrameLocator> {
  await page.goto(`${site.origin}/`)
  await link(page).click()
  await expect(frameIn(page).getByLabel('E-mail')).toBeVisible()
  return frameIn(page)
}

async function order(frame: FrameLocator, email = newEmail()): Promise<string> {
  await frame.getByLabel('E-mail').fill(email)
  await expect(payIn(frame)).toBeVisible()
  return email
}
const payIn = (frame: FrameLocator) => frame.getByRole('button', { name: /^pay\b/i })
const expectPaidIn = (frame: FrameLocator) =>
  expect(frame.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()

for (const [size, viewport] of Object.entries({
  'a small phone': { width: 320, height: 640 },
  'a desktop': { width: 1280, height: 900 },
})) {
  test(`on ${size} a buyer pays in the frame, and the site hears of it and of nothing else`, async ({
    page,
    context,
  }) => {
    await page.setViewportSize(viewport)
    await listen(context)
    site.show('/', buyLink())
    const frame = await openOverlay(page)
    const email = await order(frame)
    await payByCard(frame)
    await expectPaidIn(frame)
    await expect(frame.getByRole('link', { name: /^Download / })).toHaveCount(3)
    await expectFits(page, size)
    const heard = await heardBy(page)
    const { orderId } = heard.find(({ till }) => till === 'paid')!
    expect((await statusOf(page, orderId!, email)).status).toBe('paid')
    expect(heard.filter(({ event }) => event)).toEqual([{ event: 'ready' }, { event: 'paid', orderId }])
    for (const one of heard.filter(({ till }) => till)) {
      expect(one.origin).toBe(BASE_URL)
      expect(
        Object.keys(one).filter((name) => !['origin', 'till', 'height', 'orderId', 'keep'].includes(name)),
      ).toEqual([])
    }
    expect(JSON.stringify(heard.map(({ origin: _, ...rest }) => rest))).not.toMatch(/@|http|token|secret/)
    await frame.getByRole('heading', { name: 'Paid. It’s yours.' }).press('Escape')
    await expect(dialogIn(page)).toHaveCount(0)
    await expect(link(page)).toBeFocused()
    expect((await heardBy(page)).at(-1)).toEqual({ event: 'closed' })
  })
}

test('the keyboard is enough, everything has a name, and the page behind is out of reach', async ({ page }) => {
  site.show('/', `${buyLink()}<p><a href="/other">Another link</a></p>`)
  await page.goto(`${site.origin}/`)
  await link(page).focus()
  await page.keyboard.press('Enter')
  await expect(dialogIn(page)).toBeVisible()
  const email = frameIn(page).getByLabel('E-mail')
  await expect(email).toBeVisible()
  await expect(page.getByRole('button', { name: 'Close the checkout' })).toBeVisible()
  await expectAccessible(page, 'the site with the checkout over it')
  await tabTo(page, email)
  await page.keyboard.press('Escape')
  await expect(dialogIn(page)).toHaveCount(0)
  await expect(link(page)).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(email).toBeVisible()
  await page.getByRole('button', { name: 'Close the checkout' }).press('Enter')
  await expect(dialogIn(page)).toHaveCount(0)
  expect(await page.evaluate(() => document.documentElement.style.overflow)).toBe('')
})

test('while a bank is at work neither Escape nor the button closes the frame', async ({ page, context }) => {
  await listen(context)
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  await order(frame)
  let release = () => {}
  const asked = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/api/sandbox/confirm', async (route) => {
    await asked
    await route.continue()
  })
  await payByCard(frame)
  await expect(
    frame
      .getByRole('heading', { name: 'Checking with your bank' })
      .or(frame.getByRole('heading', { name: 'Confirming your payment' })),
  ).toBeVisible()
  await frame.locator('body').press('Escape')
  await page.getByRole('button', { name: 'Close the checkout' }).click()
  await page.getByRole('button', { name: 'Close the checkout' }).press('Escape')
  await page.keyboard.press('Escape')
  await expect(dialogIn(page)).toBeVisible()
  release()
  await expectPaidIn(frame)
  expect((await heardBy(page)).filter(({ till }) => till === 'closed')).toEqual([])
  await page.getByRole('button', { name: 'Close the checkout' }).click()
  await expect(dialogIn(page)).toHaveCount(0)
})

test('a frame that is closed while its bank takes long shows the same order at the next click', async ({
  page,
  context,
}) => {
  await listen(context)
  await context.clock.install()
  // the time of the test must not end the wait for the frame's answers
  await waitForEver(context)
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  await holdClock(context)
  const orders: string[] = []
  page.on('request', (request) => request.url().endsWith('/api/checkout') && orders.push(request.url()))
  await order(frame)
  // the bank goes on working
  await page.route('**/status?**', (route) => route.abort())
  const sent = page.waitForResponse('**/api/sandbox/confirm')
  await payByCard(frame)
  await sent
  const waiting = frame.getByRole('heading', { name: 'Confirming your payment' })
  await expect(waiting).toBeVisible()
  const close = page.getByRole('button', { name: 'Close the checkout' })
  await close.click()
  await expect.poll(async () => (await heardBy(page)).some(({ till }) => till === 'stays')).toBe(true)
  await expect(dialogIn(page)).toBeVisible()
  await context.clock.fastForward(41_000)
  for (const _ of ['closed once', 'closed twice']) {
    await close.click()
    await expect(dialogIn(page)).toHaveCount(0)
    await expect(link(page)).toBeFocused()
    await link(page).click()
    await expect(waiting).toBeVisible()
    await expect(page.locator('iframe')).toHaveCount(1)
  }
  await close.click()
  await page.unroute('**/status?**')
  await context.clock.fastForward(31_000)
  await context.clock.resume()
  await expect.poll(async () => (await heardBy(page)).filter(({ event }) => event === 'paid').length).toBe(1)
  await link(page).click()
  await expectPaidIn(frame)
  expect(orders).toHaveLength(1)
  await close.click()
  await link(page).click()
  await expect(frame.getByLabel('E-mail')).toHaveValue('')
})

test('a link that the page draws anew hears of the payment, and gets the focus', async ({ page, context }) => {
  await listen(context)
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  await page.evaluate(() => {
    const old = document.querySelector('a')!
    const next = old.cloneNode(true)
    next.addEventListener('till:paid', () => Object.assign(self, { isHeardByLink: true }))
    old.replaceWith(next)
  })
  await order(frame)
  await payByCard(frame)
  await expectPaidIn(frame)
  await expect.poll(() => page.evaluate(() => 'isHeardByLink' in self)).toBe(true)
  await page.getByRole('button', { name: 'Close the checkout' }).click()
  await expect(dialogIn(page)).toHaveCount(0)
  await expect(link(page)).toBeFocused()
  const events = (await heardBy(page)).filter(({ event }) => event).map(({ event }) => event)
  expect(events).toEqual(['ready', 'paid', 'closed'])
})

test('a page without its link hears of the payment all the same', async ({ page, context }) => {
  await listen(context)
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  await page.evaluate(() => document.querySelector('a')!.remove())
  await order(frame)
  await payByCard(frame)
  await expectPaidIn(frame)
  await page.getByRole('button', { name: 'Close the checkout' }).click()
  await expect(dialogIn(page)).toHaveCount(0)
  const events = (await heardBy(page)).filter(({ event }) => event).map(({ event }) => event)
  expect(events).toEqual(['ready', 'paid', 'closed'])
})

test('a page that puts another body in the place of the overlay’s can be scrolled, and leads no buyer away', async ({
  page,
  context,
}) => {
  site.show('/', buyLink())
  await context.route('**/pay/**', () => {})
  await page.goto(`${site.origin}/`)
  await link(page).click()
  await expect(dialogIn(page)).toBeVisible()
  await page.evaluate(() => {
    const next = document.createElement('body')
    next.append(document.querySelector('main')!.cloneNode(true))
    document.body.replaceWith(next)
  })
  const overflow = () => page.evaluate(() => document.documentElement.style.overflow)
  await expect(dialogIn(page)).toHaveCount(0)
  expect(await overflow()).toBe('')
  await giveUp(page)
  await context.unroute('**/pay/**')
  await link(page).click()
  await expect(frameIn(page).getByLabel('E-mail')).toBeVisible()
  await expect(page).toHaveURL(`${site.origin}/`)
  await page.getByRole('button', { name: 'Close the checkout' }).click()
  await expect(dialogIn(page)).toHaveCount(0)
  expect(await overflow()).toBe('')
})

test('another language in the middle of a payment keeps the order, which is paid once', async ({ page }) => {
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  const orders: string[] = []
  page.on('request', (request) => request.url().endsWith('/api/checkout') && orders.push(request.url()))
  const email = await order(frame)
  // the payment is made, and its answer is lost
  const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>()
  await page.route('**/api/sandbox/confirm', async (route) => {
    await route.fetch()
    confirm()
  })
  const made = page.waitForResponse('**/api/checkout')
  await payByCard(frame)
  const { orderId } = (await (await made).json()) as { orderId: string }
  await confirmed
  await expect.poll(async () => (await statusOf(page, orderId, email)).status).toBe('paid')
  await frame.locator('.language select').selectOption('de')
  await expect(frame.getByText(de.ui.paid).first()).toBeVisible()
  await expect(frame.locator('form button[type=submit]')).toHaveCount(0)
  expect(orders).toHaveLength(1)
})

test('a frame whose page cannot be loaded again can be closed', async ({ page, context }) => {
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  await context.route('**/pay/**', (route) => route.abort())
  await frame.locator('.language select').selectOption('de')
  await expect(frame.locator('.language select')).toHaveCount(0)
  await page.getByRole('button', { name: 'Close the checkout' }).click()
  await missAnswer(page)
  await expect(dialogIn(page)).toHaveCount(0)
  await expect(link(page)).toBeFocused()
})

test('a strict policy, trusted types and a checked hash: nothing is refused', async ({ page }) => {
  const bytes = await (await fetch(`${BASE_URL}/till.js`)).arrayBuffer()
  const integrity = `sha384-${Buffer.from(await crypto.subtle.digest('SHA-384', bytes)).toString('base64')}`
  site.show(
    '/',
    `<p><a href="${DEMO_URL}" data-till>Buy the book</a></p><script async src="${BASE_URL}/till.js" integrity="${integrity}" crossorigin="anonymous"></script>`,
    { 'content-security-policy': STRICT },
  )
  const frame = await openOverlay(page)
  await order(frame)
  await payByCard(frame)
  await expectPaidIn(frame)
})

for (const policy of ['require-corp', 'credentialless'])
  test(`a site that isolates itself (COEP ${policy}) shows the checkout all the same`, async ({ page }) => {
    site.show('/', buyLink(), {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': policy,
    })
    const frame = await openOverlay(page)
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true)
    await order(frame)
    await payByCard(frame)
    await expectPaidIn(frame)
  })

test('a browser that gives frames of other sites no cookies, storage and locks pays in the frame', async ({
  playwright,
  watch,
}, testInfo) => {
  const { args = [], ...options } = testInfo.project.use.launchOptions ?? {}
  const browser = await playwright.chromium.launch({
    ...options,
    args: [...args, '--test-third-party-cookie-phaseout'],
  })
  const context = await browser.newContext()
  await waitForEver(context)
  // a browser does this when its settings block the data of other sites
  await context.addInitScript(() => {
    if (self === top) return
    const refuse = (): never => {
      throw new DOMException('The operation is insecure.', 'SecurityError')
    }
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches'])
      Object.defineProperty(self, name, { get: refuse })
    Object.defineProperty(document, 'cookie', { get: refuse, set: refuse })
    LockManager.prototype.request = LockManager.prototype.query = () =>
      Promise.reject(new DOMException('', 'SecurityError'))
  })
  watch.follow(context)
  const page = await context.newPage()
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  await order(frame)
  await payByCard(frame)
  await expectPaidIn(frame)
  await browser.close()
})

test('the frame stores nothing, also where it could', async ({ page }) => {
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  await order(frame)
  await payByCard(frame)
  await expectPaidIn(frame)
  const stored = await frame
    .locator('body')
    .evaluate(() => [localStorage.length, sessionStorage.length, document.cookie])
  expect(stored).toEqual([0, 0, ''])
})

test('messages from anybody else mean nothing', async ({ page, context }) => {
  await listen(context)
  site.show(
    '/evil',
    `<script>
    for (const till of ['ready', 'paid', 'closed']) parent.postMessage({ till, orderId: 'ord_forged' }, '*')
    for (const frame of [parent, ...Array.from({ length: parent.length }, (_, n) => parent[n])]) frame.postMessage({ till: 'close' }, '*')
    parent.postMessage('done', '*')
  </script>`,
  )
  site.show('/', buyLink())
  const frame = await openOverlay(page)
  // the attacker's frame has another origin than the checkout, and its parent is the site
  const attack = (origin: string) =>
    page.evaluate((address) => {
      const evil = document.createElement('iframe')
      evil.src = address
      const done = new Promise<void>((resolve) =>
        addEventListener('message', ({ data }) => data === 'done' && resolve()),
      )
      document.body.append(evil)
      return done
    }, `${origin}/evil`)
  await attack(site.origin)
  await page.evaluate(() => {
    for (const till of ['ready', 'paid', 'closed']) postMessage({ till, orderId: 'ord_forged' }, '*')
    document.querySelector('a')!.dispatchEvent(new MessageEvent('message', { data: { till: 'closed' } }))
  })
  await order(frame)
  await expect(dialogIn(page)).toBeVisible()
  const heard = await heardBy(page)
  expect(heard.filter(({ event }) => event)).toEqual([{ event: 'ready' }])
})

test('a site that is not on the list gets no frame: the same address opens in the whole window', async ({
  browser,
  watch,
}) => {
  const stranger = await startOtherSite()
  watch.allow(stranger.origin)
  watch.expect(REFUSED_FRAME)
  const context = await browser.newContext()
  await waitForEver(context)
  const page = await context.newPage()
  stranger.show('/', buyLink({ more: '&clientReferenceId=cart-7' }))
  await page.goto(`${stranger.origin}/`)
  const refusal = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()))
  await link(page).click()
  await refusal
  await giveUp(page)
  await expect(page).toHaveURL(`${DEMO_URL}&clientReferenceId=cart-7`)
  await expect(page.getByLabel('E-mail')).toBeVisible()
  await context.close()
  await stranger.close()
})

test('a site whose policy forbids the frame leads to the whole window at once', async ({ browser, watch }) => {
  watch.expect(/^Framing '.*"default-src 'none'"|^policy: frame-src /)
  const context = await browser.newContext()
  const page = await context.newPage()
  site.show('/', buyLink(), { 'content-security-policy': `default-src 'none'; script-src ${BASE_URL}` })
  await waitForEver(context)
  await page.goto(`${site.origin}/`)
  await link(page).click()
  await expect(page).toHaveURL(DEMO_URL)
  await context.close()
})

test('a picture that the site’s policy forbids does not end the frame', async ({ browser, watch }) => {
  watch.expect(/^Loading the image '.*"img-src 'none'"|^policy: img-src /)
  const context = await browser.newContext()
  await waitForEver(context)
  const page = await context.newPage()
  site.show('/', buyLink(), { 'content-security-policy': `${STRICT}; img-src 'none'` })
  await page.goto(`${site.origin}/`)
  await page.evaluate((base) => {
    const refused = new Promise((resolve) => addEventListener('securitypolicyviolation', resolve))
    Object.assign(self, { refused })
    document.querySelector('a')!.addEventListener('click', () => void (new Image().src = `${base}/favicon.svg`))
  }, BASE_URL)
  await link(page).click()
  await page.evaluate(async () => void (await (self as unknown as { refused: Promise<Event> }).refused))
  await order(frameIn(page))
  await expect(page).toHaveURL(`${site.origin}/`)
  await context.close()
})

test('a damaged link of an order leads to the order’s page in the whole window', async ({ page }) => {
  const made = await page.request.post(`${BASE_URL}/api/checkout`, {
    data: { productId: new URL(DEMO_URL).searchParams.get('product'), email: newEmail() },
  })
  const { payUrl, orderId } = (await made.json()) as { payUrl: string; orderId: string }
  site.show('/', buyLink({ url: payUrl.slice(0, -4) }))
  await page.goto(`${site.origin}/`)
  await link(page).click()
  await expect(page).toHaveURL(`${BASE_URL}/order/?order=${orderId}`)
  await expect(page.getByLabel('E-mail')).toBeVisible()
})

test('without scripts, and for a new tab, the link is a link', async ({ browser, page }) => {
  const plain = await browser.newContext({ javaScriptEnabled: false })
  const bare = await plain.newPage()
  site.show('/', buyLink())
  await bare.goto(`${site.origin}/`)
  await link(bare).click()
  await expect(bare).toHaveURL(DEMO_URL)
  await plain.close()

  await page.goto(`${site.origin}/`)
  const isLeft = page.evaluate(
    () =>
      new Promise<boolean>((resolve) =>
        addEventListener('click', (event) => {
          resolve(!event.defaultPrevented)
          event.preventDefault()
        }),
      ),
  )
  await link(page).click({ modifiers: ['ControlOrMeta'] })
  expect(await isLeft).toBe(true)
  await expect(dialogIn(page)).toHaveCount(0)
})

test('where the site is itself in a frame, the link opens in the whole window', async ({ page }) => {
  site.show('/outer', '<iframe src="/" title="The shop"></iframe>')
  for (const attributes of ['data-till', 'data-till target="_self"', 'data-till="inline"']) {
    site.show('/', buyLink({ attributes }))
    await page.goto(`${site.origin}/outer`)
    const inner = page.frameLocator('iframe')
    await inner.getByRole('link', { name: 'Buy the book' }).click()
    await expect(page).toHaveURL(DEMO_URL)
    await expect(page.getByLabel('E-mail')).toBeVisible()
  }
})

test('a link with a target of its own opens there', async ({ page, context }) => {
  site.show('/', buyLink({ attributes: 'data-till target="_blank"' }))
  await page.goto(`${site.origin}/`)
  const opened = context.waitForEvent('page')
  await link(page).click()
  await expect(await opened).toHaveURL(DEMO_URL)
  await expect(dialogIn(page)).toHaveCount(0)
})

test('inline the checkout stands in the page at its own height, and sells', async ({ page, context }) => {
  await listen(context)
  site.show('/', buyLink({ attributes: 'data-till="inline"' }))
  await page.goto(`${site.origin}/`)
  const frame = frameIn(page)
  await expect(frame.getByLabel('E-mail')).toBeVisible()
  await expect(link(page)).toBeHidden()
  const difference = async () => {
    const [outer, inner] = await Promise.all([
      page.locator('iframe').evaluate((element) => element.clientHeight),
      frame.locator('html').evaluate((element) => element.scrollHeight),
    ])
    return Math.abs(outer - inner)
  }
  await expect.poll(difference).toBeLessThanOrEqual(1)
  await expectFits(page, 'the site')
  await order(frame)
  await payByCard(frame)
  await expectPaidIn(frame)
  await expect.poll(difference).toBeLessThanOrEqual(1)
  expect((await heardBy(page)).filter(({ event }) => event).map(({ event }) => event)).toEqual(['ready', 'paid'])
})

test('inline, a press before the frame is there opens no second checkout', async ({ page, context }) => {
  site.show('/', buyLink({ attributes: 'data-till="inline"' }))
  let arrive = () => {}
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  await context.route('**/pay/**', async (route) => {
    await arrived
    await route.continue()
  })
  // the frame is a part of what the page loads
  await page.goto(`${site.origin}/`, { waitUntil: 'commit' })
  await expect(link(page)).toHaveAttribute('data-till', 'shown')
  await link(page).click()
  await expect(dialogIn(page)).toHaveCount(0)
  arrive()
  await expect(frameIn(page).getByLabel('E-mail')).toBeVisible()
  await expect(page.locator('iframe')).toHaveCount(1)
  await expect(page).toHaveURL(`${site.origin}/`)
})

test('inline, a link that the page adds later opens in its place when it is pressed', async ({ page }) => {
  site.show('/', buyLink({ attributes: '' }))
  await page.goto(`${site.origin}/`)
  await link(page).evaluate((element) => (element.dataset['till'] = 'inline'))
  await link(page).click()
  await expect(frameIn(page).getByLabel('E-mail')).toBeVisible()
  await expect(link(page)).toBeHidden()
  await expect(page.locator('iframe')).toBeFocused()
  await expect(dialogIn(page)).toHaveCount(0)
  await expect(page).toHaveURL(`${site.origin}/`)
})

test('inline, a pressed link whose frame does not come opens in the whole window', async ({ page, context }) => {
  site.show('/', buyLink({ attributes: '' }))
  await page.goto(`${site.origin}/`)
  await link(page).evaluate((element) => (element.dataset['till'] = 'inline'))
  await context.route('**/pay/*embed=1*', () => {})
  await link(page).click()
  await giveUp(page)
  await expect(page).toHaveURL(DEMO_URL)
  await expect(page.getByLabel('E-mail')).toBeVisible()
})

test('inline, a page that is prepared before its visit waits for the visit', async ({ page, context }) => {
  await context.addInitScript(() => {
    if (self !== top) return
    Object.defineProperty(document, 'prerendering', { get: () => !('isVisited' in self) })
  })
  site.show('/', buyLink({ attributes: 'data-till="inline"' }))
  await page.goto(`${site.origin}/`)
  await expect(page.locator('iframe')).toHaveCount(0)
  expect(await page.evaluate(() => 'giveUp' in self)).toBe(false)
  await page.evaluate(() => {
    Object.assign(self, { isVisited: true })
    document.dispatchEvent(new Event('prerenderingchange'))
  })
  await expect(frameIn(page).getByLabel('E-mail')).toBeVisible()
  await expect(link(page)).toBeHidden()
})

test('inline, where no frame is possible, the link stays, and the page leads the buyer away only when asked', async ({
  browser,
  watch,
}) => {
  const stranger = await startOtherSite()
  watch.allow(stranger.origin)
  watch.expect(REFUSED_FRAME)
  const context = await browser.newContext()
  await waitForEver(context)
  const page = await context.newPage()
  stranger.show('/', buyLink({ attributes: 'data-till="inline"' }))
  await page.goto(`${stranger.origin}/`)
  await expect.poll(() => page.evaluate(() => 'giveUp' in self)).toBe(true)
  await giveUp(page)
  await expect(page.locator('iframe')).toHaveCount(0)
  await link(page).click()
  await expect(page).toHaveURL(DEMO_URL)
  await context.close()
  await stranger.close()
})

test('what the document says to copy works as written', async ({ page, context }) => {
  const text = await readFile(path.join(import.meta.dirname, '../../docs/embed.md'), 'utf8')
  const here = text
    .replaceAll('http://127.0.0.1:4000', BASE_URL)
    .replaceAll(`${BASE_URL}/pay/?product=prod_…`, DEMO_URL)
  const [snippet, listener, pinned] = [...here.matchAll(/^```html\n([\s\S]*?)^```$/gm)].map(([, html]) => html!)
  const [policy] = [...here.matchAll(/^```\n(script-src .*)$/gm)].map(([, line]) => line!)
  const [link, script] = snippet!.split('\n')
  await listen(context)
  for (const loaded of [script, pinned]) {
    site.show('/', link! + loaded! + listener!, {
      'content-security-policy': `${policy!.replace('script-src', "script-src 'unsafe-inline'")}`,
    })
    await page.goto(`${site.origin}/`)
    await page.getByRole('link', { name: 'Buy it for $19.00' }).click()
    const frame = frameIn(page)
    await expect(frame.getByLabel('E-mail')).toBeVisible()
    await order(frame)
    await payByCard(frame)
    await expectPaidIn(frame)
    await expect(page.getByText(/Thank you! Your order is ord_/)).toBeAttached()
  }
})
