import type { Stripe } from 'stripe'
import { ApiRefusal } from '../api-refusal.ts'
import { type Deadline, ask, listed } from './client.ts'
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

/** All hosts of the account, those that are switched off too. */
export async function knownHosts(stripe: Stripe, until: () => Deadline): Promise<Map<string, { enabled: boolean }>> {
  const known = new Map<string, { enabled: boolean }>()
  for await (const one of listed(shapes.methodDomains, until, (page, sent) =>
    stripe.paymentMethodDomains.list(page, sent),
  ))
    known.set(one.domain_name, { enabled: one.enabled })
  return known
}

/** Registers those of the hosts that the account does not have. One that Stripe refuses does not stop the others. */
export async function registerHosts(stripe: Stripe, hosts: readonly string[], until: () => Deadline): Promise<void> {
  const known = await knownHosts(stripe, until)
  let refused: unknown
  for (const host of hosts.filter((one) => !known.has(one)))
    try {
      await ask(shapes.methodDomain, until(), (sent) => stripe.paymentMethodDomains.create({ domain_name: host }, sent))
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error
      refused = error
    }
  if (refused) throw refused
}
