import type { AccountCheck } from '../account-check.ts'
import { isRefusal } from '../api-refusal.ts'
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
  let isUnauthorized = false
  const visit = razorpayClient(credentials, ({ status, headers }) => {
    isUnauthorized = status === UNAUTHORIZED
    const time = Date.parse(headers['date'] ?? '')
    if (!Number.isNaN(time)) check.clock = new Date(time)
  })
  try {
    await visit().get(shapes.payments, '/v1/payments', { count: 1 })
    check.takesSellers = await hasRoute(visit())
  } catch (error) {
    // a proxy on the way can answer 401 too, and says nothing about the key
    if (!isUnauthorized || !isRefusal(error, 'key_refused')) throw error
    check.keyAccepted = false
  }
  return check
}

const hasRoute = (ask: Visit): Promise<boolean> =>
  ask.get(shapes.transfers, '/v1/transfers', { count: 1 }).then(() => true, unlessRefused(false))
