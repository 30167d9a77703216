import { confirmInSandbox, ApiError, type Rail } from '../ui/api.ts'
import type { Outcome, PaymentForm } from './payment-form.ts'

/**
 * The sandbox behind the same port as the processors' forms. Its form is part of the page, and our own service is its
 * bank.
 */
export const sandboxPayment = (clientSecret: string, rail: Rail, scenario: string): PaymentForm => ({
  stays: false,
  async submit(sending) {
    sending()
    try {
      const { status } = await confirmInSandbox(clientSecret, rail, scenario)
      return { kind: status }
    } catch (error) {
      const trouble = error instanceof ApiError ? error : new ApiError({ code: 'unreachable' })
      return REFUSALS[trouble.code] ?? { kind: trouble.unknown ? 'unknown' : 'refused', trouble }
    }
  },
  destroy: () => {},
})

/** The first two mean that the money is taken or being taken: by another tab, or by a try whose answer was lost. */
const REFUSALS: Record<string, Outcome> = {
  payment_already_captured: { kind: 'captured' },
  payment_in_progress: { kind: 'processing' },
  payment_declined: { kind: 'declined' },
}
