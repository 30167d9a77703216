import type { Stripe } from 'stripe'
import { type Deadline, ask } from './client.ts'
import { shapes } from './entities.ts'

/**
 * Registers a host, so that wallets such as Apple Pay show in a payment form there
 * (https://docs.stripe.com/payments/payment-methods/pmd-registration). A host that is there already stays as it is: its owner may have
 * switched it off in the dashboard.
 */
export async function registerHost(stripe: Stripe, host: string, until: Deadline): Promise<void> {
  const known = await ask(shapes.methodDomains, until, (sent) =>
    stripe.paymentMethodDomains.list({ domain_name: host, limit: 1 }, sent),
  )
  if (known.data.some((one) => one.domain_name === host)) return
  await ask(shapes.methodDomain, until, (sent) => stripe.paymentMethodDomains.create({ domain_name: host }, sent))
}
