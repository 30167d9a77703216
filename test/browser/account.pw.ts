import type { BrowserContext, Page } from '@playwright/test'
import { BASE_URL, SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import {
  PASSWORD,
  askCode,
  codeField,
  codeFor,
  expectAccount,
  mailsTo,
  newSellerEmail,
  setPassword,
  signInByPassword,
  signUp,
} from './seller.ts'

const again = 'Please sign in again first.'

test('a new seller types a name, and it stays', async ({ page }) => {
  await signUp(page)
  await expect(page.getByText('Until you choose a name, they read “New seller”.')).toBeVisible()
  const name = page.getByLabel('Your name, or your shop’s')
  await expect(name).toHaveValue('')
  await page.getByRole('button', { name: 'Save the name' }).click()
  await expect(page.getByText('Please enter a name.')).toBeVisible()
  await name.fill('  Ann & Söhne <b> ')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Saved. Buyers read this name from now on.')).toBeVisible()
  await expect(page.getByText('“New seller”')).toHaveCount(0)
  await page.reload()
  await expect(name).toHaveValue('Ann & Söhne <b>')
})

for (const [label, typed, more] of [
  ['Your name, or your shop’s', 'Ann', 'Ann & Sons'],
  ['Where buyers reach you', 'help@example.com', 'help@example.com.au'],
] as const)
  test(`text typed during a save stays: ${label}`, async ({ page }) => {
    await signUp(page)
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/api/auth/seller', async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await answered.promise
      await route.fulfill({ response })
    })
    const field = page.getByLabel(label)
    await field.fill(typed)
    await field.press('Enter')
    await asked.promise
    await field.fill(more)
    answered.resolve()
    await expect(page.getByText(/^Saved\./)).toBeVisible()
    await expect(field).toHaveValue(more)
  })

test('the page shows the strength of a password before it is sent, and a common one is refused with an explanation', async ({
  page,
}) => {
  await signUp(page)
  await page.getByRole('button', { name: 'Set a password' }).click()
  const field = page.getByLabel('New password')
  await expect(field).toHaveAccessibleDescription(/12 to 128 characters/)
  await expect(field).toHaveAttribute('autocomplete', 'new-password')
  await field.fill('eleven char')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Please use at least 12 characters.')).toBeVisible()
  await field.fill('123456789012')
  await page.getByRole('button', { name: 'Show the characters' }).click()
  await expect(field).toHaveAttribute('type', 'text')
  await page.getByRole('button', { name: 'Set the password' }).click()
  await expect(page.getByText('This password is among the first that others would try.')).toBeVisible()
  await expect(field).toBeFocused()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByText('You have no password.')).toBeVisible()
})

test('sessions are listed; one that is ended is signed out, and so are all others at a press', async ({
  page,
  browser,
  playwright,
}) => {
  const email = await signUp(page)
  await setPassword(page)
  const baseURL = new URL(page.url()).origin
  const programs = await Promise.all([1, 2].map(() => playwright.request.newContext({ baseURL })))
  for (const program of programs)
    expect((await program.post('/api/auth/password', { data: { email, password: PASSWORD } })).status()).toBe(200)
  const context = await browser.newContext({ baseURL })
  const other = await context.newPage()
  await other.goto('/sign-in/')
  await signInByPassword(other, email)
  await expectAccount(other, email)

  await page.reload()
  await expect(page.locator('#history li')).toHaveText([/^The password was set/])
  const entries = page.locator('#sessions li')
  await expect(entries).toHaveCount(4)
  await expect(entries.filter({ hasText: 'This one' })).toContainText('Signed in with a code')
  const inBrowser = entries.filter({ hasText: /Chrom.*Signed in with the password/ })
  await inBrowser.getByRole('button', { name: /^End the session on / }).click()
  await expect(page.getByText(/^The session on .* has ended\.$/)).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Where you are signed in' })).toBeFocused()
  await expect(entries).toHaveCount(3)
  await other.getByLabel('Your name, or your shop’s').fill('Mallory')
  await other.getByRole('button', { name: 'Save the name' }).click()
  await expect(other).toHaveURL(/\/sign-in\//)
  await expect(other.getByRole('alert')).toContainText('You have been signed out.')
  await context.close()

  for (const program of programs) expect((await program.get('/api/auth/session')).status()).toBe(200)
  await page.getByRole('button', { name: 'End all others' }).click()
  await expect(page.getByText('All other sessions have ended.')).toBeVisible()
  await expect(entries).toHaveCount(1)
  for (const program of programs) {
    expect((await program.get('/api/auth/session')).status()).toBe(401)
    await program.dispose()
  }
  await page.reload()
  await expectAccount(page, email)
  await expect(page.getByLabel('Your name, or your shop’s')).toHaveValue('')
})

test('another address takes over after its code is entered, and the old one gets a mail', async ({ page, browser }) => {
  const email = await signUp(page)
  const newEmail = newSellerEmail()
  const neighbour = await browser.newContext({ baseURL: new URL(page.url()).origin })
  const taken = await signUp(await neighbour.newPage())
  await neighbour.close()
  await page.getByRole('button', { name: 'Change the address' }).click()
  const field = page.getByLabel('New e-mail address')
  await expect(field).toBeFocused()
  await field.fill(email)
  await page.keyboard.press('Enter')
  await expect(page.getByText('This is your address already.')).toBeVisible()

  await field.fill(taken)
  await page.keyboard.press('Enter')
  await codeField(page).fill(await codeFor(page, taken, 2))
  await expect(page.getByRole('alert')).toContainText('Another account here has this address.')
  await page.getByRole('button', { name: 'Keep the address I have' }).click()

  await page.getByRole('button', { name: 'Change the address' }).click()
  await field.fill(newEmail)
  await page.keyboard.press('Enter')
  await expect(codeField(page)).toBeFocused()
  // A phone may drop the page while the seller reads the mail.
  await page.reload()
  await expect(page.getByText(`We sent a code to ${newEmail}`)).toBeVisible()
  const code = await codeFor(page, newEmail)
  await codeField(page).fill(code === '111111' ? '222222' : '111111')
  await expect(page.getByText('This code does not work.')).toBeVisible()
  await codeField(page).fill(code)
  await expect(page.getByText(`Your address is ${newEmail} now, and your other sessions have ended.`)).toBeVisible()
  await expectAccount(page, newEmail)
  await expect
    .poll(async () => (await mailsTo(page.context(), email)).map(({ subject }) => subject).join())
    .toContain('address')
  await page.reload()
  await expectAccount(page, newEmail)
})

test('a change that needs a fresh sign-in leads to one and back, and the typed text is still there', async ({
  page,
}) => {
  const email = await signUp(page)
  // ten minutes later
  await page.route('**/api/auth/email', (route) =>
    route.fulfill({ status: 403, json: { code: 'recent_sign_in_required' } }),
  )
  await page.getByRole('button', { name: 'Change the address' }).click()
  const newEmail = newSellerEmail()
  await page.getByLabel('New e-mail address').fill(newEmail)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText(again)
  await page.unrouteAll()
  await page.getByRole('link', { name: 'Sign in again' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in again' })).toBeVisible()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(codeField(page)).toBeVisible()
  await page.reload()
  await codeField(page).fill(await codeFor(page, email, 2))
  await expectAccount(page, email)
  await expect(page.getByLabel('New e-mail address')).toHaveValue(newEmail)
  await page.keyboard.press('Enter')
  await expect(page.getByText(`We sent a code to ${newEmail}`)).toBeVisible()
})

test('after a fresh sign-in the page waits for no code of the session before, and the typed address is still there', async ({
  page,
}) => {
  const email = await signUp(page)
  const newEmail = newSellerEmail()
  await page.getByRole('button', { name: 'Change the address' }).click()
  const field = page.getByLabel('New e-mail address')
  await field.fill(newEmail)
  await page.keyboard.press('Enter')
  await expect(page.getByText(`We sent a code to ${newEmail}`)).toBeVisible()
  await page.goto('/sign-in/?returnTo=/account/&again=1')
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await codeField(page).fill(await codeFor(page, email, 2))
  await expectAccount(page, email)
  await expect(field).toHaveValue(newEmail)
  await field.press('Enter')
  await codeField(page).fill(await codeFor(page, newEmail, 2))
  await expectAccount(page, newEmail)
})

test('another support address needs a fresh sign-in, which keeps the typed text, and is in the history', async ({
  page,
}) => {
  const email = await signUp(page)
  const support = newSellerEmail()
  // ten minutes later
  await page.route('**/api/auth/seller', (route) =>
    route.fulfill({ status: 403, json: { code: 'recent_sign_in_required' } }),
  )
  const field = page.getByLabel('Where buyers reach you')
  await field.fill(support)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText(again)
  await page.unrouteAll()
  await page.getByRole('link', { name: 'Sign in again' }).click()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await codeField(page).fill(await codeFor(page, email, 2))
  await expectAccount(page, email)
  await expect(field).toHaveValue(support)
  await field.press('Enter')
  await expect(page.getByText(`Saved. Buyers write to ${support}.`)).toBeVisible()
  await expect(page.locator('#history')).toContainText('Buyers read another support address')
  await page.reload()
  await expect(field).toHaveValue(support)
})

test('a link to a fresh sign-in that opens another tab leaves the question before typed text is lost', async ({
  page,
  context,
}) => {
  await signUp(page)
  await page.route('**/api/auth/seller', (route) =>
    route.fulfill({ status: 403, json: { code: 'recent_sign_in_required' } }),
  )
  await page.getByLabel('Where buyers reach you').fill(newSellerEmail())
  await page.keyboard.press('Enter')
  const questions: string[] = []
  // An open question swallows the next press, so it counts when it is answered.
  page.on('dialog', async (dialog) => {
    await dialog.dismiss()
    questions.push(dialog.type())
  })
  for (const key of ['ControlOrMeta', 'Shift'] as const) {
    const opened = context.waitForEvent('page')
    await page.getByRole('link', { name: 'Sign in again' }).click({ modifiers: [key] })
    await (await opened).close()
    await page.getByRole('link', { name: 'Orders' }).click({ noWaitAfter: true })
    await expect.poll(() => questions).toEqual(['beforeunload'])
    questions.length = 0
  }
})

test('when the session has ended, a press leads to the sign-in, and the text of every form is there after it', async ({
  page,
}) => {
  const email = await signUp(page)
  const policy = page.getByLabel('Refund policy')
  const legalName = page.getByLabel('Legal name')
  const others = ['Your name, or your shop’s', 'Where buyers reach you', 'Your tax IDs'].map((label) =>
    page.getByLabel(label),
  )
  const fields = [...others, policy, legalName]
  for (const [at, field] of fields.entries()) await field.fill(`typed ${at}`)
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await askCode(page, email)
  await codeField(page).fill(await codeFor(page, email, 2))
  await expectAccount(page, email)
  for (const [at, field] of fields.entries()) await expect(field).toHaveValue(`typed ${at}`)
  await page.getByRole('button', { name: 'Save the brand' }).click()
  await expect(page.getByText('Saved. Buyers see it from now on.')).toBeVisible()
  await page.reload()
  await expect(policy).toHaveValue('typed 3')
  await expect(legalName).toHaveValue('')
})

test('a save of the invoice or the tax profile leaves alone what another tab has changed since', async ({
  page,
  context,
}) => {
  const profile = async (path: string, method = 'GET', data?: object) => {
    const response = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: BASE_URL } })
    expect(response.ok(), await response.text()).toBe(true)
    return ((await response.json()) as { profile: object }).profile
  }
  await signUp(page)
  const place = { name: 'Ann Books', address: ['Old Street 1'], postcode: '10115', city: 'Berlin', country: 'DE' }
  await profile('invoice-profile', 'PUT', { on: false, ...place, taxIds: [] })
  await profile('tax/profile', 'PUT', { country: 'DE', exempt: true, prices: 'inclusive' })
  await page.reload()
  await expect(page.getByLabel('Legal name')).toHaveValue('Ann Books')
  await expect(page.locator('#tax').getByLabel('Where you are established')).toHaveValue('DE')

  const address = ['New Street 2', 'Second court']
  const taxIds = [{ country: 'DE', id: 'DE136695976' }]
  await profile('invoice-profile', 'PUT', { on: false, ...place, address, taxIds })
  await profile('tax/profile', 'PUT', { country: 'DE', exempt: true, prices: 'inclusive', taxIds: ['DE136695976'] })
  await page.getByLabel('Note (optional)').fill('Small business, no tax.')
  await page.getByRole('button', { name: 'Save the invoice profile' }).click()
  await expect(page.getByText('Saved. New sales get no invoice.')).toBeVisible()
  expect(await profile('invoice-profile')).toMatchObject({ address, taxIds, note: 'Small business, no tax.' })
  await expect(page.getByLabel('Street and number')).toHaveValue(address.join('\n'))
  await page.getByLabel('Your prices').selectOption('exclusive')
  await page.getByRole('button', { name: 'Save the tax profile' }).click()
  await expect(page.getByText('Saved. It counts for new orders.')).toBeVisible()
  expect(await profile('tax/profile')).toMatchObject({ taxIds: ['DE136695976'], prices: 'exclusive', exempt: true })
  await expect(page.getByLabel('Your tax IDs')).toHaveValue('DE136695976')
})

/** Another account signs in by another tab of this browser. */
async function signInElsewhere({ request }: BrowserContext, page: Page): Promise<string> {
  const [email, headers] = [newSellerEmail(), { origin: BASE_URL }]
  expect((await request.post('/api/auth/otp', { data: { email }, headers })).ok()).toBe(true)
  const data = { email, code: await codeFor(page, email) }
  expect((await request.post('/api/auth/otp/verify', { data, headers })).ok()).toBe(true)
  return email
}

test('a page of one account changes nothing in another that signed in elsewhere, and shows that one', async ({
  page,
  context,
}) => {
  await signUp(page)
  const name = page.getByLabel('Your name, or your shop’s')
  const policy = page.getByLabel('Refund policy')
  await name.fill('Ann')
  await policy.fill('The policy of Ann')
  const second = await signInElsewhere(context, page)
  await page.getByRole('button', { name: 'Save the name' }).click()
  await expectAccount(page, second)
  await expect(name).toHaveValue('')
  await expect(policy).toHaveValue('')
  const session = await context.request.get('/api/auth/session')
  expect(await session.json()).toMatchObject({ seller: { email: second, name: 'New seller' } })

  // The other views too, as soon as the person comes back to the tab.
  await page.goto('/shop/')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  const third = await signInElsewhere(context, page)
  const reloaded = page.waitForEvent('load')
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await reloaded
  await expectAccount(page, third)
})

test('after signing out the account page asks to sign in', async ({ page }) => {
  const email = await signUp(page)
  await page.goto('/pricing/')
  await page.goto('/account/')
  await expectAccount(page, email)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()
  await page.goto('/account/')
  await expect(page).toHaveURL('/sign-in/?returnTo=/account/')
  await expect(page.getByLabel('E-mail')).toHaveValue('')
})

for (const [place, address] of [
  ['account', /\/api\/auth\/sessions$/],
  ['shop', /\/api\/(?!auth\/)/],
] as const)
  test(`signing out while the ${place} page reads says that, and keeps no typed text`, async ({ page }) => {
    const email = await signUp(page)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    await page.route(address, async (route) => {
      await ended
      await route.continue()
    })
    // the session has ended, and the held request hears of it before the page does
    await page.route('**/api/auth/session', async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue()
      const response = await route.fetch()
      const refused = page.waitForResponse(address)
      end()
      await (await refused).finished()
      await page.evaluate(() => new Promise(requestAnimationFrame)).catch(() => {})
      await route.fulfill({ response })
    })
    const asked = page.waitForRequest(address)
    await page.goto(`/${place}/`)
    await asked
    if (place === 'account') {
      await expectAccount(page, email)
      await page.getByLabel('Your name, or your shop’s').fill('Ann of the Tests')
    }
    await page.getByRole('button', { name: 'Sign out' }).click()
    // the first press says that the text would be lost
    if (place === 'account') await page.getByRole('button', { name: 'Sign out' }).click()
    await expect(page.getByText('You are signed out.')).toBeVisible()
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toMatch(/Ann of the Tests|way-back/)
  })

test('after the session has ended the back button shows nothing', async ({ page }) => {
  const email = await signUp(page)
  await page.goto('/account/')
  await expectAccount(page, email)
  await page.goto('/pricing/')
  expect((await page.request.delete('/api/auth/session', { headers: { origin: BASE_URL } })).status()).toBe(204)
  await page.goBack()
  await expect(page).toHaveURL('/sign-in/?returnTo=/account/')
  await expect(page.getByText(email)).toHaveCount(0)
})

test('the page says that the service does not answer, and shows the account when it does', async ({ page }) => {
  const email = await signUp(page)
  await page.route('**/api/auth/session', (route) => route.abort())
  await page.reload()
  await expect(page.getByRole('alert')).toContainText('The service cannot be reached right now.')
  await page.route('**/api/auth/sessions', (route) =>
    route.fulfill({ status: 503, json: { code: 'database_unavailable' } }),
  )
  // the page tries again by itself
  await page.unroute('**/api/auth/session')
  await expectAccount(page, email)
  for (const part of ['#sessions', '#history']) {
    await expect(page.locator(part).getByRole('alert')).toContainText('The service is busy.')
    await expect(page.locator(part)).not.toContainText(/Loading|Nothing has changed/)
  }
  await page.unrouteAll()
  await page.locator('#history').getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('alert')).toHaveCount(0)
  await expect(page.locator('#sessions li')).toHaveCount(1)
  await expect(page.getByText('Nothing has changed yet.')).toBeVisible()
})

test('a part that the service cannot load says so, and appears on another try', async ({ page }) => {
  await signUp(page)
  const broken = { code: 'internal_error', status: 500, title: 'Internal Server Error' }
  for (const [path, part] of [
    ['brand', 'Your brand'],
    ['tax/profile', 'Tax'],
    ['invoice-profile', 'Invoices'],
    ['auth/mails', 'Mails about sales'],
  ] as const) {
    const address = `**/api/${path}`
    await page.route(address, (route) =>
      route.fulfill({ status: 500, contentType: 'application/problem+json', json: broken }),
    )
    await page.reload()
    const place = page.getByRole('region', { name: part, exact: true })
    await expect(place.getByRole('alert')).toBeVisible()
    await page.unroute(address)
    await place.getByRole('button', { name: 'Try again' }).click()
    await expect(place.getByRole('alert')).toHaveCount(0)
    await expect(
      place.getByRole('radio').or(place.getByRole('textbox')).or(place.getByRole('combobox')).first(),
    ).toBeEnabled()
  }
})

test.describe('in the light and in the dark', () => {
  test.use({ ...SIZES.phone, viewport: { width: 320, height: 640 } })
  test('axe finds nothing in the account, and it fits the smallest phone', async ({ page }) => {
    const look = async (what: string) => {
      await expectAccessible(page, what)
      await expectFits(page, what)
    }
    const at = new Date().toISOString()
    await page.route('**/api/auth/identities', async (route) => {
      const email = 'a.very.long.name.of.somebody@a-very-long-company-name.example.com'
      await route.fulfill({
        json: { items: [{ id: 'idn_1', issuer: 'https://login.example', email, linkedAt: at }] },
      })
    })
    await page.route('**/api/auth/identities/*', (route) =>
      route.fulfill({ status: 403, json: { code: 'recent_sign_in_required' } }),
    )
    await signUp(page, `a-very-long-address-${newSellerEmail()}`)
    await setPassword(page, PASSWORD)
    await page.goto('/account/?error=identity_taken')
    await expect(page.getByRole('alert')).toContainText('already linked to another account')
    await look('account')
    await page.getByRole('button', { name: 'Unlink' }).click()
    await expect(page.getByText(again)).toBeVisible()
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByLabel('New password').fill('short')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Change the address' }).click()
    await page.getByLabel('New e-mail address').fill('nobody')
    await page.keyboard.press('Enter')
    await look('forms, refused')
    await page.getByLabel('New e-mail address').fill(newSellerEmail())
    await page.keyboard.press('Enter')
    await expect(codeField(page)).toBeFocused()
    await look('code')
  })
})
