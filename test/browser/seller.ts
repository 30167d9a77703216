import { randomUUID } from 'node:crypto'
import type { BrowserContext, Page } from '@playwright/test'
import { expect } from './fixtures.ts'

export const PASSWORD = 'marble kettle orbit 47'

/** An address that no other test uses. */
export const newSellerEmail = (): string => `seller-${randomUUID().slice(0, 8)}@example.com`

export const codeField = (page: Page) => page.getByRole('textbox', { name: 'Code', exact: true })

interface Mail {
  subject: string
  text: string
}

/** The mails to an address, newest first. */
export async function mailsTo(context: BrowserContext, email: string, api = ''): Promise<Mail[]> {
  const answer = await context.request.get(`${api}/api/outbox?${new URLSearchParams({ to: email })}`)
  return (await answer.json()) as Mail[]
}

/** The code of the `count`th mail with a code. */
export async function codeFor(page: Page, email: string, count = 1, api = ''): Promise<string> {
  let codes: string[] = []
  await expect
    .poll(async () => {
      const mails = await mailsTo(page.context(), email, api)
      codes = mails.flatMap(({ text }) => /^\s*(\d{6})\s*$/m.exec(text)?.[1] ?? [])
      return codes.length
    })
    .toBe(count)
  return codes[0]!
}

export async function askCode(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(codeField(page)).toBeFocused()
}

/** A new account, with its account page open. */
export async function signUp(page: Page, email = newSellerEmail()): Promise<string> {
  await page.goto('/sign-in/')
  await askCode(page, email)
  await codeField(page).fill(await codeFor(page, email))
  await expectAccount(page, email)
  return email
}

/** From now on the service does what this address is asked for by POST, and its answers never arrive. */
export const loseAnswers = (page: Page, address: string): Promise<unknown> =>
  page.route(address, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    await route.abort()
  })

/** Signed in as this seller: the account page shows the name. */
export async function expectAccount(page: Page, email: string): Promise<void> {
  await expect(page).toHaveURL(/\/(shop|account)\/(#.*)?$/)
  if (page.url().includes('/shop/')) await page.goto('/account/')
  await expect(page.getByText(`Signed in as ${email}`)).toBeVisible()
}

export async function setPassword(page: Page, password = PASSWORD): Promise<void> {
  await page.getByRole('button', { name: 'Set a password' }).click()
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Set the password' }).click()
  await expect(page.getByText('Your password is set.')).toBeVisible()
}

export async function signInByPassword(page: Page, email: string, password = PASSWORD): Promise<void> {
  const other = page.getByRole('button', { name: 'Use a password instead' })
  const field = page.getByLabel('Password', { exact: true })
  await expect(other.or(field)).toBeVisible()
  if (await other.isVisible()) await other.click()
  await page.getByLabel('E-mail').fill(email)
  await field.fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
