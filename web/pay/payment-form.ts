import type { ApiError } from '../ui/api.ts'
import type { HowToPay } from './saved-checkout.ts'

// The port between the checkout and whatever takes the payment: the sandbox's choice of scenarios, or a form that a payment
// processor's own script draws. No card number, nor anything else to pay with, ever passes through it.

/** What came of a press on the pay button, as far as the browser knows. Whether the order is paid only the service says. */
export type Outcome =
  /** The bank has said yes. */
  | { kind: 'captured' }
  /** The bank is at work on it, for minutes or days. */
  | { kind: 'processing' }
  /** The buyer has left the form, or has something else to do first: the service is asked what there is. */
  | { kind: 'left'; how?: HowToPay }
  /** No answer came: the money may have moved. */
  | { kind: 'unknown'; trouble?: ApiError }
  /** The bank said no. */
  | { kind: 'declined'; message?: string }
  /** Something is missing in the form, and nothing was sent. */
  | { kind: 'invalid'; message?: string }
  /** What was opened for this order takes no money any more. */
  | { kind: 'closed' }
  /** The service refused it. */
  | { kind: 'refused'; trouble: ApiError }

export interface PaymentForm {
  /** Has to stay on the screen until the payment is sent: the bank may ask the buyer something in it. */
  stays: boolean
  /** Pays. `sending` is called before anything leaves that could move money. */
  submit: (sending: () => void) => Promise<Outcome>
  destroy: () => void
}

/** What a form is told of the payment. */
export interface PlainParts {
  clientSecret: string
  publishableKey: string
  amount: number
  currency: string
  email: string
  seller: string
  product: string
  /** The ways to pay, by their names. */
  rails: string[]
  /** Where a bank sends the buyer back to. */
  returnUrl: string
}

/** All that a form needs. It is loaded on its own and shares no code with the page. */
export interface FormParts extends PlainParts {
  /** Loads a processor's script from where the processor serves it. */
  load: (address: string) => Promise<void>
  look: () => Look
}

/** How the page looks at the moment, with colours as `#rrggbb`. */
export interface Look {
  dark: boolean
  font: string
  radius: string
  paper: string
  ink: string
  soft: string
  line: string
  accent: string
  /** The accent on light ground, for windows that have no dark. */
  brand: string
  wash: string
  alarm: string
}

/** Draws the form into its place, and is done when the buyer can use it. */
export type MountForm = (place: HTMLElement, parts: FormParts) => Promise<PaymentForm>
