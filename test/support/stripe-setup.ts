import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { StartPayment } from '../../src/processors/processor.ts'
import { ProcessorUnavailable } from '../../src/processors/refusals.ts'
import { type StripeOptions, stripeProcessor } from '../../src/processors/stripe/stripe.ts'
import { type StripeServer, startStripeServer } from '../stand-ins/stripe-server.ts'
import { atEnd } from './ends.ts'

let made = 0
/** A number that no test has had. */
export const next = (): number => ++made

/** A checkout's request, with the changes of `differently`. */
export const payment = (differently: Partial<StartPayment> = {}): StartPayment => ({
  key: `pay_${next()}`,
  orderId: `ord_${made}`,
  amountMinor: 1900,
  currency: 'USD',
  statementDescriptor: 'TILL* A BOOK',
  ...differently,
})

export const adapter = (server: StripeServer, differently: Partial<StripeOptions> = {}) =>
  stripeProcessor({
    secretKey: server.secretKey,
    publishableKey: server.secretKey.replace('sk_', 'pk_'),
    webhookSecrets: [server.webhookSecret],
    apiUrl: server.url,
    statementPrefix: 'TILL',
    ...differently,
  })

/** A server of its own for a test, and the adapter that asks it. */
export async function setUp(t: TestContext, differently: Partial<StripeOptions> = {}) {
  const server = await startStripeServer()
  atEnd(t, server.close)
  const stripe = adapter(server, differently)
  const start = async (more: Partial<StartPayment> = {}) =>
    (await stripe.startPayment(payment(more))).processorPaymentId
  const paid = async (more: Partial<StartPayment> = {}) => {
    const id = await start(more)
    server.bank.confirm(id)
    const { captures } = await stripe.fetchPayment(id)
    return { id, captureId: captures[0]!.id }
  }
  return { server, bank: server.bank, stripe, start, paid }
}

/** The one way to fail, without a secret in it. */
export const unavailable = (error: unknown) => {
  assert(error instanceof ProcessorUnavailable, String(error))
  assert.doesNotMatch(`${error.message} ${error.stack}`, /sk_test_till|whsec_/)
  return true
}

export const posts = ({ calls }: StripeServer, path = '/v1/payment_intents') =>
  calls.filter((call) => call.method === 'POST' && call.path === path)
