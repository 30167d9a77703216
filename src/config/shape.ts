import type { IdpConfig } from './identity-provider.ts'
import type { Limits } from './limits.ts'
import type { ProcessorsConfig } from './processors.ts'
import type { StorageConfig } from './storage.ts'
import type { TrustedProxy } from '../kit/settings.ts'
import type { Deadlines } from '../kit/deadlines.ts'

/** The settings, read once at the start. */
export interface Config extends ProcessorsConfig, StorageConfig {
  readonly port: number
  readonly host: string
  /** Where the API and the pages are reached. Absent: at the address the service comes to listen on. */
  readonly baseUrl: string | undefined
  readonly appUrl: string | undefined
  /** What the session cookie is scoped to. Absent: the API's own host. */
  readonly cookieDomain: string | undefined
  readonly isPublic: boolean
  /** A demo that a container or a local network reaches: the outbox asks for its token there. */
  readonly demoOnNetwork: boolean
  readonly dataDir: string
  /** Absent: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined
  /** The largest file, and how much a seller may keep here in all, trusted by the operator and not: 0 is no limit. */
  readonly uploads: { readonly maxBytes: number; readonly quotaBytes: number; readonly untrustedQuotaBytes: number }
  /** The first signs, all verify. */
  readonly secrets: readonly string[]
  /** Closed: only who is a seller already can sign in. */
  readonly signup: 'open' | 'closed'
  /** Absent: there is no sign-in through an identity provider. */
  readonly idp: IdpConfig | undefined
  /** Absent: mails are kept for the outbox page. */
  readonly smtpUrl: string | undefined
  readonly mailFrom: string
  /** To the mail server, at most: so many for codes, and as many for all else. */
  readonly mailConnections: number
  readonly statementPrefix: string
  readonly orderTtlHours: { readonly instant: number; readonly bank: number }
  readonly limits: Limits
  readonly trustProxy: TrustedProxy
  /** What a scraper of /metrics proves that it may. Absent: only this machine reads them, and no machine where `isPublic`. */
  readonly metricsToken: string | undefined
  /** How long the service serves on after SIGTERM, so that a proxy in front notices first. */
  readonly drainSeconds: number
  /** Not read from the environment. */
  readonly deadlines: Deadlines
  readonly logLevel: string
  readonly demo: boolean
  /** Started by `npm start`, which passes no signals on. */
  readonly startedByNpm: boolean
}
