import type { Due, FormParts, MountForm, OrderToPay, Outcome } from './payment-form.ts'
import {
  appearanceOf,
  type NextAction,
  type StripeElements,
  type StripeError,
  type StripeScript,
} from './stripe-script.ts'
import { mountWallets } from './stripe-wallets.ts'

/**
 * Stripe wants the script loaded from its own host, and from the release whose API the server speaks
 * (https://docs.stripe.com/sdks/stripejs-versioning). The server speaks the API version that the `stripe` package pins:
 * when an update of the package moves to a release with another name, change the name here too.
 */
const SCRIPT = 'https://js.stripe.com/endive/stripe.js'

/** Where Stripe's form has another name for a language, or none: https://docs.stripe.com/js/appendix/supported_locales */
const LOCALES: Record<string, string> = { 'zh-Hans': 'zh', hi: 'auto' }

async function openStripe(parts: FormParts): Promise<StripeScript> {
  await parts.load(SCRIPT)
  if (!window.Stripe) throw new Error('the script has brought no form')
  return window.Stripe(parts.publishableKey, {
    locale: LOCALES[parts.language] ?? parts.language,
    ...(parts.account && { stripeAccount: parts.account }),
    developerTools: { assistant: { enabled: false } },
  })
}

/**
 * Stripe's Payment Element: https://docs.stripe.com/js/element/payment_element. It shows before there is a payment, and
 * the payment has to agree with the data that the form got: https://docs.stripe.com/payments/accept-a-payment-deferred
 */
export const mount: MountForm = async (place, parts) => {
  const stripe = await openStripe(parts)
  const newGroup = () =>
    stripe.elements({
      ...(parts.clientSecret ? { clientSecret: parts.clientSecret } : { mode: 'payment', ...dueOf(parts.due) }),
      appearance: appearanceOf(parts.look()),
      loader: 'never',
    })
  const elements = newGroup()
  const element = elements.create('payment', {
    layout: { type: 'accordion', defaultCollapsed: false, radios: 'if_multiple', spacedAccordionItems: false },
    ...(parts.knowsEmail && { fields: { billingDetails: { email: 'never' } } }),
    business: { name: parts.seller },
    // They have buttons of their own above.
    wallets: { applePay: 'never', googlePay: 'never' },
  })
  let chosen = 'card'
  const leavesFrame = () => parts.leave && !STAYS.has(chosen)
  element.on('change', ({ value }) => (chosen = value?.type ?? chosen))
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const groups = [elements]
  const update = (options: object) => groups.forEach((group) => group.update(options))
  const recolour = () => update({ appearance: appearanceOf(parts.look()) })
  let closeWallets = () => {}
  const destroy = () => {
    dark.removeEventListener('change', recolour)
    element.destroy()
    closeWallets()
  }
  try {
    // A group of their own: the buyer's input in the form does not matter to a wallet.
    const walletGroup = newGroup()
    closeWallets = mountWallets(walletGroup, parts, (order) => confirm({ stripe, parts }, walletGroup, order))
    groups.push(walletGroup)
  } catch {
    // The form pays without them too.
    parts.wallets.show(false)
  }
  try {
    await new Promise<void>((ready, fail) => {
      element.on('ready', () => ready())
      element.on('loaderror', ({ error }) => fail(new Error(error.message)))
      element.mount(place)
    })
  } catch (error) {
    destroy()
    throw error
  }
  dark.addEventListener('change', recolour)
  return {
    stays: true,
    async check() {
      if (leavesFrame()) return undefined
      const { error: missing } = await elements.submit()
      if (!missing) return undefined
      if (missing.type !== 'validation_error') return { kind: 'left' }
      // The fields show their faults themselves.
      element.focus()
      return { kind: 'invalid', message: missing.message }
    },
    update: (due) => void (parts.clientSecret || update(dueOf(due))),
    async submit(order, sending) {
      // The bank's page takes the whole window. From there the buyer comes back to our page, not to the site around the frame.
      if (leavesFrame()) return leaveFrame(parts.leave!)
      sending()
      return confirm({ stripe, parts }, elements, order)
    },
    destroy,
  }
}

/** Pays with the buyer's input in a group. */
async function confirm(
  { stripe, parts }: { stripe: StripeScript; parts: FormParts },
  group: StripeElements,
  { clientSecret, email, returnUrl }: OrderToPay,
): Promise<Outcome> {
  const { error, paymentIntent } = await stripe.confirmPayment({
    elements: group,
    ...(!parts.clientSecret && { clientSecret }),
    confirmParams: {
      return_url: returnUrl,
      // Without an address of ours, Stripe's form asks for one where it needs it.
      ...(email && { payment_method_data: { billing_details: { email } } }),
    },
    // All other methods answer here, without leaving the page.
    redirect: 'if_required',
  })
  return error
    ? outcomeOf(error)
    : (STATES[paymentIntent?.status ?? ''] ?? leftBehind(paymentIntent?.next_action, parts.words.howToFinish))
}

const dueOf = ({ amount, currency, setup }: Due) => ({
  // Half a unit of Stripe's cannot be paid, and the service says so when it makes the order.
  amount: Math.max(1, Math.round(amount * (setup?.unitsPerMinor ?? 1))),
  currency: currency.toLowerCase(),
  ...(setup?.allowedMethods && { allowedPaymentMethodTypes: setup.allowedMethods }),
  ...(setup?.excludedMethods && { excludedPaymentMethodTypes: setup.excludedMethods }),
})

/** The payment methods that never lead to another page: https://docs.stripe.com/payments/payment-methods/payment-method-support */
const STAYS = new Set(
  'card link apple_pay google_pay us_bank_account sepa_debit bacs_debit au_becs_debit acss_debit boleto oxxo konbini wechat_pay paynow promptpay customer_balance'.split(
    ' ',
  ),
)

/** The whole window goes to another page, so no answer follows. */
function leaveFrame(leave: () => void): Promise<Outcome> {
  leave()
  return new Promise(() => {})
}

/**
 * https://docs.stripe.com/payments/paymentintents/lifecycle. In every other state the buyer still has something to do.
 */
const STATES: Record<string, Outcome> = {
  succeeded: { kind: 'captured' },
  processing: { kind: 'processing' },
  canceled: { kind: 'closed' },
  requires_payment_method: { kind: 'declined' },
}

/** Stripe shows a voucher, or the steps for a small verification deposit, once and then closes it. */
function leftBehind(next: NextAction | null | undefined, message: string): Outcome {
  const { hosted_voucher_url, hosted_instructions_url, hosted_verification_url } = next?.[next.type] ?? {}
  const link = hosted_voucher_url ?? hosted_instructions_url ?? hosted_verification_url
  if (!link?.startsWith('https:')) return { kind: 'left' }
  return {
    kind: 'left',
    how: { message, link },
  }
}

/** The state of the payment counts more than the error of the request: another tab may have paid it. */
function outcomeOf({ type, message, payment_intent: payment }: StripeError): Outcome {
  if (type === 'validation_error') return { kind: 'invalid', ...(message && { message }) }
  const state = STATES[payment?.status ?? '']
  if (state && state.kind !== 'declined') return state
  // These messages are written for buyers, in their language.
  if (type === 'card_error') return { kind: 'declined', ...(message && { message }) }
  return state ?? { kind: 'unknown' }
}
