import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { newId } from '../../src/kit/ids.ts'
import { ProcessorUnavailable } from '../../src/processors/refusals.ts'
import { razorpayProcessor } from '../../src/processors/razorpay/razorpay.ts'
import { type RazorpayOptions, startRazorpayServer } from '../stand-ins/razorpay-server.ts'
import { atEnd } from './ends.ts'

export const ACCOUNT: RazorpayOptions = {
  keyId: 'rzp_test_1DP5mmOlF5G5ag',
  keySecret: 'thiskeyisasecret',
  webhookSecret: 'the webhook’s secret',
}
export const RUPEES = 49_900

/** An account, a server that speaks for it, and the adapter in front of it. */
export async function startRazorpay(t: TestContext, { webhookSecrets = [ACCOUNT.webhookSecret] } = {}) {
  const bank = await startRazorpayServer(ACCOUNT)
  atEnd(t, () => bank.close())
  const { keyId, keySecret } = ACCOUNT
  const adapter = (more: { callMs?: number } = {}) =>
    razorpayProcessor({ keyId, keySecret, webhookSecrets, apiUrl: bank.url, ...more })
  const processor = adapter()
  const begin = async (amountMinor = RUPEES) =>
    (await processor.startPayment(attempt({ amountMinor }))).processorPaymentId
  return { bank, processor, begin, adapter }
}

export const attempt = (different: object = {}) => ({
  key: newId('pay'),
  orderId: newId('ord'),
  amountMinor: RUPEES,
  currency: 'INR',
  statementDescriptor: 'TILL BOOK',
  ...different,
})

export const unavailable = (work: Promise<unknown>) => assert.rejects(work, ProcessorUnavailable)
