import type { Db } from '../kit/database.ts'
import type { Deadlines } from '../kit/deadlines.ts'
import type { Server } from '../kit/http.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import type { Log } from '../kit/log.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Limit } from '../kit/limits.ts'
import { newSigner } from '../kit/signing.ts'
import { type PaymentSettings, modeOfPayments } from '../processors/settings.ts'
import { accountRoutes } from './account-routes.ts'
import { codeSender } from './codes.ts'
import { sellerCookies } from './cookies.ts'
import { type Browsers, type SignInLimits, browsers as browsersOf } from './guard.ts'
import { identityRoutes } from './identity-routes.ts'
import { keysOf } from './keys/caller.ts'
import { sweepKeys } from './keys/keys.ts'
import { keyRoutes } from './keys/routes.ts'
import { sweepActivity } from './keys/uses.ts'
import { sendSellerMails } from './mails.ts'
import type { Processor } from '../processors/processor.ts'
import type { IdentityProvider, ProviderSettings } from './provider-port.ts'
import { providerRoutes } from './provider-routes.ts'
import { signInRoutes } from './routes.ts'
import { registerAllSites } from './all-sites.ts'
import { registerSiteHosts } from './site-hosts.ts'
import { siteRoutes } from './site-routes.ts'
import type { Signup, SignupOf } from './sellers.ts'
import { sweepSessions } from './sessions.ts'

interface SellersParts {
  db: Db
  jobs: Jobs
  mailer: Mailer
  codeMailer: Mailer
  processors: ReadonlyMap<string, Processor>
  config: {
    secrets: readonly string[]
    signup: Signup
    operators: readonly string[]
    limits: SignInLimits & { key?: Limit; key_secret?: Limit; site?: Limit; support_address?: Limit }
    cookieDomain: string | undefined
    idp: ProviderSettings | undefined
    deadlines: Pick<Deadlines, 'identityProviderMs'>
  } & PaymentSettings
  baseUrl: string
  appUrl: string
  log: Log
}

/** Registers the sellers' routes and jobs. Returns how other slices learn which seller a browser belongs to. */
export async function registerSellers(server: Server, parts: SellersParts): Promise<Browsers> {
  const { db, jobs, mailer, codeMailer, config, baseUrl, appUrl } = parts
  const { secrets, signup, operators, limits } = config
  const signupOf: SignupOf = (email) => (operators.includes(email) ? 'open' : signup)
  const mode = modeOfPayments(config)
  const keys = keysOf(db, { mode, limit: limits.key })
  const cookies = sellerCookies({ baseUrl, cookieDomain: config.cookieDomain })
  const browsers = browsersOf({ db, cookies, known: newSigner(secrets, 'known browser'), keys })
  const sendCode = codeSender(db, jobs, secrets, limits)
  const shared = { db, jobs, cookies, browsers, limits }
  signInRoutes(server, { ...shared, sendCode, secrets, signupOf })
  accountRoutes(server, { ...shared, sendCode, secrets, supportLimit: limits.support_address })
  await registerSiteHosts(jobs, { processors: parts.processors, appUrl })
  await registerAllSites(jobs, { db, processors: parts.processors, appUrl })
  siteRoutes(server, { ...shared, limit: limits.site })
  keyRoutes(server, { db, jobs, browsers, mode, secretLimit: limits.key_secret })

  const provider = await providerOf(parts)
  const attemptSigner = newSigner(secrets, 'provider attempt')
  providerRoutes(server, { ...shared, sendCode, signupOf, appUrl, provider, attemptSigner })
  identityRoutes(server, { ...shared, provider, attemptSigner })

  await sendSellerMails(jobs, { db, mailer, codeMailer, secrets, signupOf, appUrl })
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_sessions', () => sweepSessions(db))
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_keys', async () => {
    await sweepKeys(db)
    await sweepActivity(db)
  })
  return browsers
}

/** Loads the client of the identity provider only where one is configured. */
async function providerOf({ config, baseUrl, log }: SellersParts): Promise<IdentityProvider | undefined> {
  if (!config.idp) return undefined
  const { identityProvider } = await import('./provider.ts')
  return identityProvider(config.idp, `${baseUrl}/api/auth/idp/callback`, log, config.deadlines)
}
