import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair } from 'jose'
import OidcProvider, {
  type Adapter,
  type AdapterPayload,
  type Configuration,
  type InteractionResults,
  interactionPolicy,
} from 'oidc-provider'

// A real OpenID Connect provider on this machine, for tests and for trying things out, without passwords.

export interface Person {
  /** The provider's permanent id of the person. */
  id: string
  name: string
  email?: string
  emailVerified?: boolean
}

export const ANN = { id: 'ann', name: 'Ann (verified mailbox)', email: 'verified@idp.test', emailVerified: true }
export const BEN = { id: 'ben', name: 'Ben (unverified mailbox)', email: 'unverified@idp.test', emailVerified: false }
const HOUR_SECONDS = 3600
const PAGE = /^\/interaction\/([\w-]{1,64})$/

export interface ProviderOptions {
  /** Any free one unless named. */
  port?: number
  redirectUris: string[]
  clientId?: string
  clientSecret?: string
  authMethod?: 'client_secret_post' | 'client_secret_basic'
  people?: Person[]
  /** Whether each id_token says when the person signed in. Some providers say it only where they are asked for a new sign-in. */
  saysWhen?: boolean
}

/** A session at the provider, as most providers keep one: it sends the person back without a question. */
export interface Remembered {
  person: Person
  /** How long ago the person signed in there. */
  secondsAgo: number
}

export type TestIdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>

/** Listens on 127.0.0.1, for one client. Rejects when the port is taken. */
export async function startIdentityProvider({
  port = 0,
  redirectUris,
  clientId = 'till',
  clientSecret = randomBytes(24).toString('base64url'),
  authMethod = 'client_secret_post',
  people = [ANN, BEN],
  saysWhen = true,
}: ProviderOptions) {
  const kept = memory()
  let remembered: Remembered | undefined
  const cookieKeys = [randomBytes(32).toString('base64url')]
  const server = http.createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const newProvider = async () =>
    new OidcProvider(issuer, {
      ...(await settings(people, kept)),
      cookies: { keys: cookieKeys },
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          token_endpoint_auth_method: authMethod,
          redirect_uris: redirectUris,
          grant_types: ['authorization_code'],
          response_types: ['code'],
          require_auth_time: saysWhen,
        },
      ],
    })
  let provider = await newProvider()
  server.on('request', (request, response) => {
    const { pathname } = new URL(request.url!, issuer)
    // no sign-in remembers one of before, unless the test wants it: it may be another person
    request.headers.cookie = (request.headers.cookie ?? '')
      .split('; ')
      .filter((one) => !one.startsWith('_session'))
      .join('; ')
    if (!PAGE.test(pathname)) return void provider.callback()(request, response)
    choosePerson(provider, { people, remembered }, request, response).catch(() =>
      response.writeHead(400).end('This sign-in is over.'),
    )
  })
  return {
    issuer,
    clientId,
    clientSecret,
    /** From now on it sends this person back without a question, unless the service asks for a new sign-in. */
    remember: (session: Remembered | undefined): void => void (remembered = session),
    /** From now on it signs with a new key, and no longer publishes the old one. */
    async rotateKeys(): Promise<void> {
      provider = await newProvider()
    },
    async close(): Promise<void> {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** All settings whose defaults the library warns about are set, so that other warnings are worth reading. */
async function settings(people: Person[], kept: (model: string) => Adapter): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const { Check, base } = interactionPolicy
  const policy = base()
  // a session at the provider is left out of it: each sign-in may be another person
  const isAsked = new Check('person', 'who it is has to be said', ({ oidc }) => !oidc.result?.login)
  policy.get('login')!.checks.add(isAsked)
  return {
    adapter: kept,
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: randomUUID(), alg: 'RS256', use: 'sig' }] },
    scopes: ['openid', 'email'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    // most providers put the address into the id_token, where this library alone would leave it to userinfo
    conformIdTokenClaims: false,
    subjectTypes: ['public'],
    responseTypes: ['code'],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
    interactions: { policy, url: (_context, { uid }) => `/interaction/${uid}` },
    clientBasedCORS: () => false,
    ttl: {
      AccessToken: HOUR_SECONDS,
      AuthorizationCode: 60,
      Grant: HOUR_SECONDS,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      Session: HOUR_SECONDS,
    },
    findAccount(_context, id) {
      const person = people.find((one) => one.id === id)
      if (!person) return undefined
      return { accountId: id, claims: () => ({ sub: id, email: person.email, email_verified: person.emailVerified }) }
    },
    // a person who says who they are has also agreed
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ accountId: oidc.session!.accountId!, clientId: oidc.client!.clientId })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
    renderError(context, { error, error_description: description }) {
      context.type = 'html'
      context.body = page('This does not work', `<p>${escaped(error)}: ${escaped(description ?? '')}</p>`)
    },
  }
}

/** The page where a person says who they are, and its answer. */
async function choosePerson(
  provider: OidcProvider,
  { people, remembered }: { people: Person[]; remembered: Remembered | undefined },
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const finish = (result: InteractionResults) =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  const { params } = await provider.interactionDetails(request, response)
  // the library turns max_age=0 into this
  const isAskedAnew = params.prompt === 'login'
  if (remembered && !isAskedAnew) {
    const ts = Math.floor(Date.now() / 1000) - remembered.secondsAgo
    return finish({ login: { accountId: remembered.person.id, ts } })
  }
  if (request.method !== 'POST') {
    const buttons = people.map(({ id, name, email = 'no address' }) => button(id, name, email))
    const form = `<form method="post">${buttons.join('')}${button('', 'Refuse', 'say no')}</form>`
    response.setHeader('content-type', 'text/html; charset=utf-8')
    return void response.end(page('Who are you?', form))
  }
  const person = new URLSearchParams(await text(request)).get('person')
  await finish(
    person ? { login: { accountId: person } } : { error: 'access_denied', error_description: 'The person said no.' },
  )
}

const button = (value: string, name: string, more: string): string =>
  `<p><button name="person" value="${escaped(value)}">${escaped(name)}</button> ${escaped(more)}</p>`

const page = (title: string, body: string): string => `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:1.1rem/1.5 system-ui;max-width:30rem;margin:3rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style>
<h1>${title}</h1>${body}</html>`

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)

/** The provider's data, in memory. It ends with the process. */
function memory(): (model: string) => Adapter {
  const rows = new Map<string, { payload: AdapterPayload; until: number }>()
  return (model) => {
    const find = (id: string) => {
      const row = rows.get(`${model} ${id}`)
      return row && row.until > Date.now() ? row.payload : undefined
    }
    return {
      async upsert(id, payload, seconds = HOUR_SECONDS) {
        rows.set(`${model} ${id}`, { payload, until: Date.now() + seconds * 1000 })
      },
      find: async (id) => find(id),
      findByUid: async (uid) =>
        [...rows].find(([key, { payload }]) => key.startsWith(`${model} `) && payload.uid === uid)?.[1].payload,
      findByUserCode: async () => undefined,
      async consume(id) {
        const payload = find(id)
        if (payload) payload.consumed = Math.floor(Date.now() / 1000)
      },
      destroy: async (id) => void rows.delete(`${model} ${id}`),
      async revokeByGrantId(grantId) {
        // of its own kind only: an interaction under way belongs to the grant too
        for (const [key, { payload }] of rows)
          if (key.startsWith(`${model} `) && payload.grantId === grantId) rows.delete(key)
      },
    }
  }
}

/**
 * Goes through the provider's pages as a browser would, from the address a service sends it to until the one it is sent back to,
 * which it does not open. `person` undefined: says no.
 */
export async function signInAt(
  address: string,
  person: Person | undefined,
  jar = new Map<string, string>(),
): Promise<URL> {
  const { origin } = new URL(address)
  let method = 'GET'
  for (let url = new URL(address), hops = 0; hops < 10; hops++) {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(method === 'POST' && { body: new URLSearchParams({ person: person?.id ?? '' }) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      jar.set(name, value)
    }
    const body = await response.text()
    const location = response.headers.get('location')
    if (location) url = new URL(location, url)
    if (url.origin !== origin) return url
    assert(location ?? PAGE.test(url.pathname), `the provider answered ${response.status}: ${body}`)
    method = location ? 'GET' : 'POST'
  }
  throw new Error('the provider sent us in circles')
}
