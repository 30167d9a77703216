import type { ApiError, Created, ProductView, Rail } from '../ui/api.ts'
import type { HowToPay } from './saved-checkout.ts'

// The port between the checkout and the part that takes the payment: the sandbox's scenarios, or the form that a processor's
// script draws. No card number and no other means of payment ever passes through it.

/**
 * The result of a press on the pay button, as far as the browser knows. Only the service knows whether the order is
 * paid.
 */
export type Outcome =
  /** The bank has approved it. */
  | { kind: 'captured' }
  /** The bank is working on it, for minutes or days. */
  | { kind: 'processing' }
  /** The buyer left the form, or has something else to do first: the service must ask the processor. */
  | { kind: 'left'; how?: HowToPay }
  /** No answer came: the money may have moved. */
  | { kind: 'unknown'; trouble?: ApiError }
  /** The bank declined it. */
  | { kind: 'declined'; message?: string }
  /** Something is missing in the form, and nothing was sent. */
  | { kind: 'invalid'; message?: string }
  /** The payment that was opened for this order takes no money any more. */
  | { kind: 'closed' }
  /** The service refused it. */
  | { kind: 'refused'; trouble: ApiError }

/** A form that is not complete. `left`: the buyer left it, or it did not answer. */
export type Fault = { kind: 'invalid' | 'left'; message?: string | undefined }

/** The payment of an order. */
export interface OrderToPay {
  orderId: string
  clientSecret: string
  publishableKey: string
  amount: number
  currency: string
  /** Empty when the page does not know the buyer's address. */
  email: string
  /** The address to which a bank sends the buyer back. */
  returnUrl: string
}

export interface MountedForm {
  /** The form must stay on the screen until the payment is sent, because the bank may ask the buyer something in it. */
  stays: boolean
  /** Finds the fault of the form. It sends nothing, and comes before the order. */
  check: () => Promise<Fault | undefined>
  /** Pays. The form calls `sending` before it sends anything that could move money. */
  submit: (order: OrderToPay, sending: () => void) => Promise<Outcome>
  /** The price has changed on the page. */
  update?: (due: Due) => void
  destroy: () => void
}

export interface PaymentForm extends MountedForm {
  /** Whether the form can pay this order: it is at the account, or for the payment, with which it was opened. */
  fits: (created: Created) => boolean
}

/** The buttons of the device's wallets, above everything else on the page. */
export interface Wallets {
  place: HTMLElement
  /** Whether this device has a wallet that can pay the price. */
  show: (are: boolean) => void
  /**
   * The buyer presses one. `knowsEmail`: the wallet can tell the buyer's address. Undefined: the page lacks something and says so, and
   * the wallet stays closed.
   */
  open: (knowsEmail: boolean) => { asksEmail: boolean } | undefined
  /** The buyer has confirmed: the page makes the order, and pays it by this form. False: nothing is taken. */
  confirm: (form: MountedForm, wallet: { email?: string | undefined; rail?: Rail }) => Promise<boolean>
}

/** The amount to pay, for a form that shows before there is a payment. */
export interface Due {
  /** In our minor units. */
  amount: number
  currency: string
  setup: FormSetup | undefined
}

export type FormSetup = NonNullable<ProductView['payments']['form']>

/** The details that a form gets before there is an order. */
export interface PlainParts {
  publishableKey: string
  /** The seller's connected account. */
  account: string | undefined
  /** The payment for which the form is opened. Undefined: the order is made when the buyer pays. */
  clientSecret: string | undefined
  due: Due
  /** Whether the page tells the form the buyer's address. Otherwise the form asks for it where it needs it. */
  knowsEmail: boolean
  seller: string
  product: string
  wallets: Wallets
  /** The names of the rails. */
  rails: string[]
  /** The language of the page. */
  language: string
  words: Record<'formWindow' | 'howToFinish', string>
  /** Present in a frame on another site: opens the page of the order in the whole window, for payment methods that need it. */
  leave?: (() => void) | undefined
}

/** All that a form needs. A form's code is loaded when the page shows the form. */
export interface FormParts extends PlainParts {
  /** Loads a processor's script from the processor's own host. */
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
  /** The accent of the light theme, for windows that have no dark theme. */
  brand: string
  wash: string
  alarm: string
}

/** Draws the form into its place. Resolves when the buyer can use it. */
export type MountForm = (place: HTMLElement, parts: FormParts) => Promise<MountedForm>
