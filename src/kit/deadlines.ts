/**
 * How long the service waits for others. No setting changes them: each was chosen beside the others, as a buyer who waits four
 * seconds for a processor needs it. They are parameters so that a test passes short ones instead of waiting.
 */
export interface Deadlines {
  /** One call of ours to a payment processor, with all its requests: a person waits for most of them. */
  readonly processorCallMs: number
  /** The processor's share of a status request with sync=1. */
  readonly syncBudgetMs: number
  /** One order is asked about once in this time, over all instances, however many requests have sync=1. */
  readonly syncPauseMs: number
  /** The processor's share of a notification: its sender waits five seconds for our answer at the least. */
  readonly webhookAskMs: number
  /** All requests to the identity provider of one start or one return. We promise five seconds, and have work of our own. */
  readonly identityProviderMs: number
  /** A mail server's silence: the queue tries again, so it need not wait the ten minutes of the library. */
  readonly smtpMs: number
  /** A small question to the store of files: it is answered at once, or a person waits in vain. */
  readonly storageQuestionMs: number
}

export const DEADLINES: Deadlines = Object.freeze({
  processorCallMs: 8_000,
  syncBudgetMs: 4_000,
  syncPauseMs: 3_000,
  webhookAskMs: 4_000,
  identityProviderMs: 3_000,
  smtpMs: 10_000,
  storageQuestionMs: 3_000,
})
