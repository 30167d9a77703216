import type { AccountCheck } from '../account-check.ts'
import { type Credentials, razorpayClient } from './client.ts'
import { shapes } from './entities.ts'

const UNAUTHORIZED = 401

/**
 * Reads one payment. An account cannot read its own webhook addresses: that list is only for partners and the accounts below them
 * (https://razorpay.com/docs/api/partners/webhooks/fetch-all).
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
  } catch (error) {
    if (check.keyAccepted) throw error
  }
  return check
}
