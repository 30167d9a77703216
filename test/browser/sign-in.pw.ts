import { BASE_URL, SIZES, expect, expectAccessible, expectFits, holdClock, tabTo, test } from './fixtures.ts'
import {
  PASSWORD,
  askCode,
  codeField,
  codeFor,
  expectAccount,
  newSellerEmail,
  setPassword,
  signInByPassword,
  signUp,
} from './seller.ts'

test('a newcomer types the code, has an account, and is where they wanted to go', async ({ page }) => {
  const email = newSellerEmail()
  await page.goto('/sign-in/?returnTo=/order/?order=ord_1')
  await expect(page.getByText('New here? The same code opens your account.')).toBeVisible()
  await askCode(page, ` ${email.toUpperCase()} `)
  await expect(page.getByText(email)).toBeVisible()
  await expect(codeField(page)).toHaveAttribute('autocomplete', 'one-time-code')
  await expect(codeField(page)).toHaveAttribute('inputmode', 'numeric')
  // The sixth digit submits the form.
  await codeField(page).pressSequentially(await codeFor(page, email))
  await expect(page).toHaveURL('/order/?order=ord_1')
  await page.goBack()
  await expect(page).not.toHaveURL(/sign-in/)
})

test('a code can be pasted as it is in the mail, with spaces or hyphens, and in wide digits', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const email = newSellerEmail()
  await page.goto('/sign-in/')
  await askCode(page, email)
  const code = await codeFor(page, email)
  const wide = (digits: string) => digits.replace(/\d/g, (digit) => '０１２３４５６７８９'[Number(digit)]!)
  await page.evaluate((text) => navigator.clipboard.writeText(text), ` ${code.slice(0, 3)} - ${wide(code.slice(3))}\n`)
  await page.keyboard.press('ControlOrMeta+v')
  await expectAccount(page, email)
})

test('wrong codes are answered in words, and the fifth says that only a new one helps', async ({ page }) => {
  const email = newSellerEmail()
  await page.goto('/sign-in/')
  await askCode(page, email)
  const code = await codeFor(page, email)
  const wrong = code === '111111' ? '222222' : '111111'
  await codeField(page).fill('12345')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByText('The code has six digits.')).toBeVisible()
  for (let tries = 1; tries <= 5; tries += 1) {
    await codeField(page).fill(wrong)
    await expect(
      page.getByText(tries < 5 ? 'This code is not right.' : 'This code can no longer be used'),
    ).toBeVisible()
    await expect(codeField(page)).toHaveValue('')
    await expect(codeField(page)).toBeFocused()
  }
  await codeField(page).fill(code)
  await expect(page.getByText('This code can no longer be used')).toBeVisible()
  await expect(page).toHaveURL(/step=code/)
})

test('a browser that blocks cookies learns why its right code does not work', async ({ page }) => {
  const email = newSellerEmail()
  await page.goto('/sign-in/')
  await askCode(page, email)
  await page.context().clearCookies()
  await codeField(page).fill(await codeFor(page, email))
  await expect(page.getByText('Please allow cookies for this site, then ask for a new code.')).toBeVisible()
  await expect(codeField(page)).toBeFocused()
})

test('the page says when it can send a new code, and then only the new one works', async ({ page }) => {
  const email = newSellerEmail()
  await page.clock.install()
  await page.goto('/sign-in/')
  await holdClock(page)
  await askCode(page, email)
  await expect(page.getByText('You can ask for a new code in 0:')).toBeVisible()
  const first = await codeFor(page, email)
  const again = page.getByRole('button', { name: 'Send a new code' })
  await expect(again).toHaveCount(0)
  // A screen reader does not announce the countdown.
  const said = await page.locator('output, [role=status], [role=alert], [aria-live]').allTextContents()
  expect(said.join('')).toBe('')
  await page.clock.fastForward('00:35')
  await page.clock.resume()
  await expect(page.locator('output').getByText('You can ask for a new code now.')).toBeAttached()
  await again.click()
  await expect(page.getByText('We sent you a new code. The previous one no longer works.')).toBeVisible()
  await expect(codeField(page)).toBeFocused()
  const second = await codeFor(page, email, 2)
  if (first !== second) {
    await codeField(page).fill(first)
    await expect(page.getByText('This code is not right.')).toBeVisible()
  }
  await codeField(page).fill(second)
  await expectAccount(page, email)
})

test('a reload keeps the code step, "change" and the browser’s "back" lead to the address', async ({ page }) => {
  const email = newSellerEmail()
  await page.goto('/sign-in/?returnTo=/pricing/')
  await askCode(page, email)
  await page.goBack()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  await page.goForward()
  await expect(codeField(page)).toBeVisible()
  await page.getByRole('button', { name: 'Change the address' }).click()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(codeField(page)).toBeVisible()
  await page.reload()
  await expect(page.getByText(email)).toBeVisible()
  await codeField(page).fill(await codeFor(page, email, 2))
  await expect(page).toHaveURL('/pricing/')

  await page.context().clearCookies()
  await page.goto('/sign-in/?step=code&returnTo=/pricing/')
  await expect(page.getByRole('alert')).toContainText('No code is waiting for this browser any more.')
  await expect(page).toHaveURL('/sign-in/?returnTo=%2Fpricing%2F')
})

test('a password signs in, a wrong one points to the code, a forgotten one leads to a new one', async ({ page }) => {
  const email = await signUp(page)
  await setPassword(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()

  await signInByPassword(page, email, `${PASSWORD}!`)
  await expect(page.getByRole('alert')).toContainText('This e-mail and password do not match.')
  await expect(page.getByLabel('Password', { exact: true })).toBeFocused()
  await signInByPassword(page, newSellerEmail())
  await expect(page.getByRole('alert')).toContainText('This e-mail and password do not match.')
  await signInByPassword(page, email)
  await expectAccount(page, email)

  await page.getByRole('button', { name: 'Sign out' }).click()
  // The account page has a part of the same name.
  await page.waitForURL(/\/sign-in\//)
  // The page offers the last successful way first.
  await expect(page.getByLabel('Password', { exact: true })).toBeVisible()
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Password forgotten?' }).click()
  await expect(page.getByText('Sign in with a code by e-mail; then choose a new password')).toBeVisible()
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(codeField(page)).toBeVisible()
  await page.reload()
  await codeField(page).fill(await codeFor(page, email, 2))
  await expectAccount(page, email)
  await expect(page.getByLabel('Current password')).toHaveCount(0)
  await expect(page.getByLabel('New password')).toBeFocused()
  await page.getByLabel('New password').fill(`${PASSWORD} new`)
  await page.getByRole('button', { name: 'Change the password' }).click()
  await expect(page.getByText('Your password is changed.')).toBeVisible()
})

test('a signed-in seller is redirected to a path of our own, and nowhere else', async ({ page }) => {
  const email = await signUp(page)
  const heads: Record<string, string> = {
    '': '/shop/',
    '/pricing/': '/pricing/',
    '//evil.example': '/shop/',
    'https://evil.example/': '/shop/',
    '/\\evil.example': '/shop/',
    'javascript:alert(1)': '/shop/',
  }
  for (const [returnTo, goal] of Object.entries(heads)) {
    await page.goto(`/sign-in/?${new URLSearchParams({ returnTo })}`)
    await expect(page).toHaveURL(goal)
  }
  await page.goto('/sign-in/?again=1')
  await expect(page.getByRole('heading', { name: 'Sign in again' })).toBeVisible()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
})

test('the same machine under another name leads to the one that the session belongs to', async ({ page, watch }) => {
  const { port } = new URL(BASE_URL)
  watch.allow(`http://localhost:${port}`)
  await page.goto(`http://localhost:${port}/sign-in/?returnTo=/pricing/`)
  await expect(page).toHaveURL(`${BASE_URL}/sign-in/?returnTo=/pricing/`)
  await page.goto(`http://localhost:${port}/account/?error=idp_failed`)
  await expect(page).toHaveURL(/^http:\/\/127\.0\.0\.1/)
})

test('every refusal, and every reason to return, has a helpful text', async ({ page }) => {
  const SAID: Record<string, string> = {
    idp_not_configured: 'is not set up here',
    idp_unavailable: 'does not answer right now',
    idp_refused: 'was cancelled',
    idp_failed: 'could not be trusted',
    idp_attempt_expired: 'took too long',
    idp_no_mailbox: 'did not name an e-mail address',
    signup_closed: 'There is no account with this address.',
    account_disabled: 'This account is switched off.',
    rate_limited: 'Please wait a few minutes',
    session_ended: 'You have been signed out.',
    '<b>x': 'Signing in did not work.',
  }
  const alert = page.getByRole('alert')
  for (const [error, words] of Object.entries(SAID)) {
    await page.goto(`/sign-in/?${new URLSearchParams({ error, returnTo: '/pricing/' })}`)
    await expect(alert).toContainText(words)
    await expect(page).toHaveURL('/sign-in/?returnTo=%2Fpricing%2F')
  }
  // The service's own content is there. Without a provider there is no button for one.
  await expect(page.getByRole('link', { name: /^Continue with/ })).toHaveCount(0)

  const refuse = async (status: number, code: string, retryAfter?: string) => {
    await page.unrouteAll()
    await page.route('**/api/auth/password', (route) =>
      route.fulfill({ status, json: { code }, headers: retryAfter ? { 'retry-after': retryAfter } : {} }),
    )
    await signInByPassword(page, 'ann@example.com')
  }
  await refuse(429, 'rate_limited', '720')
  await expect(alert).toContainText('try again in 12 minutes')
  await refuse(503, 'sign_in_busy')
  await expect(alert).toContainText('Many people are signing in right now.')
  await refuse(503, 'database_unavailable', '2')
  await expect(alert).toContainText('Please try again in a moment.')
  await refuse(403, 'origin_not_allowed')
  await expect(alert).toContainText('This page is not open at its proper address.')
  await page.unrouteAll()
  await page.context().setOffline(true)
  await signInByPassword(page, 'ann@example.com')
  await expect(alert).toContainText('You are offline.')
  await page.context().setOffline(false)
})

test.describe('in the light and in the dark', () => {
  test.use({ ...SIZES.phone, viewport: { width: 320, height: 640 } })
  test('axe finds nothing at any step, and every step fits the smallest phone', async ({ page }) => {
    const look = async (what: string) => {
      await expectAccessible(page, what)
      await expectFits(page, what)
    }
    await page.route('**/api/auth/providers', (route) => route.fulfill({ json: { idp: true } }))
    await page.goto('/sign-in/?again=1')
    const atProvider = page.getByRole('link', { name: /^Continue with/ })
    await expect(atProvider).toHaveAttribute('href', /[?&]again=1(&|$)/)
    await expect(page.getByText('If you are not asked to sign in there')).toBeVisible()
    await look('again')
    await page.goto('/sign-in/?error=idp_unavailable')
    await expect(atProvider).toBeVisible()
    await expect(atProvider).not.toHaveAttribute('href', /again/)
    await look('sent back')
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await expect(page.getByText('Please enter your e-mail.')).toBeVisible()
    await look('nothing entered')
    await page.getByRole('button', { name: 'Use a password instead' }).click()
    await page.getByRole('button', { name: 'Show the characters' }).click()
    await look('password')
    await page.getByRole('button', { name: 'Send me a code instead' }).click()
    await askCode(page, newSellerEmail())
    await look('code')
    await codeField(page).fill('000000')
    await expect(page.getByText('This code is not right.')).toBeVisible()
    await look('wrong code')
  })
})

test('with the keyboard alone: into the account, and out again', async ({ page }) => {
  const email = newSellerEmail()
  await page.goto('/sign-in/')
  await expect(page.getByLabel('E-mail')).toBeFocused()
  await page.keyboard.type(email)
  await page.keyboard.press('Enter')
  await expect(codeField(page)).toBeFocused()
  await page.keyboard.type(await codeFor(page, email))
  await expectAccount(page, email)
  await tabTo(page, page.getByRole('button', { name: 'Set a password' }))
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('New password')).toBeFocused()
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Your password is set.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Change the password' })).toBeFocused()
  await tabTo(page, page.getByRole('button', { name: 'Sign out' }))
  await page.keyboard.press('Enter')
  await expect(page.getByText('You are signed out.')).toBeVisible()
})
