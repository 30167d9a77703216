import type { Page } from '@playwright/test'
import { RAILS } from './buyer.ts'
import { expect, test } from './fixtures.ts'
import { processorNames } from './processor-names.ts'

/** Everything a visitor's browser gets or makes of the page: addresses, headers, bodies, and the page as it stands. */
async function everythingOf(page: Page, open: () => Promise<unknown>): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const pending: Promise<void>[] = []
  page.on('response', (response) => {
    pending.push(
      (async () => {
        const body = await response.body().catch(() => Buffer.from(''))
        found.set(`address ${response.url()}`, response.url())
        found.set(
          `headers ${response.url()}`,
          JSON.stringify([await response.allHeaders(), await response.request().allHeaders()]),
        )
        found.set(`body ${response.url()}`, body.toString('latin1'))
      })(),
    )
  })
  await open()
  await page.waitForLoadState('networkidle')
  await Promise.all(pending)
  found.set('page', await page.evaluate(() => document.documentElement.outerHTML))
  found.set('text', await page.evaluate(() => document.body.innerText))
  found.set('kept', await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie])))
  return found
}

const named = (found: Map<string, string>): string[] =>
  [...found].flatMap(([where, text]) => processorNames(text).map((name) => `${name} in ${where}`))

test('no payment processor is named on the pricing page: text, attributes, scripts, styles, requests, headers', async ({
  page,
}) => {
  const found = await everythingOf(page, () => page.goto('/pricing/'))
  expect([...found.keys()].filter((where) => /^body .*\.(js|css)$/.test(where)).length).toBeGreaterThan(1)
  expect(named(found)).toEqual([])
})

for (const [where, tamper] of [
  ['the text', (html: string) => html.replace('</h1>', ' with Razorpay</h1>')],
  ['an attribute', (html: string) => html.replace('<main', '<main data-by="paypal"')],
  ['a comment', (html: string) => html.replace('</main>', '<!-- js.stripe.com --></main>')],
  ['a picture’s words', (html: string) => html.replace('</main>', '<img alt="Adyen" src="/favicon.svg"></main>')],
] as const) {
  test(`the guard notices a name put into ${where}`, async ({ page }) => {
    await page.route('**/pricing/', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: tamper(await response.text()) })
    })
    expect(named(await everythingOf(page, () => page.goto('/pricing/')))).not.toEqual([])
  })
}

test('the guard notices a name in a script, a style and a header', async ({ page }) => {
  await page.route(/\/pricing\/$|\.(js|css)$/, async (route) => {
    const response = await route.fetch()
    const address = route.request().url()
    if (address.endsWith('.js'))
      await route.fulfill({ response, body: `${await response.text()}\n// mountKlarnaButton` })
    else if (address.endsWith('.css'))
      await route.fulfill({ response, body: `${await response.text()}\n.mollie-button{}` })
    else await route.fulfill({ response, headers: { ...response.headers(), 'x-upstream': 'braintree' } })
  })
  const names = new Set(named(await everythingOf(page, () => page.goto('/pricing/'))).map((line) => line.split(' ')[0]))
  expect([...names].sort()).toEqual(['braintree', 'klarna', 'mollie'])
})

test('the guard takes words for words', () => {
  expect(processorNames('otherwise striped paddles, a squared affirmation')).toEqual([])
  const found = processorNames('useStripeElements STRIPE_KEY x-razorpay-signature Lemon Squeezy')
  expect(found.sort()).toEqual(['lemon squeezy', 'razorpay', 'stripe'])
})

test('2 % on each of the seven rails, and nothing else', async ({ page }) => {
  await page.goto('/pricing/')
  for (const rail of RAILS) {
    await expect(page.getByRole('row', { name: new RegExp(`^${rail}`) }).getByRole('cell')).toHaveText(/^2\s?%$/)
  }
  await expect(page.getByRole('row')).toHaveCount(RAILS.length + 1)
})

test('the calculator shows what a sale leaves, to the last unit of its currency', async ({ page }) => {
  await page.goto('/pricing/')
  const result = page.locator('output')
  for (const [currency, price, fee, rest] of [
    ['INR', '499.00', '−₹9.98', '₹489.02'],
    ['INR', '1,23,456', '−₹2,469.12', '₹120,986.88'],
    // half to even: 0.5 cents is none, 1.5 cents are two
    ['USD', '0.25', '−$0.00', '$0.25'],
    ['USD', '0.75', '−$0.02', '$0.73'],
    ['JPY', '1500', '−¥30', '¥1,470'],
    ['KWD', '1.005', '−KWD 0.020', 'KWD 0.985'],
  ] as const) {
    await page.getByLabel('Currency').selectOption(currency)
    await page.getByLabel('Price').fill(price)
    await expect(result).toContainText(fee)
    await expect(result).toContainText(rest)
  }
  await page.getByLabel('Price').fill('12.3456')
  await expect(page.getByLabel('Price')).toHaveAccessibleDescription(/amount/)
})
