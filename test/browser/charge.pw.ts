import type { Page } from '@playwright/test'
import { newEmail } from './buyer.ts'
import { BASE_URL, SIZES, expect, expectAccessible, expectFits, tabTo, test } from './fixtures.ts'
import { buy, order } from './orders.ts'
import { codeField, mailsTo } from './seller.ts'

const TEXT = 'Statement text'

/** The code of the `count`th mail about a charge. A receipt has no code. */
async function chargeCode(page: Page, email: string, count = 1): Promise<string> {
  let codes: string[] = []
  await expect
    .poll(async () => {
      const mails = await mailsTo(page.context(), email, BASE_URL)
      codes = mails.flatMap(({ subject }) => /^(\d{6}) is your code/.exec(subject)?.[1] ?? [])
      return codes.length
    })
    .toBe(count)
  return codes[0]!
}

async function ask(page: Page, email: string, line: { text?: string; amount?: string; date?: string }): Promise<void> {
  if (line.text !== undefined) await page.getByLabel(TEXT).fill(line.text)
  if (line.amount !== undefined) await page.getByLabel('Amount').fill(line.amount)
  if (line.date !== undefined) await page.getByLabel('Date').fill(line.date)
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
}

const today = () => new Date().toISOString().slice(0, 10)

test('by the text of the line and a code: which order it was, and on to its page', async ({ page }) => {
  const { email, orderId } = await buy(page.request)
  await page.goto('/order/')
  await page.getByRole('link', { name: 'Find out what this charge is' }).click()
  await ask(page, ` ${email.toUpperCase()} `, { text: 'till* the qui' })
  await expect(page.getByRole('heading', { name: 'Check your mail' })).toBeVisible()
  await expect(codeField(page)).toBeFocused()
  await codeField(page).pressSequentially(await chargeCode(page, email))
  await expect(page.getByRole('heading', { name: 'We found it.' })).toBeFocused()
  await expect(page.getByText('₹499.00')).toBeVisible()
  await expect(page).toHaveURL('/charge/')
  await page.getByRole('link', { name: /^Open the order/ }).click()
  await expect(page).toHaveURL(`/order/?order=${orderId}`)
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
})

test('by amount and date; without a match the page shows the latest orders of that mailbox only', async ({ page }) => {
  const { email } = await buy(page.request)
  await page.goto('/charge/')
  // The digits of every script count.
  await ask(page, email, { amount: '４９９', date: today() })
  const code = await chargeCode(page, email)
  await codeField(page).fill(code.replace(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]!))
  await expect(page.getByRole('heading', { name: 'We found it.' })).toBeVisible()
  await page.getByRole('button', { name: 'Look up another charge' }).click()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  await ask(page, email, { text: 'ANOTHER SHOP', amount: '', date: '' })
  await codeField(page).fill(await chargeCode(page, email, 2))
  await expect(page.getByRole('heading', { name: 'No order matches this charge.' })).toBeVisible()
  await expect(page.getByRole('listitem').filter({ hasText: '₹499.00' })).toHaveCount(1)
})

test('for several matching orders the page says that none was paid, exactly when none was', async ({ page }) => {
  const { email } = await order(page.request)
  for (const [second, title] of [
    ['expired', 'These orders match, but none of them is paid.'],
    ['paid', 'It could be one of these.'],
  ] as const) {
    await page.unroute('**/api/charges/verify')
    await page.route('**/api/charges/verify', async (route) => {
      const response = await route.fetch()
      const found = (await response.json()) as { orders: object[] }
      const orders = [...found.orders, { ...found.orders[0], orderId: 'ord_other', status: second }]
      await route.fulfill({ response, json: { ...found, orders } })
    })
    await page.goto('/charge/')
    await ask(page, email, { text: 'TILL' })
    await codeField(page).fill(await chargeCode(page, email, second === 'expired' ? 1 : 2))
    await expect(page.getByRole('heading', { name: title })).toBeFocused()
  }
})

test('a mailbox without orders gets a mail that says so, and the page says the same as always', async ({ page }) => {
  const email = newEmail()
  await page.goto('/charge/')
  await ask(page, email, { text: 'TILL THE QUIET SHOP' })
  await expect(codeField(page)).toBeFocused()
  await expect(page.getByText(email)).toBeVisible()
  await expect
    .poll(async () => (await mailsTo(page.context(), email, BASE_URL)).map(({ subject }) => subject))
    .toEqual([expect.stringMatching(/^Nothing was bought at /)])
})

test.describe('in Arabic', () => {
  test.use({ locale: 'ar-EG' })

  test('the example of an amount is read, with the digits in which the page writes it', async ({ page }) => {
    await page.goto('/charge/')
    const amount = page.locator('#amount')
    await expect(amount).toHaveAttribute('placeholder', '٤٫٩٩')
    await amount.fill('٤٫٩٩')
    await page.locator('#date').fill(today())
    await page.locator('#email').fill(newEmail())
    await page.keyboard.press('Enter')
    await expect(page.locator('[autocomplete="one-time-code"]')).toBeVisible()
  })
})

test('a missing field is marked, and gets the focus', async ({ page }) => {
  await page.goto('/charge/')
  const send = page.getByRole('button', { name: 'Send me a code' })
  const expectFault = async (label: string, words: string) => {
    await send.click()
    await expect(page.getByText(words)).toBeVisible()
    await expect(page.getByLabel(label, { exact: true })).toBeFocused()
    await expect(page.getByLabel(label, { exact: true })).toHaveAccessibleDescription(new RegExp(words.slice(0, 20)))
    await expect(page.locator('[aria-invalid=true]')).toHaveCount(1)
  }
  await expectFault(TEXT, 'Please enter the statement text, or the amount and the date.')
  await page.getByLabel(TEXT).fill('**')
  await expectFault(TEXT, 'Please enter at least three letters')
  await page.getByLabel(TEXT).fill('')
  await page.getByLabel('Amount').fill('a lot')
  await expectFault('Amount', 'Please enter a number')
  await page.getByLabel('Amount').fill('4,99')
  await expectFault('Date', 'Please enter the whole date too.')
  await page.getByLabel('Date').fill(today())
  await expectFault('E-mail', 'Please enter your e-mail.')
  await page.getByLabel('E-mail').fill('ann@')
  await expectFault('E-mail', 'This is not a complete e-mail')
  await page.getByLabel('E-mail').fill(newEmail())
  await page.getByLabel('Amount').fill('1.2.3')
  await send.click()
  await expect(page.getByRole('alert')).toContainText('Amount: This cannot be read.')
})

test('a card’s number is refused at the field where it was typed', async ({ page }) => {
  for (const field of [TEXT, 'E-mail']) {
    await page.goto('/charge/')
    const number = field === TEXT ? 'TILL 4242 4242 4242 4242' : '4242424242424242@example.com'
    await ask(page, field === TEXT ? newEmail() : number, { text: field === TEXT ? number : 'TILL' })
    await expect(page.getByRole('alert').filter({ hasText: 'That looks like the number of a card.' })).toBeVisible()
    await expect(page.getByLabel(field)).toBeFocused()
    await expect(page.getByLabel(field)).toHaveAccessibleDescription(/Please leave the number of the card out\./)
    await expect(page.locator('[aria-invalid]')).toHaveCount(1)
    await page.getByLabel(field).fill('x')
    await expect(page.locator('[aria-invalid]')).toHaveCount(0)
  }
})

test('wrong codes are answered in words, the fifth says that only a new one helps, and a new one does', async ({
  page,
}) => {
  const { email } = await order(page.request)
  await page.clock.install()
  await page.goto('/charge/')
  await ask(page, email, { text: 'TILL' })
  const code = await chargeCode(page, email)
  for (let tries = 1; tries <= 5; tries += 1) {
    await codeField(page).fill(code === '111111' ? '222222' : '111111')
    await expect(
      page.getByText(tries < 5 ? 'This code is not right.' : 'This code can no longer be used'),
    ).toBeVisible()
    await expect(codeField(page)).toHaveValue('')
    await expect(codeField(page)).toBeFocused()
  }
  await codeField(page).fill(code)
  await expect(page.getByText('This code can no longer be used')).toBeVisible()
  await page.clock.fastForward('00:35')
  await page.getByRole('button', { name: 'Send a new code' }).click()
  await expect(page.getByText('We sent you a new code. The previous one no longer works.')).toBeVisible()
  await codeField(page).fill(await chargeCode(page, email, 2))
  await expect(page.getByRole('heading', { name: 'This order matches, but is not paid.' })).toBeVisible()
  await expect(page.getByText('Not paid', { exact: true })).toBeVisible()
})

test('a reload keeps the code step, and "change" and the browser’s "back" lead to the entered text', async ({
  page,
}) => {
  const { email } = await order(page.request)
  await page.goto('/charge/')
  await ask(page, email, { text: 'TILL' })
  await expect(codeField(page)).toBeVisible()
  await page.goBack()
  await expect(page.getByLabel(TEXT)).toHaveValue('TILL')
  await page.goForward()
  await expect(codeField(page)).toBeVisible()
  await page.getByRole('button', { name: 'Change what you entered' }).click()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  await page.goForward()
  await page.reload()
  await codeField(page).fill(await chargeCode(page, email))
  await expect(page.getByRole('heading', { name: 'This order matches, but is not paid.' })).toBeVisible()
  // Nothing stays for the next person at this browser.
  await page.reload()
  await expect(page.getByLabel('E-mail')).toHaveValue('')
  await page.goto('/charge/?step=code')
  await expect(page).toHaveURL('/charge/')
  await expect(page.getByLabel('E-mail')).toBeVisible()
})

test('after a refusal or a lost connection the page explains it, and typed text stays', async ({ page }) => {
  const alert = page.getByRole('alert')
  await page.goto('/charge/')
  const refuse = async (status: number, code: string, retryAfter?: string) => {
    await page.unrouteAll()
    await page.route('**/api/charges/**', (route) =>
      route.fulfill({ status, json: { code }, headers: retryAfter ? { 'retry-after': retryAfter } : {} }),
    )
  }
  const { email } = await order(page.request)
  await refuse(429, 'rate_limited', '720')
  await ask(page, email, { text: 'TILL' })
  await expect(alert).toContainText('try again in 12 minutes')
  await refuse(503, 'database_unavailable', '2')
  await ask(page, email, {})
  await expect(alert).toContainText('Please try again in a moment.')
  await page.unrouteAll()
  await page.context().setOffline(true)
  await ask(page, email, {})
  await expect(alert).toContainText('You are offline.')
  await page.context().setOffline(false)
  await ask(page, email, {})
  await expect(codeField(page)).toBeFocused()
  await page.context().setOffline(true)
  const code = await chargeCode(page, email)
  await codeField(page).fill(code)
  await expect(alert).toContainText('You are offline.')
  await page.context().setOffline(false)
  await refuse(503, 'database_unavailable', '2')
  // The code is still good, so it stays too.
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(alert).toContainText('The shop is busy right now.')
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(page.getByRole('heading', { name: 'This order matches, but is not paid.' })).toBeVisible()
})

test('the same machine under another name leads to the one that the cookie belongs to', async ({ page, watch }) => {
  const { port } = new URL(BASE_URL)
  watch.allow(`http://localhost:${port}`)
  await page.goto(`http://localhost:${port}/charge/`)
  await expect(page).toHaveURL(`${BASE_URL}/charge/`)
})

test.describe('in the light and in the dark', () => {
  test.use({ ...SIZES.phone, viewport: { width: 320, height: 640 } })
  test('axe finds nothing at any step, and every step fits the smallest phone', async ({ page }) => {
    const look = async (what: string) => {
      await expectAccessible(page, what)
      await expectFits(page, what)
    }
    const { email } = await order(page.request)
    await page.goto('/charge/')
    await look('asked')
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await expect(page.getByText('Please enter the statement text')).toBeVisible()
    await look('nothing entered')
    await ask(page, email, { amount: '1.2.3', date: today(), text: '' })
    await expect(page.getByRole('alert')).toBeVisible()
    await look('refused')
    await ask(page, email, { text: 'ANOTHER SHOP', amount: '', date: '' })
    await expect(codeField(page)).toBeFocused()
    await look('code')
    await codeField(page).fill('000000')
    await expect(page.getByText('This code is not right.')).toBeVisible()
    await look('wrong code')
    await codeField(page).fill(await chargeCode(page, email))
    await expect(page.getByRole('heading', { name: 'No order matches this charge.' })).toBeVisible()
    await look('found')
  })
})

test('with the keyboard alone: from the line to the order', async ({ page }) => {
  const { email, orderId } = await order(page.request)
  await page.goto('/charge/')
  await page.getByLabel(TEXT).focus()
  await page.keyboard.type('till the quiet')
  for (const name of ['amount', 'date']) {
    await page.keyboard.press('Tab')
    await expect(page.locator(`#${name}`)).toBeFocused()
  }
  await tabTo(page, page.getByLabel('E-mail'))
  await page.keyboard.type(email)
  await page.keyboard.press('Enter')
  await expect(codeField(page)).toBeFocused()
  await page.keyboard.type(await chargeCode(page, email))
  await expect(page.getByRole('heading', { name: 'This order matches, but is not paid.' })).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: /^Open the order/ })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`/order/?order=${orderId}`)
})
