import assert from 'node:assert/strict'
import type pg from 'pg'
import type { RazorpayServer } from '../stand-ins/razorpay-server.ts'
import type { StripeServer } from '../stand-ins/stripe-server.ts'
import { BUSINESS } from '../support/route-shop.ts'
import { type Answer, eventually } from '../support/shop.ts'
import type { Way } from './ways.ts'

interface Parts {
  way: Way
  client: pg.Pool
  stripe: StripeServer
  razorpay: RazorpayServer
  sellerId: () => string
  callAsSeller: (method: string, address: string, body?: unknown) => Promise<Answer>
  /** Runs a scheduled job now. */
  runJob: (queue: string) => Promise<void>
}

export type SellerAccount = ReturnType<typeof sellerAccount>

/** The seller's own account at the processor that pays sellers. */
export function sellerAccount({ way, client, stripe, razorpay, sellerId, callAsSeller, runJob }: Parts) {
  const own = {
    /** As the service knows it: an account that has ended is none. */
    async id(): Promise<string | undefined> {
      const { rows } = await client.query<{ account: string }>(
        `select account from connected_accounts where seller_id = $1 and account is not null and ended_at is null`,
        [sellerId()],
      )
      return rows[0]?.account
    },

    /** The seller asks for an account, or for the way into it. */
    async open(): Promise<Answer> {
      await client.query(`update sessions set created_at = now() where seller_id = $1`, [sellerId()])
      return way === 'stripe-connect'
        ? callAsSeller('POST', '/api/payouts/account')
        : callAsSeller('PUT', '/api/payouts/account', BUSINESS)
    },

    /** The service reads all accounts, and the payouts from them. */
    async read(): Promise<void> {
      await client.query(`update connected_accounts set due_at = now()`)
      await runJob('read_accounts')
    },

    /** Every account takes payments, and the service knows it. */
    async calm(): Promise<void> {
      if (way === 'manual') return
      if (way === 'stripe-connect') for (const { id } of stripe.connect.accounts) stripe.connect.restore(id)
      else razorpay.route.transfersBecome = 'processed'
      await activate()
      if (await sells()) return
      await own.read()
      if ((await own.id()) === undefined) await open()
      await activate()
      await eventually(
        async () => {
          await own.read()
          return sells()
        },
        (isSelling) => isSelling,
      )
    },
  }
  return own

  async function open(): Promise<void> {
    const { status, body } = await own.open()
    assert.equal(status, 200, JSON.stringify(body))
  }

  /** The processor takes payments for all accounts. */
  function activate(): void {
    for (const { id, charges_enabled: charges, payouts_enabled: payouts } of stripe.connect.accounts)
      if (!charges || !payouts) stripe.connect.stand(id, 'active')
    for (const { account_id: id, activation_status: status } of razorpay.route.products.values())
      if (status !== 'activated') razorpay.route.stand(id, 'activated')
  }

  async function sells(): Promise<boolean> {
    const { rows } = await client.query<{ awaits: boolean }>(
      `select awaits_account as awaits from sellers where id = $1`,
      [sellerId()],
    )
    return !rows[0]!.awaits
  }
}
