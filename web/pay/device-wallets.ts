import type { ProductView, Rail } from '../ui/api.ts'

/** Whether this device has a wallet, as far as the browser says it without asking anybody. */
export function hasWallet(rail: Rail): boolean {
  if (rail === 'apple_pay') return 'ApplePaySession' in window
  return rail === 'google_pay' && 'PaymentRequest' in window && !('ApplePaySession' in window)
}

/**
 * Whether the page keeps a place for a wallet's button from the beginning, so that nothing moves when it appears. An Android device
 * may have no card in its wallet, and only the processor's script finds that out.
 */
export const expectsWallet = ({ rails, payments }: ProductView): boolean =>
  rails.some((rail) => hasWallet(rail) && (payments.processor === 'sandbox' || rail === 'apple_pay'))
