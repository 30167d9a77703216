import type { Look } from './payment-form.ts'

// The parts of Stripe's script that the page uses (https://docs.stripe.com/js).

declare global {
  interface Window {
    Stripe?: (key: string, options: object) => StripeScript
  }
}

export interface StripeScript {
  elements: (options: { appearance: object; loader: 'never' } & Record<string, unknown>) => StripeElements
  confirmPayment: (options: {
    elements: StripeElements
    clientSecret?: string
    confirmParams: { return_url: string; payment_method_data?: { billing_details: { email: string } } }
    redirect: 'if_required'
  }) => Promise<{ error?: StripeError; paymentIntent?: { status: string; next_action?: NextAction | null } }>
}

/** The details of the next step, under the name of its type. */
export type NextAction = { type: string } & Record<
  string,
  Partial<Record<`hosted_${string}_url`, string | null>> | undefined
>

export interface StripeElements {
  create: (type: 'payment' | 'expressCheckout', options: object) => StripeElement
  submit: () => Promise<{ error?: StripeError }>
  update: (options: object) => void
}

export interface StripeElement {
  mount: (place: HTMLElement) => void
  on: (
    event: 'ready' | 'loaderror' | 'change' | 'click' | 'confirm',
    listener: (event: {
      error: StripeError
      value?: { type: string }
      availablePaymentMethods?: Record<string, boolean>
      billingDetails?: { email?: string }
      resolve?: (details: object) => void
      paymentFailed?: (why: { reason: 'fail' }) => void
    }) => void,
  ) => void
  focus: () => void
  destroy: () => void
}

export interface StripeError {
  type: string
  message?: string
  payment_intent?: { status: string }
}

/** https://docs.stripe.com/elements/appearance-api */
export const appearanceOf = (look: Look) => ({
  theme: look.dark ? 'night' : 'stripe',
  variables: {
    fontFamily: look.font,
    fontSizeBase: '16px',
    borderRadius: look.radius,
    colorPrimary: look.accent,
    colorBackground: look.paper,
    colorText: look.ink,
    colorTextSecondary: look.soft,
    colorTextPlaceholder: look.soft,
    colorDanger: look.alarm,
  },
  rules: {
    '.AccordionItem': { borderColor: look.line, boxShadow: 'none' },
    '.Block': { borderColor: look.line, boxShadow: 'none' },
    '.Input': { borderColor: look.line, boxShadow: 'none' },
    '.Input:focus': { borderColor: look.accent, outline: `2px solid ${look.accent}`, boxShadow: 'none' },
    '.AccordionItem--selected': { backgroundColor: look.wash },
  },
})
