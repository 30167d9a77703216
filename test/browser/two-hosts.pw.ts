import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from '@playwright/test'
import { ANN, BEN, startIdentityProvider, type TestIdentityProvider } from '../stand-ins/identity-provider.ts'
import { quietPort } from '../support/quiet-port.ts'
import { expect, test } from './fixtures.ts'
import {
  PASSWORD,
  askCode,
  codeField,
  codeFor,
  expectAccount,
  newSellerEmail,
  setPassword,
  signInByPassword,
} from './seller.ts'
import { startService, type Service } from './service.ts'

const LABEL = 'Example Works'
const CLEO = { id: 'cleo', name: 'Cleo', email: 'cleo@idp.test', emailVerified: true }

// One service for all of these: its pages on one host, its API on another, and a provider beside them.
test.describe.configure({ mode: 'default' })

let browser: Browser
let service: Service
let provider: TestIdentityProvider
let stranger: Server
let app: string
let api: string
let context: BrowserContext
let page: Page

test.beforeAll(async ({ playwright }, testInfo) => {
  const port = await quietPort()
  app = `http://app.till.localhost:${port}`
  api = `http://api.till.localhost:${port}`
  provider = await startIdentityProvider({ redirectUris: [`${api}/api/auth/idp/callback`], people: [ANN, BEN, CLEO] })
  stranger = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html>'),
  )
  await new Promise<void>((resolve) => void stranger.listen(0, '127.0.0.1', resolve))
  service = await startService({
    PORT: String(port),
    BASE_URL: api,
    APP_URL: app,
    COOKIE_DOMAIN: 'till.localhost',
    IDP_ISSUER: provider.issuer,
    IDP_CLIENT_ID: provider.clientId,
    IDP_CLIENT_SECRET: provider.clientSecret,
    IDP_LABEL: LABEL,
  })
  browser = await playwright.chromium.launch({
    ...testInfo.project.use.launchOptions,
    args: ['--host-resolver-rules=MAP *.till.localhost 127.0.0.1'],
  })
})

test.afterAll(async () => {
  await browser?.close()
  await Promise.all([service?.stop(), provider?.close()])
  stranger?.close()
})

test.beforeEach(async ({ watch }) => {
  context = await browser.newContext({ baseURL: app })
  watch.follow(context)
  for (const url of [app, api, provider.issuer]) watch.allow(new URL(url).origin)
  page = await context.newPage()
})

test.afterEach(() => context.close())

/** The outbox is on the API's host. Only the browser can resolve our host names. */
const codeIn = (email: string, count = 1) => codeFor(page, email, count, api.replace('api.till.localhost', '127.0.0.1'))

async function signUp(email = newSellerEmail()): Promise<string> {
  await page.goto('/sign-in/')
  await askCode(page, email)
  await codeField(page).fill(await codeIn(email))
  await expectAccount(page, email)
  return email
}

/** At the provider. */
const sayWho = (name: string) => page.getByRole('button', { name }).click()
async function throughProvider(returnTo = '/account/'): Promise<void> {
  await page.goto(`/sign-in/?${new URLSearchParams({ returnTo })}`)
  await page.getByRole('link', { name: `Continue with ${LABEL}` }).click()
}

test('over two hosts: in by code, by password, and out; the cookie belongs to both and no script sees it', async () => {
  const email = await signUp()
  const cookie = (await context.cookies(api)).find(({ name }) => name === 'till_session')
  expect(cookie).toMatchObject({ domain: '.till.localhost', httpOnly: true, sameSite: 'Lax', path: '/' })
  expect(await page.evaluate(() => document.cookie)).toBe('')
  await page.getByLabel('Your name, or your shop’s').fill('Ann')
  await page.getByRole('button', { name: 'Save the name' }).click()
  await expect(page.getByText('Saved.')).toBeVisible()
  await setPassword(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()
  expect((await context.cookies(api)).some(({ name }) => name === 'till_session')).toBe(false)
  await signInByPassword(page, email, PASSWORD)
  await expectAccount(page, email)
  await page.reload()
  await expectAccount(page, email)
})

test('a page on another host, a sibling too, reads nothing from the API and changes nothing', async ({ watch }) => {
  const email = await signUp()
  const { port } = stranger.address() as AddressInfo
  for (const host of ['evil.till.localhost', '127.0.0.1']) watch.allow(`http://${host}:${port}`)
  watch.expect(/^Access to fetch at '.*' has been blocked by CORS policy/)
  const answered: string[] = []
  page.on('response', (response) => {
    const method = response.request().method()
    if (response.url().startsWith(`${api}/api/`) && method !== 'OPTIONS')
      answered.push(`${method} ${response.status()}`)
  })
  // The cookie belongs to the whole domain, so a sibling host's requests carry it. Only the Origin tells them apart.
  for (const place of [`http://evil.till.localhost:${port}/`, `http://127.0.0.1:${port}/`, `${api}/pricing/`]) {
    await page.goto(place)
    const got = await page.evaluate(attack, api)
    if (place.startsWith(api)) expect(got.filter((one) => !one.startsWith('GET') && !one.endsWith(' 403'))).toEqual([])
    else expect(got.filter((one) => !/ (nothing|0)$/.test(one))).toEqual([])
  }
  // No preflight stopped these requests, so the service itself refused them.
  expect(answered.filter((one) => one.startsWith('POST')).length).toBeGreaterThan(5)
  expect(answered.filter((one) => !one.startsWith('GET') && !one.endsWith(' 403'))).toEqual([])

  await page.goto('/account/')
  await expectAccount(page, email)
  await expect(page.getByLabel('Your name, or your shop’s')).toHaveValue('')
  await expect(page.getByText('You have no password.')).toBeVisible()
})

/** Every kind of request that a script can send with another person's session. Runs in the page. */
function attack(base: string): Promise<string[]> {
  const attempt = (path: string, init: RequestInit = {}) =>
    fetch(`${base}/api/auth/${path}`, { credentials: 'include', ...init }).then(
      ({ status }) => `${init.method ?? 'GET'} ${path} ${status}`,
      () => `${init.method ?? 'GET'} ${path} nothing`,
    )
  const body = '{"name":"Mallory","email":"mallory@example.com","newPassword":"mallory was here 1"}'
  const json = { 'content-type': 'application/json' }
  return Promise.all([
    attempt('session'),
    attempt('sessions'),
    attempt('session', { method: 'DELETE' }),
    attempt('sessions', { method: 'DELETE' }),
    attempt('seller', { method: 'PATCH', body, headers: json }),
    attempt('password', { method: 'PUT', body, headers: json }),
    attempt('email', { method: 'POST', body, headers: json }),
    attempt('email', { method: 'POST', body, headers: { 'content-type': 'text/plain' } }),
    attempt('email', { method: 'POST', body, mode: 'no-cors' }),
    attempt('identities', { method: 'POST', body: '{}', mode: 'no-cors' }),
  ])
}

test('a person whom the provider has verified is signed in at once, on the requested page', async () => {
  await throughProvider('/pricing/')
  await sayWho(ANN.name)
  await expect(page).toHaveURL(`${app}/pricing/`)
  await page.goto('/account/')
  await expectAccount(page, ANN.email!)
  await expect(page.locator('#sessions')).toContainText(`Signed in with ${LABEL}`)
  await expect(page.locator('#identities')).toContainText(ANN.email!)
})

test('a person whom the provider has not verified confirms the mailbox by a code, and is linked then', async () => {
  await throughProvider('/pricing/')
  await sayWho(BEN.name)
  await expect(page.getByText(`${LABEL} does not vouch for this address, or`)).toBeVisible()
  await expect(page.getByText(BEN.email!)).toBeVisible()
  await page.reload()
  await codeField(page).fill(await codeIn(BEN.email!))
  await expect(page).toHaveURL(`${app}/pricing/`)
  await page.goto('/account/')
  await expectAccount(page, BEN.email!)
  await expect(page.locator('#identities li')).toHaveCount(1)
})

test('a person who refuses at the provider sees that, and has the other ways', async () => {
  await throughProvider('/pricing/')
  await sayWho('Refuse')
  await expect(page.getByRole('alert')).toContainText(`Signing in with ${LABEL} was cancelled.`)
  await expect(page).toHaveURL(`${app}/sign-in/?returnTo=%2Fpricing%2F`)
  await askCode(page, newSellerEmail())
})

test('an account at the provider is linked and unlinked while signed in, and never to two sellers', async () => {
  const email = await signUp()
  const link = page.getByRole('button', { name: `Link ${LABEL}` })
  await link.click()
  await sayWho('Refuse')
  await expect(page.getByRole('alert')).toContainText('was cancelled')
  await expect(page).toHaveURL(`${app}/account/`)
  await expectAccount(page, email)

  await link.click()
  await sayWho(CLEO.name)
  await expectAccount(page, email)
  await expect(page.locator('#identities li')).toContainText('cleo@idp.test')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()

  await signUp()
  await link.click()
  await sayWho(CLEO.name)
  await expect(page.getByRole('alert')).toContainText('already linked to another account')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()

  await throughProvider()
  await sayWho(CLEO.name)
  await expectAccount(page, email)
  await page.getByRole('button', { name: 'Unlink cleo@idp.test' }).click()
  await expect(page.getByText('Unlinked. You sign in with a code or your password now.')).toBeVisible()
  await expect(link).toBeVisible()
})

test('over two hosts: a charge is found by a code, and its cookie goes to the API’s host alone', async () => {
  const email = newSellerEmail()
  const local = api.replace('api.till.localhost', '127.0.0.1')
  const productId = new URL(service.demoUrl).searchParams.get('product')!
  const order = await context.request.post(`${local}/api/checkout`, { data: { productId, email } })
  expect(order.status()).toBe(201)
  await page.goto('/charge/')
  await page.getByLabel('Statement text').fill('TILL THE QUIET SHOP')
  await askCode(page, email)
  const cookie = (await context.cookies(`${api}/api/charges/verify`)).find(({ name }) => name === 'till_charge_code')
  expect(cookie).toMatchObject({ domain: 'api.till.localhost', httpOnly: true, sameSite: 'Strict', path: '/' })
  expect((await context.cookies(app)).map(({ name }) => name)).toEqual([])
  await codeField(page).fill(await codeIn(email))
  await expect(page.getByRole('listitem').filter({ hasText: 'TILL* THE QUIET SHOP' })).toBeVisible()
})
