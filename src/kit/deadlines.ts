/**
 * How long the service waits for other services. No setting changes these times, because they depend on each other. They are
 * parameters so that tests can pass short ones.
 */
export interface Deadlines {
  /** One call to a payment processor, with all its requests. A person waits for most calls. */
  readonly processorCallMs: number
  /** The processor's share of a status request with sync=1. */
  readonly syncBudgetMs: number
  /** The shortest time between two syncs of one order, over all instances and all requests with sync=1. */
  readonly syncPauseMs: number
  /** How long a status request with wait=1 waits for news of the payment. */
  readonly statusWaitMs: number
  /** The calls to the processor while we handle its notification. Processors wait at least five seconds for our answer. */
  readonly webhookAskMs: number
  /** All requests to the identity provider for one start or one return. We promise an answer in five seconds and have other work. */
  readonly identityProviderMs: number
  /** One try to deliver an event to a seller's endpoint: name, connection, request and answer. */
  readonly deliveryTryMs: number
  /** The connection to a mail server, and its greeting. */
  readonly smtpMs: number
  /**
   * One try to send a mail, with every silence of the server. A server may be silent for ten minutes after a mail's last dot (RFC 5321,
   * 4.5.3.2.6). If it accepts a mail after our try has ended, the next try delivers a copy. Each mail holds a connection, so we wait less.
   */
  readonly mailMs: number
  /** One small request to the S3 store, such as for a file's size. A person waits for it. */
  readonly storageQuestionMs: number
  /** How long an upload waits for its turn to keep a part on the local disk. Its client waits too, and tries again after the refusal. */
  readonly partTurnMs: number
  /** How long a client may take to send one part, because others wait for its turn. What has come until then is stored. */
  readonly partFillMs: number
}

export const DEADLINES: Deadlines = Object.freeze({
  processorCallMs: 8_000,
  syncBudgetMs: 4_000,
  syncPauseMs: 3_000,
  statusWaitMs: 2_000,
  webhookAskMs: 4_000,
  identityProviderMs: 3_000,
  deliveryTryMs: 15_000,
  smtpMs: 10_000,
  // shorter than a mail's job may run (MAIL_TRIES)
  mailMs: 40_000,
  storageQuestionMs: 3_000,
  partTurnMs: 30_000,
  partFillMs: 180_000,
})
