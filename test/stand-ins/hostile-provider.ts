import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ProviderSettings } from '../../src/sellers/provider-port.ts'
import { FIRST_KEYS, type Facts, SIGNINGS, newKeys } from '../support/forged-tokens.ts'
import type { Ends } from '../support/shop.ts'
import { atEnd } from '../support/ends.ts'

// A provider that follows the protocol, and checks its requests, except for the faults that a test gives it.

/** `page`: the host itself, when a client checks whether it answers. */
export type Place = 'discovery' | 'token' | 'jwks' | 'userinfo' | 'page'
export type Breakage = keyof typeof BREAKAGES

export interface Lies {
  /** Claims for the id_token, over the true ones. An undefined one is left out. */
  claims?: Facts
  /** How the id_token is signed, if not with the published key. */
  signing?: keyof typeof SIGNINGS
  userinfo?: Facts
  metadata?: Facts
  /** Into the address it sends the browser back to. */
  callback?: Record<string, string | undefined>
  /** Over the whole of the token endpoint's answer. */
  token?: Facts
  broken?: Partial<Record<Place, Breakage>>
}

export interface HostileOptions extends Partial<ProviderSettings> {
  /** Whether it decodes Basic credentials as RFC 6749 wants. Some do not. */
  decodesBasic?: boolean
}

export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>

/** Listens on 127.0.0.1, honest until `lies` says otherwise. Ends with the test. */
export async function startHostileProvider(t: Ends, options: HostileOptions = {}) {
  const { clientId = 'till', clientSecret = 'a secret of two', authMethod = 'client_secret_post' } = options
  const { decodesBasic = true } = options
  let keys = await FIRST_KEYS
  const codes = new Map<string, { request: URLSearchParams; isUsed: boolean }>()
  const server = http.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = options.issuer ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const provider = {
    issuer,
    settings: { issuer, clientId, clientSecret, authMethod } satisfies ProviderSettings,
    lies: {} as Lies,
    /** Every request that has reached it, in order. */
    calls: [] as (Place | 'authorize')[],
    /** How much of an answer that never ends was taken from it, by its reader or on the way to them. */
    endlessBytes: 0,
    /** From now on it signs with another key, and no longer publishes the one before. */
    rotateKeys: async (): Promise<void> => void (keys = await newKeys()),
    /** Opens `address` as a browser does. Returns the address that it comes back to. */
    async signIn(address: string): Promise<URL> {
      const response = await fetch(address, { redirect: 'manual' })
      const location = response.headers.get('location')
      if (!location) throw new Error(`the provider refused: ${await response.text()}`)
      return new URL(location)
    },
    async close(): Promise<void> {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  atEnd(t, provider.close)

  const answers: Record<Place, (request: http.IncomingMessage) => Promise<[number, Facts]>> = {
    discovery: async () => [
      200,
      without({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        userinfo_endpoint: `${issuer}/userinfo`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
        ...provider.lies.metadata,
      }),
    ],
    page: async () => [404, {}],
    jwks: async () => [200, { keys: [keys.published] }],
    userinfo: async ({ headers }) =>
      headers.authorization === 'Bearer of-userinfo'
        ? [200, without({ sub: provider.lies.claims?.sub ?? 'subject-1', ...provider.lies.userinfo })]
        : [401, { error: 'invalid_token' }],
    async token(request) {
      const form = new URLSearchParams(await text(request))
      if (!isOurClient(request.headers.authorization, form)) return [401, { error: 'invalid_client' }]
      const code = codes.get(form.get('code') ?? '')
      const asked = code?.request
      const isGood =
        code?.isUsed === false &&
        form.get('grant_type') === 'authorization_code' &&
        form.get('redirect_uri') === asked!.get('redirect_uri') &&
        hash(form.get('code_verifier') ?? '') === asked!.get('code_challenge')
      if (!isGood) return [400, { error: 'invalid_grant' }]
      code.isUsed = true
      const now = Math.floor(Date.now() / 1000)
      const claims = without({
        iss: issuer,
        sub: 'subject-1',
        aud: clientId,
        exp: now + 300,
        iat: now,
        nonce: asked!.get('nonce'),
        email: 'ann@idp.test',
        email_verified: true,
        ...provider.lies.claims,
      })
      const idToken = await SIGNINGS[provider.lies.signing ?? 'properly'](claims, { ...keys, clientSecret })
      const token = { access_token: 'of-userinfo', token_type: 'Bearer', expires_in: 300, id_token: idToken }
      return [200, without({ ...token, ...provider.lies.token })]
    },
  }

  function isOurClient(authorization: string | undefined, form: URLSearchParams): boolean {
    if (authMethod === 'client_secret_post')
      return !authorization && form.get('client_id') === clientId && form.get('client_secret') === clientSecret
    const pair = Buffer.from(/^Basic (.+)$/.exec(authorization ?? '')?.[1] ?? '', 'base64').toString()
    const parts = pair.split(':').map((part) => (decodesBasic ? decodeURIComponent(part.replaceAll('+', ' ')) : part))
    return parts.length === 2 && parts[0] === clientId && parts[1] === clientSecret && !form.has('client_secret')
  }

  function authorize({ searchParams }: URL, response: http.ServerResponse): void {
    const expected: Record<string, RegExp> = {
      response_type: /^code$/,
      client_id: new RegExp(`^${clientId}$`),
      redirect_uri: /^https?:\/\//,
      scope: /^openid email$/,
      code_challenge_method: /^S256$/,
      code_challenge: /^[\w-]{43}$/,
      state: /^[\w-]{43}$/,
      nonce: /^[\w-]{43}$/,
    }
    for (const [name, pattern] of Object.entries(expected))
      if (searchParams.getAll(name).length !== 1 || !pattern.test(searchParams.get(name)!))
        return void response.writeHead(400).end(`${name} is not what it should be`)
    const code = randomUUID()
    codes.set(code, { request: searchParams, isUsed: false })
    const back = new URL(searchParams.get('redirect_uri')!)
    const query = without({ code, state: searchParams.get('state'), ...provider.lies.callback })
    back.search = new URLSearchParams(query as Record<string, string>).toString()
    response.writeHead(302, { location: back.href }).end()
  }

  const PATHS: Record<string, Place> = {
    '/.well-known/openid-configuration': 'discovery',
    '/': 'page',
    '/token': 'token',
    '/jwks': 'jwks',
    '/userinfo': 'userinfo',
  }
  server.on('request', async (request, response) => {
    response.on('error', () => {})
    const url = new URL(request.url!, issuer)
    const place = PATHS[url.pathname]
    provider.calls.push(place ?? 'authorize')
    if (!place) return authorize(url, response)
    const [status, body] = await answers[place](request)
    const json = JSON.stringify(body)
    BREAKAGES[provider.lies.broken?.[place] ?? 'not at all'](response, status, json, provider)
  })
  return provider
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url')
const without = (facts: Facts): Facts => Object.fromEntries(Object.entries(facts).filter(([, v]) => v !== undefined))

const JSON_TYPE = { 'content-type': 'application/json' }
/** No answer of ours is so short that it comes to its end in time. */
const TRICKLE_MS = 300
export const LATE_MS = 200

/** Always the same, whatever was asked. */
const answers = (status: number, type: string, body: string) => (response: http.ServerResponse) =>
  void response.writeHead(status, { 'content-type': type, location: '/elsewhere' }).end(body)

const BREAKAGES = {
  'not at all': (response: http.ServerResponse, status: number, json: string) =>
    void response.writeHead(status, JSON_TYPE).end(json),
  hangs: () => {},
  'hangs in the body': (response: http.ServerResponse, status: number, json: string) =>
    void response.writeHead(status, JSON_TYPE).write(json.slice(0, 5)),
  'answers late': (response: http.ServerResponse, status: number, json: string) =>
    void setTimeout(() => response.writeHead(status, JSON_TYPE).end(json), LATE_MS),
  'hangs up': (response: http.ServerResponse) => void response.destroy(),
  'answers 500': answers(500, 'application/json', '{"error":"server_error"}'),
  'answers 503': answers(503, 'text/html', '<h1>Nothing here</h1>'),
  'answers 429': answers(429, 'application/json', '{"error":"slow_down"}'),
  'answers HTML': answers(200, 'text/html', '<h1>Be right back</h1>'),
  'answers what is no JSON': answers(200, 'application/json', '{"is'),
  redirects: answers(302, 'text/plain', ''),
  trickles(response: http.ServerResponse, status: number, json: string) {
    response.writeHead(status, JSON_TYPE)
    let at = 0
    const timer = setInterval(() => (at < json.length ? response.write(json[at++]!) : response.end()), TRICKLE_MS)
    response.on('close', () => clearInterval(timer))
  },
  'never ends': (response: http.ServerResponse, status: number, json: string, counted: { endlessBytes: number }) => {
    response.writeHead(status, JSON_TYPE).write(json.slice(0, -1))
    const blanks = ' '.repeat(65_536)
    const more = () => {
      do counted.endlessBytes += blanks.length
      while (!response.destroyed && response.write(blanks))
    }
    response.on('drain', more)
    more()
  },
} satisfies Record<
  string,
  (response: http.ServerResponse, status: number, json: string, counted: { endlessBytes: number }) => void
>
