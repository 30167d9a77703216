import { type BrowserContext, type Locator, type Page, test as base, expect } from '@playwright/test'
import axe from 'axe-core'

export { expect }
export const BASE_URL = process.env.BASE_URL!
export const DEMO_URL = process.env.DEMO_URL!
export const PRODUCT_ID = new URL(DEMO_URL).searchParams.get('product')!

/**
 * One pixel is drawn for each CSS pixel, not four as on a phone's screen. Drawing four took a third of a test's time.
 */
export const SIZES = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 900 } },
}

/**
 * Chromium logs a line for every answer that is not a success. Tests that provoke such answers look at the page
 * instead. The frame that shows a mail runs no scripts, so it also refuses the script below.
 */
const EXPECTED = /^Failed to load resource|net::ERR_INTERNET_DISCONNECTED|^Blocked script execution in 'about:srcdoc'/

interface Watch {
  /** Other origins that this test is meant to call. */
  allow: (origin: string) => void
  /** A console error or a breach of a policy that this test provokes. */
  expect: (message: RegExp) => void
  /** Checks a context of another browser too. */
  follow: (context: BrowserContext) => void
}

/**
 * Checks every page of every test: no console error, no breach of its security policy, no request to another origin. The pages of
 * contexts that a test opens itself are checked too.
 */
export const test = base.extend<{ watch: Watch }>({
  baseURL: BASE_URL,
  watch: [
    async ({ browser, context }, use) => {
      const faults: string[] = []
      const allowed = new Set([new URL(BASE_URL).origin])
      const expected = [EXPECTED]
      const follow = (one: BrowserContext) => watchContext(one, { faults, allowed, expected })
      follow(context)
      const contexts = [context]
      const { newContext } = browser
      browser.newContext = async (options) => {
        const made = await newContext.call(browser, options)
        follow(made)
        contexts.push(made)
        return made
      }
      await use({
        allow: (origin) => void allowed.add(origin),
        expect: (message) => void expected.push(message),
        follow,
      })
      browser.newContext = newContext
      // a page that asks at this moment has a handler under way, which would fail when the page goes
      for (const open of contexts.filter((one) => browser.contexts().includes(one)))
        for (const one of [open, ...open.pages()]) await one.unrouteAll({ behavior: 'ignoreErrors' })
      expect(faults).toEqual([])
    },
    { auto: true },
  ],
})

interface Rules {
  faults: string[]
  allowed: Set<string>
  expected: RegExp[]
}

function watchContext(context: BrowserContext, { faults, allowed, expected }: Rules): void {
  void context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`)
    })
  })
  context.on('console', (message) => {
    if (message.type() === 'error' && !expected.some((one) => one.test(message.text()))) faults.push(message.text())
  })
  context.on('weberror', (error) => faults.push(String(error.error())))
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (/^https?:$/.test(url.protocol) && !allowed.has(url.origin)) faults.push(`asked another origin: ${url.href}`)
  })
}

/**
 * axe finds nothing, in the light and the dark theme. In the dark only the colours are checked, because all else is the
 * same.
 */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  expect(await axeFinds(page), what).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await axeFinds(page, ['color-contrast', 'link-in-text-block']), `${what}, in the dark`).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
}

async function axeFinds(page: Page, rules?: string[]): Promise<string[]> {
  // Text that still fades in has too little contrast.
  await page.evaluate(() => {
    for (const one of document.getAnimations()) if (one.effect?.getComputedTiming().endTime !== Infinity) one.finish()
  })
  const { violations } = await page.evaluate((options) => (window as unknown as { axe: typeof axe }).axe.run(options), {
    // The HTML of a mail is in a frame that runs no scripts, also not those of axe.
    iframes: false,
    resultTypes: ['violations'],
    ...(rules && { runOnly: rules }),
  } satisfies axe.RunOptions)
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
  )
}

/**
 * Axe finds nothing, and nothing is too wide, at the widths of a phone and of a desktop. A test that looks at every state in this way
 * needs to run only once. A page that decides something when it loads keeps that for both widths.
 */
export async function expectFine(page: Page, what: string): Promise<void> {
  const usual = page.viewportSize()!
  for (const [name, { viewport }] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport)
    await expectFits(page, `${what}, ${name}`)
    await expectAccessible(page, `${what}, ${name}`)
  }
  await page.setViewportSize(usual)
}

/** From now on only the test moves the clock of the pages. After `clock.install()` it also moves with the real time. */
export const holdClock = ({ clock }: Page | BrowserContext) => clock.pauseAt(Date.now() + 60_000)

/** Presses Tab until `goal` has the focus. */
export async function tabTo(page: Page, goal: Locator): Promise<void> {
  await expect(goal).toBeVisible()
  for (let count = 0; count < 80; count++) {
    if (await goal.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  await expect(goal).toBeFocused()
}

/** Nothing is wider than the screen. On a phone that is the first thing that looks broken. */
export async function expectFits(page: Page, what: string): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  expect(overflow, `${what}: pixels too wide`).toBeLessThanOrEqual(0)
}
