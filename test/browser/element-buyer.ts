import type { Page } from '@playwright/test'
import type { Wire } from '../stand-ins/stripe-bank.ts'
import { fillIn, makeOrder, newEmail, payButton } from './buyer.ts'
import { test as base, expect } from './fixtures.ts'
import { STRIPE, type StripeStandIn, meetStripe, startStripe } from './stripe-stand-in.ts'

export { expect }
export const CARD = '4242 4242 4242 4242'
export const DECLINED = '4000 0000 0000 0002'
export const CHALLENGED = '4000 0000 0000 3220'
export const REDIRECTED = '4000 0084 0000 1629'
export const BROKEN = '4000 0000 0000 0119'
/** The first start makes a database cluster. */
const START_MS = 300_000

/**
 * A shop with payments by Stripe, shared by the tests of a worker, and the stand-in for Stripe in each test's browser.
 */
export const test = base.extend<{ stripe: Awaited<ReturnType<typeof meetStripe>> }, { shop: StripeStandIn }>({
  shop: [
    // oxlint-disable-next-line no-empty-pattern -- so Playwright reads which fixtures are needed
    async ({}, use) => {
      const shop = await startStripe()
      await use(shop)
      await shop.stop()
    },
    { scope: 'worker', timeout: START_MS },
  ],
  stripe: [
    async ({ context, watch, shop }, use) => {
      for (const origin of [shop.url, ...STRIPE]) watch.allow(origin)
      shop.server.knobs.notify = 'now'
      await use(await meetStripe(context, shop))
      for (const { id, metadata } of shop.bank.paymentIntents) {
        const paid = shop.bank.charges.filter((one) => one['payment_intent'] === id && one['status'] === 'succeeded')
        expect(paid.length, metadata.order_id).toBeLessThanOrEqual(1)
      }
    },
    { auto: true },
  ],
})

export const form = (page: Page) => page.frameLocator('iframe[title="Secure payment input frame"]')
export const bankPage = (page: Page) => page.frameLocator('iframe[title="3D Secure"]')

/** Waits for the form first, which takes no text before it is ready. */
export async function fill(page: Page, number: string): Promise<void> {
  await expectForm(page)
  await form(page).getByLabel('Card number').fill(number)
}

/** The form before there is an order. */
export async function toForm(page: Page, shop: StripeStandIn): Promise<{ email: string }> {
  const filled = await fillIn(page, newEmail(), shop.demoUrl)
  await expectForm(page)
  return filled
}

/** The form for an order of an earlier visit. */
export async function toOrder(page: Page, shop: StripeStandIn): Promise<{ email: string; orderId: string }> {
  const made = await makeOrder(page, newEmail(), shop.demoUrl)
  await expectForm(page)
  return made
}

const expectForm = (page: Page) => expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'ready')

export async function payBy(page: Page, number: string): Promise<void> {
  await fill(page, number)
  await press(page)
}

/**
 * After the page has scrolled, the browser may still send the mouse to the form's frame, where the button is now. So the press waits
 * until the button has received a movement of the mouse.
 */
export async function press(page: Page, how: 'click' | 'dblclick' = 'click'): Promise<void> {
  const button = payButton(page)
  const received = await button.evaluateHandle((element) => {
    const seen = { movement: false }
    element.addEventListener('mousemove', () => (seen.movement = true), { once: true })
    return seen
  })
  const move = async () => {
    await button.hover()
    return received.evaluate(({ movement }) => movement)
  }
  await expect.poll(move, { message: 'the button receives the mouse' }).toBe(true)
  await button[how]()
}

/** The bank's record of an order. */
export const intentOf = ({ bank }: StripeStandIn, orderId: string): Wire =>
  bank.paymentIntents.find(({ metadata }) => metadata.order_id === orderId)!

export const paidIntents = ({ bank }: StripeStandIn, orderId: string): Wire[] =>
  bank.paymentIntents.filter(({ metadata, status }) => metadata.order_id === orderId && status === 'succeeded')
