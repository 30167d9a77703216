import {
  AuthorizationResponseError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type IDToken,
  type ServerMetadata,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { DEADLINES } from '../kit/deadlines.ts'
import { EMAIL_LONGEST, EMAIL_PATTERN, canonicalEmail } from '../kit/email.ts'
import type { Log } from '../kit/log.ts'
import {
  type Attempt,
  type FaultCode,
  type IdentityProvider,
  ProviderFault,
  type ProviderSettings,
  type ProvenIdentity,
} from './provider-port.ts'
import { type Exchange, beginExchange, isLoopbackHttp } from './provider-exchange.ts'

const METADATA_TTL_MS = 3_600_000
/** For this time after an answer we take the provider to be reachable, so that most sign-ins start without asking it. */
const REACHABLE_TTL_MS = 10_000
/** How long we do not ask again a second host that has never answered us. */
const ONLY_FOR_BROWSERS_TTL_MS = 3_600_000
/** The statuses of a proxy when the provider behind it is down. */
const PROXY_ERRORS = new Set([502, 503, 504])
const CLOCK_TOLERANCE_SECONDS = 30
const EMAIL = new RegExp(EMAIL_PATTERN)
/** The standard allows at most 255 ASCII characters (OpenID Connect Core, 2). */
const SUBJECT = /^[\x20-\x7e]{1,255}$/

/**
 * The client of any OpenID Connect provider: authorization code flow with PKCE. Both calls end soon after `identityProviderMs`, whatever
 * the provider does, and throw nothing but a ProviderFault.
 */
export function identityProvider(
  settings: ProviderSettings,
  redirectUri: string,
  log: Log,
  {
    reachableTtlMs = REACHABLE_TTL_MS,
    onlyForBrowsersTtlMs = ONLY_FOR_BROWSERS_TTL_MS,
    identityProviderMs = DEADLINES.identityProviderMs,
  } = {},
): IdentityProvider {
  const { clientId, clientSecret, authMethod } = settings
  const issuer = new URL(settings.issuer)
  const isLocal = isLoopbackHttp(issuer)
  const authentication =
    authMethod === 'client_secret_basic' ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret)
  let cached: { metadata: ServerMetadata; readAt: number } | undefined
  let reading: Promise<ServerMetadata> | undefined
  const answeredAt = new Map<string, number>()
  const onlyForBrowsersSince = new Map<string, number>()

  async function metadata(): Promise<ServerMetadata> {
    if (cached && performance.now() - cached.readAt < METADATA_TTL_MS) return cached.metadata
    return newMetadata()
  }

  /** Simultaneous calls share one reading. */
  function newMetadata(): Promise<ServerMetadata> {
    reading ??= guarded('discovery', readMetadata).finally(() => (reading = undefined))
    return reading
  }

  async function readMetadata({ fetch }: Exchange): Promise<ServerMetadata> {
    const found = await discovery(issuer, clientId, {}, authentication, {
      execute: isLocal ? [allowInsecureRequests] : [],
      [customFetch]: fetch,
    })
    const metadata = found.serverMetadata()
    // for some well-known providers the library accepts another issuer, which is one for all of their tenants
    if (new URL(metadata.issuer).href !== issuer.href) throw new ProviderFault('idp_unavailable')
    cached = { metadata, readAt: performance.now() }
    answeredAt.set(issuer.origin, performance.now())
    return metadata
  }

  /**
   * The browser goes to the provider's page, and cannot come back from an address that does not answer. So we first check that the
   * provider answers. At the issuer's host we read its metadata, because a proxy may lead only to the provider's own paths and answer 502
   * at all others. Of another host we know no path, so there any answer at `/` counts, except a proxy's error. Throws when none comes.
   */
  async function reach(page: URL, exchange: Exchange): Promise<void> {
    const last = answeredAt.get(page.origin)
    if (last !== undefined && performance.now() - last < reachableTtlMs) return
    if (page.origin === issuer.origin) return void (await newMetadata())
    const since = onlyForBrowsersSince.get(page.origin)
    if (since !== undefined && performance.now() - since < onlyForBrowsersTtlMs) return
    const head = { method: 'HEAD', redirect: 'manual', headers: {}, body: undefined } as const
    const answer = await exchange.fetch(`${page.origin}/`, head).catch((error: unknown) => {
      if (last !== undefined) throw error
    })
    // a second host that has never answered us may be one that only browsers can reach. We ask it again later, because it may only have been slow
    if (!answer) return void onlyForBrowsersSince.set(page.origin, performance.now())
    if (PROXY_ERRORS.has(answer.status)) throw new ProviderFault('idp_unavailable')
    answeredAt.set(page.origin, performance.now())
  }

  /** Makes a new configuration each time, because it caches the key set, and we need the provider's newest keys. */
  async function configure({ fetch }: Exchange): Promise<Configuration> {
    const client = { [clockTolerance]: CLOCK_TOLERANCE_SECONDS }
    const configuration = new Configuration(await metadata(), clientId, client, authentication)
    configuration[customFetch] = fetch
    // otherwise the library trusts the connection in the code flow, and does not check the token's signature
    enableNonRepudiationChecks(configuration)
    if (isLocal) allowInsecureRequests(configuration)
    return configuration
  }

  async function start(exchange: Exchange, again = false): Promise<{ url: string; attempt: Attempt }> {
    const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
    const url = buildAuthorizationUrl(await configure(exchange), {
      redirect_uri: redirectUri,
      scope: 'openid email',
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      // not also `prompt=login`, which some providers refuse
      ...(again && { max_age: '0' }),
    })
    await reach(url, exchange)
    return { url: url.href, attempt }
  }

  async function finish(exchange: Exchange, callbackUrl: URL, attempt: Attempt): Promise<ProvenIdentity> {
    const returned = new URL(redirectUri)
    returned.search = callbackUrl.search
    const configuration = await configure(exchange)
    const tokens = await authorizationCodeGrant(configuration, returned, {
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      pkceCodeVerifier: attempt.verifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (!claims || !isForUs(claims, clientId)) throw new ProviderFault('idp_failed')
    const mailbox = await mailboxOf(configuration, tokens.access_token, claims)
    return { issuer: claims.iss, subject: claims.sub, ...mailbox, signedInAt: signedInAt(claims) }
  }

  /** Some providers name the address in the id_token, and say only in userinfo whether it is verified. */
  async function mailboxOf(configuration: Configuration, accessToken: string, claims: IDToken): Promise<Mailbox> {
    const own = mailboxIn(claims)
    if (!configuration.serverMetadata().userinfo_endpoint) return own
    const read = async () => mailboxIn(await fetchUserInfo(configuration, accessToken, claims.sub))
    if (claims.email === undefined) return read()
    if (claims.email_verified !== undefined || own.email === undefined) return own
    try {
      const { email, emailVerified } = await read()
      // userinfo vouches only for the address that it names
      return email === own.email ? { email, emailVerified } : own
    } catch (error) {
      // userinfo named another person
      if ((error as { code?: unknown }).code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') throw error
      // the id_token has already proved the person, who then needs a code
      log.warn(
        { step: 'userinfo', ...namesOf(error) },
        'the identity provider did not say whether the mailbox is verified',
      )
      return own
    }
  }

  async function guarded<T>(step: string, work: (exchange: Exchange) => Promise<T>): Promise<T> {
    const exchange = beginExchange(identityProviderMs)
    try {
      return await work(exchange)
    } catch (error) {
      const code = step === 'finish' ? faultCode(error, exchange) : 'idp_unavailable'
      const isAnswer = code === 'idp_refused'
      if (!isAnswer) cached = undefined
      log[isAnswer ? 'info' : 'warn'](
        { step, fault: code, ...namesOf(error) },
        'the sign-in through the identity provider failed',
      )
      throw new ProviderFault(code)
    } finally {
      exchange.end()
    }
  }

  return {
    start: (again) => guarded('start', (exchange) => start(exchange, again)),
    finish: (callbackUrl, attempt) => guarded('finish', (exchange) => finish(exchange, callbackUrl, attempt)),
  }
}

/** Two checks that the library leaves to its caller: the token is for us, and not from the future. */
function isForUs({ sub, azp, iat }: IDToken, clientId: string): boolean {
  return SUBJECT.test(sub) && (azp === undefined || azp === clientId) && !isFuture(iat)
}

/** A time in the future would be recent for as long as it is one, so it counts as none. */
const signedInAt = ({ auth_time: seconds }: IDToken): Date | undefined =>
  seconds === undefined || isFuture(seconds) ? undefined : new Date(seconds * 1000)

const isFuture = (seconds: number): boolean => seconds > Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS

type Mailbox = Pick<ProvenIdentity, 'email' | 'emailVerified'>

/** Both come from one source, or `email_verified` could be about another address. */
function mailboxIn({ email: named, email_verified: said }: Record<string, unknown>): Mailbox {
  const email = usableEmail(named)
  return { email, emailVerified: email !== undefined && said === true }
}

function usableEmail(email: unknown): string | undefined {
  if (typeof email !== 'string' || email.length > EMAIL_LONGEST || !EMAIL.test(email)) return undefined
  return canonicalEmail(email)
}

function faultCode(error: unknown, { outage }: Exchange): FaultCode {
  if (error instanceof ProviderFault) return error.code
  if (outage) return 'idp_unavailable'
  if (error instanceof AuthorizationResponseError)
    return /^(?:server_error|temporarily_unavailable)$/.test(error.error) ? 'idp_unavailable' : 'idp_refused'
  const { code } = error as { code?: unknown }
  const isNoProvider = code === 'OAUTH_RESPONSE_IS_NOT_JSON' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM'
  return isNoProvider ? 'idp_unavailable' : 'idp_failed'
}

/** Logs only names and codes, because messages and causes quote the provider's response. */
function namesOf(error: unknown): Record<string, unknown> {
  const { name, code, error: answered, cause } = error as Record<string, unknown>
  const { code: causeCode, cause: facts } = (cause ?? {}) as Record<string, unknown>
  const { claim } = (facts ?? {}) as Record<string, unknown>
  const isName = (text: unknown) => typeof text === 'string' && /^[A-Za-z_]{1,60}$/.test(text)
  return Object.fromEntries(
    Object.entries({ error: name, code, answered, causeCode, claim }).filter(([, text]) => isName(text)),
  )
}
