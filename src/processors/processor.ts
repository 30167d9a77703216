import type { Rail } from './rails.ts'

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
 * Money that went back; absent while it is on its way. `key` is our own refund id, where it was us who asked. `failed`: it is
 * with the processor again, or never left: also days after it was told as done, and for what was refused for good.
 */
export interface RefundFact {
  id: string
  captureId: string
  amountMinor: number
  key?: string | undefined
  state?: 'failed' | undefined
}

export interface DisputeFact {
  id: string
  captureId: string
  amountMinor: number
  state: 'open' | 'won' | 'lost'
  /** Of a lost one: what is gone, where the processor tells. Of what was refunded before, a bank can let go, also later: it only becomes less. */
  lostMinor?: number | undefined
}

/**
 * What a processor says of a payment. Captures, refunds and disputes are facts that only grow, so an old snapshot that
 * arrives late, or one that arrives twice, adds nothing and takes nothing away.
 */
export interface PaymentSnapshot {
  processorPaymentId: string
  /** The order the processor believes it is for. Never trusted alone: our own record of whom we started it for decides. */
  orderId?: string | undefined
  state: 'open' | 'processing' | 'captured' | 'canceled'
  /** The rail of an attempt that is under way. */
  rail?: Rail | undefined
  /** Open, and the buyer has been given days to pay it. */
  takesDays?: boolean | undefined
  /** Open, and the bank asks the buyer to confirm, such as by 3-D Secure; also where the buyer has left. */
  atBank?: boolean | undefined
  /** How many tries the bank has declined. */
  declines: number
  captures: Capture[]
  refunds: RefundFact[]
  /** Our keys of refunds that it has and that have not ended: only its own word ends them. */
  refundKeysUnderWay?: string[] | undefined
  disputes: DisputeFact[]
}

/**
 * After so many declines somebody is probably trying stolen cards, and the payment is closed. A buyer who mistypes, or whose account
 * is empty, needs fewer.
 */
export const MOST_DECLINES = 10

export interface StartPayment {
  /** The same key always starts the same payment. */
  key: string
  /** Where it was started before, and the processor has told: that payment is found again, and none is made. */
  processorPaymentId?: string | undefined
  orderId: string
  amountMinor: number
  currency: string
  statementDescriptor: string
  /**
   * By no way that gives the buyer days to pay and costs nothing to begin, such as a voucher: the order holds what other buyers
   * wait for.
   */
  withoutVouchers?: boolean | undefined
}

/** What a browser needs to pay. */
export interface StartedPayment {
  processorPaymentId: string
  clientSecret: string
  publishableKey: string
}

export interface ProcessorEvent {
  id: string
  type: string
  /** How the payment stands, where the notification itself is the whole truth of its moment. */
  payment?: PaymentSnapshot | undefined
  /** Which payment to ask about, where it is not. Without either it is not about a payment. */
  paymentId?: string | undefined
  /** What it said of that payment, in the processor's own words: less may have to be asked about then. */
  told?: unknown
  /** When it happened (ISO 8601), where a list is told in that order: all that happened before it was told before it. */
  at?: string | undefined
}

/** Money that moved at the processor, for the check that our books say the same. */
export interface MoneyMovement {
  kind: 'capture' | 'refund' | 'dispute'
  id: string
  processorPaymentId: string
  /** The order it claims to be for, null where it claims none; absent where the list does not tell, and the payment itself does. */
  orderId?: string | null | undefined
  amountMinor: number
  currency: string
  /** ISO 8601. */
  at: string
}

/** Where a processor notifies somebody of what happens in our account. */
export interface NotificationAddress {
  url: string
  enabled: boolean
  /** What we need to be told of, and this address is not. */
  missingTypes: string[]
}

/** What a processor says of our account. Asking moves no money. */
export interface AccountCheck {
  /** False: it does not know the key. */
  keyAccepted: boolean
  /** What we need to read and this key may not, by the processor's names. */
  lacks: string[]
  /** Undefined: its interface, or the key, does not tell. */
  addresses?: NotificationAddress[] | undefined
  /** What the account puts before each suffix on a card's statement; empty where it has nothing. Undefined: it does not tell. */
  statementPrefix?: string | undefined
  /** Each way of paying that our settings list, and why a payment by it cannot be started, where it cannot. */
  methods?: { name: string; refused?: Said | undefined }[] | undefined
  /** Its clock, when it answered. */
  clock?: Date | undefined
}

/**
 * What we need of a payment processor. Calls are limited in time by the adapter and fail with a ProcessorUnavailable.
 */
export interface Processor {
  readonly name: string
  /** Whether it takes a currency at all. Left out: where it offers a rail. */
  takes?(currency: string): boolean
  /** The rails it offers for a currency, as far as is known: asks nobody. */
  rails(currency: string): Rail[]
  startPayment(payment: StartPayment): Promise<StartedPayment>
  /** `told` is of a genuine notification about this payment. It is older than an answer, and counts for what cannot change. */
  fetchPayment(processorPaymentId: string, told?: unknown): Promise<PaymentSnapshot>
  /** Ends a payment nobody waits for any more. What is captured stays captured: the snapshot tells. */
  cancelPayment(processorPaymentId: string): Promise<PaymentSnapshot>
  /** The same key refunds once. Fails as `answered` only where it said no to this refund, and nothing can come of it any more. */
  refund(refund: {
    key: string
    processorPaymentId: string
    captureId: string
    amountMinor: number
  }): Promise<PaymentSnapshot>
  /** The header that carries the signature of a notification, and what it looks like whatever the secret. */
  readonly signature: { header: string; form: RegExp }
  /** Checks signature and age over the raw body; undefined when it is not a genuine, fresh notification. */
  verifyEvent(rawBody: Buffer, headers: Record<string, string | string[] | undefined>): ProcessorEvent | undefined
  /** Notifications since a moment, oldest first, for a shop that was down. */
  eventsSince?(since: Date): AsyncIterable<ProcessorEvent>
  /** How many days of them it keeps: of what happened before, it tells nothing. */
  readonly eventsDays?: number
  /** All money that moved in [from, to), for the nightly reconciliation. */
  movements?(from: Date, to: Date): AsyncIterable<MoneyMovement>
  /** The ways of paying that the account offers now, by the processor's names. Undefined: it says nothing that could be believed. */
  fetchMethods?(): Promise<readonly string[] | undefined>
  /** Whether the account and its key are as they should be, for who sets the service up. */
  check?(): Promise<AccountCheck>
}

/** A processor's "no", as far as a log and an operator may have it: nothing of a person, and nothing that we sent. */
export interface Said {
  status: number
  /** In the processor's words. */
  code: string | undefined
  /** The name of what it did not like. */
  parameter: string | undefined
  /** By which its support finds the request. */
  requestId: string | undefined
}

/** Only what can be a name: a processor's text could repeat what it was sent. */
export const nameOnly = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w.[\]:-]{1,100}$/.test(value) ? value : undefined

/** What was asked for was not done, and may be later. */
export class ProcessorUnavailable extends Error {
  /** The processor is there, and has said no: not an outage. */
  readonly answered: boolean = false
  /** When it makes sense to ask again, where that is known. */
  readonly retryAfterSeconds: number | undefined
  /** What it answered, where it did. */
  readonly said: Said | undefined
  constructor(
    message: string,
    { retryAfterSeconds, said, ...more }: { retryAfterSeconds?: number; said?: Said | undefined; cause?: unknown } = {},
  ) {
    super(message, more)
    this.retryAfterSeconds = retryAfterSeconds
    this.said = said
  }
}

/** A "no" that is the processor's own answer. */
export class ProcessorRefused extends ProcessorUnavailable {
  override readonly answered: boolean = true
}

/** It cannot take this amount or currency, now or later: another one is needed, not another try. */
export class AmountNotTaken extends ProcessorRefused {}

/** It starts no such payment, now or at the next try: the account, the key or our settings have to change first. */
export class PaymentRefused extends ProcessorRefused {}

/** It knows no such payment: another account's, or another mode's. */
export class PaymentUnknown extends ProcessorRefused {}

/** The payment that was begun before takes no money any more. */
export class PaymentClosed extends ProcessorRefused {}

/** It refunds nothing of this payment any more, since a bank has taken a part of it back: in the processor's own words, and for good. */
export class ChargedBack extends ProcessorRefused {}

/** The refund was taken, and how the payment stands since then could not be read. */
export class RefundTaken extends ProcessorUnavailable {}

/** For `catch`, on what is read after a refund was taken. */
export function refundTaken(cause: unknown): never {
  throw new RefundTaken('the refund was taken, and nothing could be read of it', { cause })
}
