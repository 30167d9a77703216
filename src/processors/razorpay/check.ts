import type { AccountCheck } from '../account-check.ts'
import { type Credentials, type Visit, razorpayClient } from './client.ts'
import { shapes } from './entities.ts'
import { unlessRefused } from './errors.ts'

const UNAUTHORIZED = 401

/**
 * Reads one payment, and one transfer: an account without Route refuses the list. An account cannot read its own webhook addresses: that
 * list is only for partners and the accounts below them (https://razorpay.com/docs/api/partners/webhooks/fetch-all).
 */
export async function checkAccount(credentials: Credentials): Promise<AccountCheck> {
  const check: AccountCheck = { keyAccepted: true, lacks: [] }
  const visit = razorpayClient(credentials, ({ status, headers }) => {
    check.keyAccepted = status !== UNAUTHORIZED
    const time = Date.parse(headers['date'] ?? '')
    if (!Number.isNaN(time)) check.clock = new Date(time)
  })
  try {
    await visit().get(shapes.payments, '/v1/payments', { count: 1 })
    check.takesSellers = await hasRoute(visit())
  } catch (error) {
    if (check.keyAccepted) throw error
  }
  return check
}

const hasRoute = (ask: Visit): Promise<boolean> =>
  ask.get(shapes.transfers, '/v1/transfers', { count: 1 }).then(() => true, unlessRefused(false))
