import type { AccountCheck } from './account-check.ts'
import type { FormSetup } from './form-setup.ts'
import type { Rail } from './rails.ts'
import type {
  AccountPayout,
  FeeReturn,
  PayoutItem,
  SellerAccounts,
  TransferFact,
  WantedBack,
} from './seller-accounts.ts'

/** Money that arrived at the processor for a payment. */
export interface Capture {
  id: string
  amountMinor: number
  currency: string
  rail: Rail
  /** ISO 8601. */
  capturedAt: string
}

/**
 * Money that went back. A refund that is under way is not listed yet. `key` is our own refund id, when we asked for the refund.
 * `failed` means that the processor has the money again, or refused to send it. A refund can fail days after it succeeded.
 */
export interface RefundFact {
  id: string
  captureId: string
  amountMinor: number
  key?: string | undefined
  state?: 'failed' | undefined
  /** The processor makes it when this dispute is lost: then the refund and the loss are the same money. */
  disputeId?: string | undefined
}

export interface DisputeFact {
  id: string
  captureId: string
  amountMinor: number
  state: 'open' | 'won' | 'lost'
  /**
   * Of a lost dispute, the amount that is gone, when the processor reports it. The bank can give back money that was refunded
   * before, also later, so the amount can only shrink.
   */
  lostMinor?: number | undefined
  /** Until when the bank waits for an answer to an open dispute (ISO 8601), when the processor reports it. */
  respondBy?: string | undefined
}

/**
 * How a payment stands at its processor. Captures, refunds and disputes only ever grow in number, so a snapshot that arrives late
 * or twice adds nothing and takes nothing away.
 */
export interface PaymentSnapshot {
  processorPaymentId: string
  /** The order that the processor names. Settle never trusts it alone: our own record of the attempt decides. */
  orderId?: string | undefined
  state: 'open' | 'processing' | 'captured' | 'canceled'
  /** The rail of the try that is under way. */
  rail?: Rail | undefined
  /** The payment is open, and the buyer has days to pay it. */
  takesDays?: boolean | undefined
  /** The payment is open, and the bank waits for the buyer to confirm it, for example by 3-D Secure. The buyer may have left. */
  atBank?: boolean | undefined
  /** How many tries the bank has declined. */
  declines: number
  captures: Capture[]
  refunds: RefundFact[]
  /** Our keys of the refunds that the processor has accepted and not finished. Only the processor can end them. */
  refundKeysUnderWay?: string[] | undefined
  disputes: DisputeFact[]
  /** The processor's transfers of it to sellers' accounts, in any state. Absent: none. */
  transfers?: TransferFact[] | undefined
}

/**
 * After this many declines somebody is probably trying stolen cards, and the payment is closed. A buyer who mistypes, or whose account
 * is empty, needs fewer.
 */
export const MOST_DECLINES = 10

export interface StartPayment {
  /** The same key always starts the same payment. */
  key: string
  /** The payment that an earlier call started. The processor then returns that payment and makes no new one. */
  processorPaymentId?: string | undefined
  orderId: string
  amountMinor: number
  currency: string
  statementDescriptor: string
  /** Our fee of a payment at a seller's connected account. The processor takes it out of the payment and gives it to us. */
  feeMinor?: number | undefined
  /** The payment is at our account, and the processor passes this part of it on to the seller's account. */
  passOn?: { account: string; amountMinor: number } | undefined
  /**
   * Leaves out payment methods that cost nothing to begin and give the buyer days, such as vouchers: the order holds a use of a
   * limited discount code that other buyers wait for.
   */
  withoutVouchers?: boolean | undefined
}

export interface WantedRefund {
  /** The same key refunds once. */
  key: string
  processorPaymentId: string
  captureId: string
  amountMinor: number
  /** Our fee goes back too: the payment was no sale. */
  withFee?: boolean | undefined
}

/** The values with which a browser pays. */
export interface StartedPayment {
  processorPaymentId: string
  clientSecret: string
  publishableKey: string
  /** The seller's connected account, where the browser pays. */
  account?: string | undefined
}

export interface ProcessorEvent {
  id: string
  type: string
  /** How the payment stands, when the notification itself contains all of it. */
  payment?: PaymentSnapshot | undefined
  /** The payment to ask about, when the notification does not contain all of it. Without both, the event is not about a payment. */
  paymentId?: string | undefined
  /** The seller's connected account at which it happened. */
  account?: string | undefined
  /** The payment's data from the notification, in the processor's own format. It can save the adapter requests. */
  reported?: unknown
  /** The signature is right, but the adapter cannot read this form of notification. */
  isUnreadable?: boolean | undefined
  /** When it happened (ISO 8601). Present only in a list that is sorted by this time. */
  at?: string | undefined
  /** The backfill found it in the processor's list. Otherwise a notification brought it. */
  isBackfilled?: boolean | undefined
}

/** Money that moved at the processor, for the reconciliation. */
export interface MoneyMovement {
  /** A transfer counts with the part that is still passed on. */
  kind: 'capture' | 'refund' | 'dispute' | 'transfer'
  id: string
  processorPaymentId: string
  /** The order that the list names. Null: it names none. Absent: only the payment itself can say. */
  orderId?: string | null | undefined
  amountMinor: number
  currency: string
  /** ISO 8601. */
  at: string
}

/** A paid payment, as the service has stored it. */
export interface StoredPayment {
  orderId: string
  captureIds: readonly string[]
  /** The account to which its processor passes the price on. */
  payee: string | null
  /** The processor's transfers for the order, as far as they are known. */
  transferIds: readonly string[]
}

/** Finds a payment that the service has stored. Undefined: it has no money of ours. */
export type FindStored = (processor: string, processorPaymentId: string) => Promise<StoredPayment | undefined>

/**
 * The port of a payment processor. The adapter limits the time of each call. A call fails with a ProcessorUnavailable.
 */
export interface Processor {
  readonly name: string
  /** Whether the processor takes a currency at all. Without this method it takes the currencies that have a rail. */
  takes?(currency: string): boolean
  /** The rails for a currency, as far as we know them. It makes no request. */
  rails(currency: string): Rail[]
  startPayment(payment: StartPayment): Promise<StartedPayment>
  /** How the form shows before there is a payment, with the same payment methods. Undefined: not at all. It makes no request. */
  formSetup?(payment: Pick<StartPayment, 'currency' | 'withoutVouchers'>): FormSetup | undefined
  /**
   * `reported` comes from a genuine notification about this payment. It is older than an answer, so only its final facts count. With
   * `needsTransfers` it fails where the processor does not say what it has passed on. Without it, the snapshot then names no transfers,
   * as where there are none.
   */
  fetchPayment(
    processorPaymentId: string,
    reported?: unknown,
    options?: { needsTransfers?: boolean },
  ): Promise<PaymentSnapshot>
  /** Ends a payment that no order needs any more. Captured money stays captured, and the snapshot shows it. */
  cancelPayment(processorPaymentId: string): Promise<PaymentSnapshot>
  /** An error is `answered` only when the processor refused this refund and will not make it later. */
  refund(refund: WantedRefund): Promise<PaymentSnapshot>
  /**
   * Takes back passed-on money until sellers' accounts keep at most `leaveMinor`. It reads before it writes, so a repeat takes
   * nothing twice; two calls at once could. With `waits` it fails while a transfer is still under way.
   */
  takeBack?(wanted: WantedBack): Promise<PaymentSnapshot>
  /** The header with the signature of a notification, and the form that every such signature has. */
  readonly signature: { header: string; form: RegExp }
  /** Checks the signature over the raw body, and the age. Returns undefined unless the notification is genuine and fresh. */
  verifyEvent(rawBody: Buffer, headers: Record<string, string | string[] | undefined>): ProcessorEvent | undefined
  /**
   * Past events since a moment, oldest first. The backfill reads them after the service was down. `onPage` is awaited after each page
   * that is read before the first event: all of these together can take long.
   */
  eventsSince?(since: Date, onPage?: () => Promise<void>): AsyncIterable<ProcessorEvent>
  /** For how many days the processor keeps its events. */
  readonly eventsDays?: number
  /** The same processor at a seller's connected account. Its name has the account (`connectedName`). */
  connected?(account: string): Processor
  /** At a seller's connected account: returns a part of our fee. */
  returnFee?(fee: FeeReturn): Promise<void>
  /** At a seller's connected account: the payouts to the seller's bank since a moment, newest first. */
  payoutsSince?(since: Date): AsyncIterable<AccountPayout>
  payoutItems?(payoutId: string): AsyncIterable<PayoutItem>
  /** The accounts of sellers at this processor. */
  readonly accounts?: SellerAccounts
  /** All money that moved in [from, to), for the nightly reconciliation. */
  movements?(from: Date, to: Date): AsyncIterable<MoneyMovement>
  /** The payment methods that the account offers now, by the processor's names. Undefined: the answer names none. */
  fetchMethods?(): Promise<readonly string[] | undefined>
  /** Lets wallets show in a payment form on a host. A repeat changes nothing. */
  registerHost?(host: string): Promise<void>
  /** The same for many hosts, with few requests where most are there already. */
  registerHosts?(hosts: readonly string[]): Promise<void>
  /** Checks the account and its key, for the person who sets up the service. */
  check?(): Promise<AccountCheck>
}
