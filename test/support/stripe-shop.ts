import type { TestContext } from 'node:test'
import type { Log } from '../../src/kit/log.ts'
import { type StripeServer, startStripeServer } from '../stand-ins/stripe-server.ts'
import { type Ends, startTestShop } from './shop.ts'
import { atEnd } from './ends.ts'
import { SEED } from './seed.ts'

export type StripeShop = Awaited<ReturnType<typeof startStripeShop>>

/**
 * A shop whose payments are Stripe's, and a server that speaks for Stripe and notifies the shop. Both end with the test. Some notifications
 * come twice, late or in another order, by the seed.
 */
export async function startStripeShop(
  t: Ends | TestContext,
  { env = {}, log }: { env?: Record<string, string>; log?: Log } = {},
) {
  const server = await startStripeServer({ seed: seedOf(t) })
  atEnd(t, server.close)
  const shop = await startTestShop(t, {
    env: { ...stripeSettings(server), ...env },
    ...(log && { log }),
  })
  server.knobs.webhookUrl = `${shop.url}/api/webhooks/stripe`
  return { shop, server, bank: server.bank }
}

let isSeedPrinted = false

/** Each test has draws of its own, whichever tests run beside it. */
function seedOf(t: Ends | TestContext): string {
  if (!isSeedPrinted) console.log(`Stripe's notifications come twice, late and in any order by TEST_SEED=${SEED}`)
  isSeedPrinted = true
  return `${SEED} ${'fullName' in t ? t.fullName : ''}`
}

export const stripeSettings = ({
  url,
  secretKey,
  webhookSecret,
}: Pick<StripeServer, 'url' | 'secretKey' | 'webhookSecret'>): Record<string, string> => ({
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_PUBLISHABLE_KEY: secretKey.replace('sk_', 'pk_'),
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_URL: url,
})

/** The payment that a client secret is of. */
export const intentOf = ({ clientSecret = '' }: { clientSecret?: string | undefined }): string =>
  clientSecret.split('_secret_')[0]!
