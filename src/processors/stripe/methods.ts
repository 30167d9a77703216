import type { Stripe } from 'stripe'
import { listed, newDeadline } from './client.ts'
import { shapes } from './entities.ts'

/**
 * The ways of paying of the account's own default configuration that Stripe would offer now: switched on in the dashboard, and
 * activated (https://docs.stripe.com/api/payment_method_configurations/object, `available`). Undefined where none is told.
 */
export async function fetchMethods(stripe: Stripe): Promise<readonly string[] | undefined> {
  const until = newDeadline()
  const configurations = listed(
    shapes.methodConfigurations,
    () => until,
    (page, sent) => stripe.paymentMethodConfigurations.list(page, sent),
  )
  for await (const { active, is_default: isDefault, parent, ...ways } of configurations) {
    // what has a parent is for the accounts below a platform's
    if (!active || !isDefault || parent) continue
    const available = Object.entries(ways).flatMap(([way, value]) => (isAvailable(value) ? [way] : []))
    if (available.length > 0) return available
  }
  return undefined
}

const isAvailable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'available' in value && value.available === true
