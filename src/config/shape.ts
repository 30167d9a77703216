import type { BackupConfig } from './backup.ts'
import type { IdpConfig } from './identity-provider.ts'
import type { Limits } from './limits.ts'
import type { PayoutsConfig } from './payouts.ts'
import type { ProcessorsConfig } from './processors.ts'
import type { RetentionConfig } from './retention.ts'
import type { StorageConfig } from './storage.ts'
import type { Reach } from '../kit/public-address.ts'
import type { TrustedProxy } from '../kit/peers.ts'
import type { Deadlines } from '../kit/deadlines.ts'

/** The settings, read once when the service starts. */
export interface Config extends BackupConfig, PayoutsConfig, ProcessorsConfig, RetentionConfig, StorageConfig {
  readonly port: number
  readonly host: string
  /** The public addresses of the API and the pages. Undefined: the address on which the service listens. */
  readonly baseUrl: string | undefined
  readonly appUrl: string | undefined
  /** The domain of the session cookie. Undefined: the API's own host. */
  readonly cookieDomain: string | undefined
  readonly isPublic: boolean
  /** A container or a local network can reach the demo, so the outbox needs its token. */
  readonly demoOnNetwork: boolean
  readonly dataDir: string
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined
  /** The largest file, and the quotas of a trusted and of an untrusted seller. 0 is no limit. */
  readonly uploads: { readonly maxBytes: number; readonly quotaBytes: number; readonly untrustedQuotaBytes: number }
  /** The first one signs. All of them verify. */
  readonly secrets: readonly string[]
  /** Approval: a new seller sells after the operator's approval. Closed: only existing sellers can sign in. */
  readonly signup: 'open' | 'approval' | 'closed'
  /** The mailboxes of the operators, in the form in which sellers' addresses are stored. */
  readonly operators: readonly string[]
  /** Undefined: no sign-in through an identity provider. */
  readonly idp: IdpConfig | undefined
  /** Undefined: the outbox page shows the mails. */
  readonly smtpUrl: string | undefined
  readonly mailFrom: string
  /** The most connections to the mail server for codes, and as many for all other mails. */
  readonly mailConnections: number
  readonly statementPrefix: string
  readonly orderTtlHours: { readonly instant: number; readonly bank: number }
  readonly limits: Limits
  readonly trustProxy: TrustedProxy
  /** The header, in small letters, in which our proxy names the visitor's country. Undefined: no proxy does. */
  readonly countryHeader: string | undefined
  /** The REST interface of VIES, the EU's register of VAT numbers. Undefined: it is not asked. */
  readonly viesUrl: string | undefined
  /** The token with which a scraper reads /metrics. Undefined: only this machine reads them, and no client if `isPublic`. */
  readonly metricsToken: string | undefined
  /** The service still answers requests for this long after SIGTERM, so that a proxy notices the end first. */
  readonly drainSeconds: number
  /** Not read from the environment. */
  readonly deadlines: Deadlines
  readonly logLevel: string
  readonly demo: boolean
  /** Whom the deliveries of webhooks may reach. */
  readonly webhookReach: Reach
  /** `npm start` started the service. npm forwards no signals. */
  readonly startedByNpm: boolean
}
