import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { newEmail } from './buyer.ts'
import { BASE_URL, PRODUCT_ID, expect, holdClock, test as base } from './fixtures.ts'
import { startOtherSite } from './other-site.ts'

// The static page of docs/integrate.md, on a seller's own site.

const GUIDE = path.resolve(import.meta.dirname, '../../docs/integrate.md')

const test = base.extend<{ address: string }>({
  /** Where the page is. */
  address: async ({ watch }, use) => {
    const [, html = ''] = /From a static page[\s\S]*?```html\n([\s\S]*?)```/.exec(await readFile(GUIDE, 'utf8')) ?? []
    const site = await startOtherSite()
    site.showWhole('/', html.replaceAll('http://127.0.0.1:4000', BASE_URL).replace('prod_…', PRODUCT_ID))
    watch.allow(site.origin)
    await use(`${site.origin}/`)
    await site.close()
  },
})

async function buy(page: Page): Promise<void> {
  await page.getByLabel('Your e-mail address').fill(newEmail())
  await page.getByRole('button', { name: 'Buy' }).click()
}

async function expectFiles(page: Page): Promise<void> {
  await expect(page.getByRole('status')).toHaveText('Thank you! Your files:')
  await expect(page.getByRole('listitem').getByRole('link').first()).toBeVisible()
}

test('the static page of the guide shows the files where storage is forbidden and the answer of the bank is lost', async ({
  page,
  address,
}) => {
  await page.addInitScript(() =>
    Object.defineProperty(window, 'sessionStorage', {
      get() {
        throw new DOMException('Access is denied for this document.', 'SecurityError')
      },
    }),
  )
  await page.route('**/api/sandbox/confirm', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await page.goto(address)
  await buy(page)
  await expectFiles(page)
})

test('the static page of the guide says why a payment failed, and keeps the files of the order that was paid after it', async ({
  page,
  address,
}) => {
  let isDeclined = true
  await page.route('**/api/sandbox/confirm', (route) =>
    isDeclined
      ? route.fulfill({
          status: 402,
          contentType: 'application/problem+json',
          body: '{"detail":"The bank said no."}',
        })
      : route.continue(),
  )
  await page.clock.install()
  await page.goto(address)
  await holdClock(page)
  const said = page.getByRole('status')
  await buy(page)
  await expect(said).toHaveText('The bank said no. The order is pending.')
  isDeclined = false
  await buy(page)
  await expectFiles(page)
  // the first order is looked at once more, and its answer changes nothing
  const looked = page.waitForResponse(/status/)
  await page.clock.runFor(60_000)
  await (await looked).finished()
  await page.evaluate(() => fetch(location.href).then((response) => response.text()))
  await expectFiles(page)
})

test('the static page of the guide shows the files also after a request for the status was lost', async ({
  page,
  address,
}) => {
  // the first answer says that a bank is at work, the second one is lost, and a proxy answers instead of the third
  let looks = 0
  await page.route('**/api/checkout/*/status?*', async (route) => {
    looks++
    if (looks === 2) return route.abort()
    if (looks === 3) return route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' })
    if (looks > 3) return route.continue()
    const response = await route.fetch()
    const json = { ...(await response.json()), paid: false, status: 'processing', downloads: [], nextPollMs: 3000 }
    return route.fulfill({ response, json })
  })
  await page.clock.install()
  await page.goto(address)
  await expect(page.getByRole('heading', { name: /\d/ })).toBeVisible()
  await holdClock(page)
  await buy(page)
  const said = page.getByRole('status')
  await expect(said).toHaveText('The order is processing.')
  await page.clock.runFor(3000)
  await expect(said).toHaveText('We could not read your order (Failed to fetch). We look again in a moment …')
  await page.clock.runFor(5000)
  await expect(said).toHaveText(/We could not read your order \(.*JSON.*\). We look again in a moment …/)
  await expect(async () => {
    await page.clock.runFor(5000)
    await expect(said).toHaveText('Thank you! Your files:', { timeout: 2000 })
  }).toPass()
  await expect(page.getByRole('listitem').getByRole('link').first()).toBeVisible()
})
