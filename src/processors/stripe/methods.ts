import type { Stripe } from 'stripe'
import { listed, newDeadline } from './client.ts'
import { shapes } from './entities.ts'

/**
 * Reads the account's default configuration and returns the payment methods that are switched on in the dashboard and activated
 * (https://docs.stripe.com/api/payment_method_configurations/object, `available`). Undefined when Stripe lists none.
 */
export async function fetchMethods(stripe: Stripe): Promise<readonly string[] | undefined> {
  const until = newDeadline()
  const configurations = listed(
    shapes.methodConfigurations,
    () => until,
    (page, sent) => stripe.paymentMethodConfigurations.list(page, sent),
  )
  for await (const { active, is_default: isDefault, parent, ...ways } of configurations) {
    // a configuration with a parent is for the connected accounts of a platform
    if (!active || !isDefault || parent) continue
    const available = Object.entries(ways).flatMap(([way, value]) => (isAvailable(value) ? [way] : []))
    if (available.length > 0) return available
  }
  return undefined
}

const isAvailable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'available' in value && value.available === true
