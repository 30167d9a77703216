import type { Page, Route } from '@playwright/test'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DIST, builtFilesOf } from './built-files.ts'
import { RAILS } from './buyer.ts'
import { expect, test } from './fixtures.ts'
import { NAMES, WORDS, processorNames } from './processor-names.ts'

/** Everything a visitor's browser requests, receives or renders: addresses, headers, bodies, and the page itself. */
async function everythingOf(page: Page, open: () => Promise<unknown>): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const pending: Promise<void>[] = []
  // Also requests without an answer.
  page.on('request', (request) => found.set(`request ${request.url()}`, `${request.url()} ${request.postData() ?? ''}`))
  page.on('response', (response) => {
    pending.push(
      (async () => {
        const body = await response.body().catch(() => Buffer.from(''))
        found.set(`request headers ${response.url()}`, JSON.stringify(await response.request().allHeaders()))
        found.set(`response headers ${response.url()}`, JSON.stringify(await response.headersArray()))
        found.set(`body ${response.url()}`, body.toString('latin1'))
      })(),
    )
  })
  await open()
  await page.waitForLoadState('networkidle')
  // Content that appears only when the visitor uses the page.
  for (const currency of ['USD', 'KWD']) await page.getByLabel('Currency').selectOption(currency)
  await page.getByLabel('Price').fill('x')
  for (const link of await page.locator('main a, main button, summary').all()) await link.hover()
  await page.waitForLoadState('networkidle')
  await Promise.all(pending)
  found.set('attributes and elements', await page.evaluate(() => document.documentElement.outerHTML))
  found.set(
    'text',
    await page.evaluate(() => `${document.title} ${document.body.textContent} ${document.body.innerText}`),
  )
  found.set('kept', await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie])))
  return found
}

const named = (found: Map<string, string>): string[] =>
  [...found].flatMap(([where, text]) => processorNames(`${where} ${text}`).map((name) => `${name} in ${where}`))

test('no payment processor is named on the pricing page: text, attributes, scripts, styles, requests, headers', async ({
  page,
}) => {
  const found = await everythingOf(page, () => page.goto('/pricing/'))
  for (const kind of [/^body .*\.js$/, /^body .*\.css$/, /^body .*\/pricing\/$/, /^response headers .*\/pricing\/$/])
    expect([...found].filter(([where, text]) => kind.test(where) && text.length > 100)).not.toEqual([])
  expect(named(found)).toEqual([])
})

test('nor in the built files that it loads, or that these could ever load, nor in their source maps', async ({
  page,
}) => {
  const built = await builtFilesOf('pricing/index.html')
  expect(named(built)).toEqual([])
  const found = await everythingOf(page, () => page.goto('/pricing/'))
  const loaded = [...found.keys()].flatMap((where) => /^body .*(assets\/.+)$/.exec(where)?.[1] ?? [])
  expect(loaded.length).toBeGreaterThan(2)
  for (const file of loaded) expect([...built.keys()]).toContain(file)
  for (const file of loaded) expect((await page.request.get(`/${file}.map`)).status(), `${file}.map`).toBe(404)
})

test('forty names and more are looked for', () => {
  const all = [...NAMES, ...WORDS]
  expect(new Set(all).size).toBeGreaterThan(60)
  for (const one of all) {
    const plain = one.replaceAll(/\(\?[^)]*\)+|[?\\]/g, '')
    expect(processorNames(`we pay with ${plain}.`), plain).not.toEqual([])
    expect(processorNames(`<script src="https://js.${plain}/v3">`.toUpperCase()), plain).not.toEqual([])
  }
})

test('the guard takes words for words, and hosts for names', () => {
  const innocent =
    'otherwise striped paddles, pinstripes; a squared affirmation, payUpi, readyEnd, Promise.all, gateway'
  expect(processorNames(innocent)).toEqual([])
  const found = processorNames(
    'useStripeElements STRIPE_KEY stripecdn.com x-razorpay-signature Lemon Squeezy razorpaycheckout',
  )
  expect(found.sort()).toEqual(['lemon squeezy', 'razorpay', 'stripe'])
  expect(processorNames('www.paypalobjects.com useSquareForm')).toEqual(['paypal', 'square'])
})

/** Inserts a text into an answer of the page, or of a file that it loads. */
const withBody = (tamper: (text: string) => string) => async (route: Route) => {
  const response = await route.fetch()
  await route.fulfill({ response, body: tamper(await response.text()) })
}
const html = (from: string, to: string) => withBody((text) => text.replace(from, to))

for (const [where, pattern, tamper, expected] of [
  ['the text', /\/pricing\/$/, html('</h1>', ' with Razorpay</h1>'), /^razorpay in text$/],
  ['a text that is not shown', /\/pricing\/$/, html('</main>', '<p hidden>Paystack</p></main>'), /^paystack in text$/],
  ['a text that hides its letters', /\/pricing\/$/, html('</h1>', ' by Ady&#101;n</h1>'), /^adyen in text$/],
  ['the title', /\/pricing\/$/, html('<title>', '<title>Klarna '), /^klarna in text$/],
  ['an attribute', /\/pricing\/$/, html('<main', '<main data-by="paypal"'), /^paypal in attributes/],
  ['a class', /\/pricing\/$/, html('<main class="', '<main class="StripeElement '), /^stripe in attributes/],
  ['a comment', /\/pricing\/$/, html('</main>', '<!-- js.stripe.com --></main>'), /^stripe in attributes/],
  [
    'a picture’s words',
    /\/pricing\/$/,
    html('</main>', '<img alt="Adyen" src="/favicon.svg"></main>'),
    /^adyen in attr/,
  ],
  [
    'the page’s data',
    /\/pricing\/$/,
    html('"mode":', '"processor":"razorpay","mode":'),
    /^razorpay in body .*\/pricing\/$/,
  ],
  ['a script', /\.js$/, withBody((text) => `${text}\n// mountKlarnaButton`), /^klarna in body .*\.js$/],
  ['a style', /\.css$/, withBody((text) => `${text}\n.mollie-button{}`), /^mollie in body .*\.css$/],
  [
    'what a style shows',
    /\.css$/,
    withBody((text) => `${text}\nh1::after{content:"by Worldpay"}`),
    /^worldpay in body .*\.css$/,
  ],
  [
    'a request',
    /\/pricing\/$/,
    html('</main>', '<img alt="" src="/assets/phonepe.png"></main>'),
    /^phonepe in request /,
  ],
  [
    'a header',
    /\/pricing\/$/,
    async (route: Route) => {
      const response = await route.fetch()
      await route.fulfill({ response, headers: { ...response.headers(), 'x-upstream': 'braintree' } })
    },
    /^braintree in response headers /,
  ],
  [
    'the policy',
    /\/pricing\/$/,
    async (route: Route) => {
      const response = await route.fetch()
      const { 'content-security-policy': policy, ...headers } = response.headers()
      await route.fulfill({
        response,
        headers: { ...headers, 'content-security-policy': `${policy}; frame-src https://js.stripe.com` },
      })
    },
    /^stripe in response headers /,
  ],
] as const) {
  test(`the guard notices a name put into ${where}`, async ({ page }) => {
    await page.route(pattern, tamper)
    const found = named(await everythingOf(page, () => page.goto('/pricing/')))
    expect(
      found.filter((line) => expected.test(line)),
      found.join('\n'),
    ).not.toEqual([])
  })
}

for (const [where, plant] of [
  ['the built page', async (folder) => append(folder, 'pricing/index.html', '<!-- paypal -->')],
  ['a script it loads', async (folder) => append(folder, await first(folder, '.js'), '\n// paypal')],
  ['a style it loads', async (folder) => append(folder, await first(folder, '.css'), '\n.paypal{}')],
  [
    'a chunk that is loaded later, by one that is loaded later',
    async (folder) => {
      await append(folder, await first(folder, '.js'), '\n;()=>import("./later-x1.js")')
      await writeFile(path.join(folder, 'assets/later-x1.js'), 'export const more=()=>import("./form-x2.js")')
      await writeFile(path.join(folder, 'assets/form-x2.js'), 'load("https://www.paypalobjects.com/api")')
    },
  ],
  [
    'the name of a chunk',
    async (folder) => {
      await append(folder, await first(folder, '.js'), '\n;()=>import("./paypal-x1.js")')
      await writeFile(path.join(folder, 'assets/paypal-x1.js'), 'export {}')
    },
  ],
  [
    'a source map beside a script',
    async (folder) => writeFile(path.join(folder, `${await first(folder, '.js')}.map`), '{"sources":["paypal.ts"]}'),
  ],
  [
    'a source map inside a style',
    async (folder) => {
      const map = Buffer.from('{"sources":["paypal.css"]}').toString('base64')
      const comment = `/*# sourceMappingURL=data:application/json;charset=utf-8;base64,${map} */`
      await append(folder, await first(folder, '.css'), comment)
    },
  ],
] as [string, (folder: string) => Promise<void>][]) {
  test(`the guard notices a name put into ${where}, on the disk`, () =>
    inCopy(async (folder) => {
      await plant(folder)
      expect(named(await builtFilesOf('pricing/index.html', folder)).join('\n')).toMatch(/^paypal in /)
    }))
}

test('the payment page may load a processor’s form, which is in none of the pricing page’s files', () =>
  inCopy(async (folder) => {
    await append(folder, 'pay/index.html', '<script type="module">import("/assets/form-x1.js")</script>')
    await writeFile(path.join(folder, 'assets/form-x1.js'), 'load("https://www.paypalobjects.com/api")')
    const pay = await builtFilesOf('pay/index.html', folder)
    const pricing = await builtFilesOf('pricing/index.html', folder)
    const naming = [...pay].filter(([file, text]) => processorNames(`${file} ${text}`).length > 0).map(([file]) => file)
    expect(naming).toContain('assets/form-x1.js')
    expect(naming.filter((file) => pricing.has(file))).toEqual([])
    expect(named(pricing)).toEqual([])
  }))

/** Works on a copy of the built files. */
async function inCopy(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'till-dist-'))
  try {
    await cp(DIST, folder, { recursive: true })
    await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const append = async (folder: string, file: string, text: string): Promise<void> =>
  writeFile(path.join(folder, file), (await readFile(path.join(folder, file), 'latin1')) + text, 'latin1')

/** The first file of that kind that the page loads. */
const first = async (folder: string, ending: string): Promise<string> =>
  [...(await builtFilesOf('pricing/index.html', folder)).keys()].find((file) => file.endsWith(ending))!

test('home and pricing say that the processor’s charges come on top of the 2%, and write it as English does', async ({
  page,
}) => {
  for (const path of ['/', '/pricing/']) {
    await page.goto(path)
    await expect(page.getByText('The payment processor’s own charges come on top of the 2%.')).toBeVisible()
    expect(await page.locator('body').innerText(), path).not.toMatch(/\d\s%|way of paying/i)
  }
  await expect(page.getByText('Before the payment processor’s own charges.')).toBeVisible()
})

test('2% on each of the seven rails, and nothing else', async ({ page }) => {
  await page.goto('/pricing/')
  for (const rail of RAILS) {
    await expect(page.getByRole('row', { name: new RegExp(`^${rail}`) }).getByRole('cell')).toHaveText('2%')
  }
  await expect(page.getByRole('row')).toHaveCount(RAILS.length + 1)
})

test('the calculator shows the seller’s share of a sale, exact to the minor unit', async ({ page }) => {
  await page.goto('/pricing/')
  const result = page.locator('output')
  for (const [currency, price, fee, rest] of [
    ['INR', '499.00', '−₹9.98', '₹489.02'],
    ['INR', '1,23,456', '−₹2,469.12', '₹120,986.88'],
    // Half to even: 0.5 cents become none, 1.5 cents become two.
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
  await expect(page.getByLabel('Price')).toHaveAccessibleDescription(/decimals at most/)
})
