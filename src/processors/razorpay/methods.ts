import type { Visit } from './client.ts'
import { shapes } from './entities.ts'
import { METHOD_NAMES } from './rails.ts'

/**
 * Reads the methods that are on for the account (https://razorpay.com/docs/api/payments/payment-methods). Each payment method is a
 * boolean, or a list of banks or wallets by name, which is empty when it is off. The request has the key's id and no secret.
 */
export async function fetchMethods(ask: Visit): Promise<readonly string[] | undefined> {
  const methods: Record<string, unknown> = { ...(await ask.getPublic(shapes.methods, '/v1/methods')) }
  const isOn = (value: unknown): boolean =>
    value === true ||
    value === 1 ||
    (shapes.fields.Check(value) && Object.values(value).some((one) => one !== false && one !== 0))
  // Razorpay does not tell every account its kinds of cards
  methods.debit_card ??= methods.card
  const ways = METHOD_NAMES.filter((way) => isOn(methods[way]))
  return ways.length > 0 ? ways : undefined
}
