import type { APIRequestContext, Browser, BrowserContext } from '@playwright/test'
import { newEmail, type Status } from './buyer.ts'
import { BASE_URL, PRODUCT_ID, expect } from './fixtures.ts'
import { mailsTo } from './seller.ts'

/** The seller of the sandbox's products. */
const DEMO_SELLER = 'ann@demo.example'

export interface Bought {
  orderId: string
  email: string
}

/** An unpaid order, made by the payment page's request without the page. */
export async function order(
  request: APIRequestContext,
  email = newEmail(),
): Promise<Bought & { clientSecret: string }> {
  const made = await request.post(`${BASE_URL}/api/checkout`, { data: { productId: PRODUCT_ID, email } })
  expect(made.status()).toBe(201)
  const { orderId, clientSecret } = (await made.json()) as { orderId: string; clientSecret: string }
  return { orderId, email, clientSecret }
}

/** A paid order, made by the payment page's two requests. */
export async function buy(
  request: APIRequestContext,
  email = newEmail(),
  scenario = 'success',
): Promise<Bought & { clientSecret: string }> {
  const { orderId, clientSecret } = await order(request, email)
  const data = { clientSecret, rail: 'card', scenario }
  expect((await request.post(`${BASE_URL}/api/sandbox/confirm`, { data })).status()).toBe(200)
  await expect
    .poll(async () => {
      const query = new URLSearchParams({ email, sync: '1' })
      const answer = await request.get(`${BASE_URL}/api/checkout/${orderId}/status?${query}`)
      return ((await answer.json()) as Status).status
    })
    .toBe('paid')
  return { orderId, email, clientSecret }
}

/** The digits of the newest mail of this kind, once it is there. */
export async function codeIn(context: BrowserContext, email: string, subject: RegExp): Promise<string> {
  let code: string | undefined
  await expect
    .poll(async () => {
      const mails = await mailsTo(context, email, BASE_URL)
      code = /\d{6}/.exec(mails.find((mail) => subject.test(mail.subject))?.subject ?? '')?.[0]
      return code
    })
    .toBeDefined()
  return code!
}

/**
 * The cookies of the demo's seller. The seller signs in once, because tests would confuse the mails of several
 * sign-ins.
 */
export async function demoSeller(browser: Browser): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const context = await browser.newContext({ baseURL: BASE_URL })
  await expect(async () => {
    const before = (await mailsTo(context, DEMO_SELLER)).length
    await context.request.post('/api/auth/otp', { data: { email: DEMO_SELLER } })
    await expect.poll(async () => (await mailsTo(context, DEMO_SELLER)).length).toBeGreaterThan(before)
    const [mail] = await mailsTo(context, DEMO_SELLER)
    const code = /^\s*(\d{6})\s*$/m.exec(mail!.text)![1]
    const answer = await context.request.post('/api/auth/otp/verify', { data: { email: DEMO_SELLER, code } })
    expect(answer.status()).toBe(200)
  }).toPass()
  const state = await context.storageState()
  await context.close()
  return state
}
