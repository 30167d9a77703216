import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Log, newLog } from '../../src/kit/log.ts'
import {
  type FaultCode,
  type IdentityProvider,
  ProviderFault,
  type ProvenIdentity,
} from '../../src/sellers/provider-port.ts'
import { identityProvider } from '../../src/sellers/provider.ts'
import {
  type Breakage,
  type HostileOptions,
  type HostileProvider,
  type Lies,
  type Place,
  LATE_MS,
  startHostileProvider,
} from '../stand-ins/hostile-provider.ts'
import { ANN, BEN, signInAt, startIdentityProvider } from '../stand-ins/identity-provider.ts'
import { atEnd } from '../support/ends.ts'

const CALLBACK = 'http://shop.test/api/auth/idp/callback'
const HONEST = { subject: 'subject-1', email: 'ann@idp.test', emailVerified: true, signedInAt: undefined }
/** The time limit of a start or a return when the provider does not answer in time anyway. */
const SHORT_MS = 500
/** Enough for the steps before the silence, on a slow machine too. */
const STEPS_MS = 5_000
/** Far more than is read of an answer, which is half a megabyte, and than the sockets between hold. */
const ENDLESS_BYTES = 32 * 1024 * 1024

interface Line {
  step: string
  fault: FaultCode
}

async function start(t: TestContext, options?: HostileOptions) {
  const provider = await startHostileProvider(t, options)
  const lines: Line[] = []
  const log = newLog('silent')
  log.warn = log.info = ((line: Line) => void lines.push(line)) as Log['warn']
  const newClient = (changes: Partial<HostileProvider['settings']> = {}, options = {}) =>
    identityProvider({ ...provider.settings, ...changes }, CALLBACK, log, { identityProviderMs: 60_000, ...options })
  return { provider, lines, client: newClient(), newClient }
}

/** One whole sign-in, with `lies` from its beginning to its end. */
async function signIn(client: IdentityProvider, provider: HostileProvider, lies: Lies = {}): Promise<ProvenIdentity> {
  provider.lies = lies
  provider.calls.length = 0
  const { url, attempt } = await client.start()
  return client.finish(await provider.signIn(url), attempt)
}

async function assertFault(work: Promise<unknown>, code: FaultCode, what: string): Promise<void> {
  const error = await work.then(
    (identity) => assert.fail(`${what}: let in ${JSON.stringify(identity)}`),
    (error: unknown) => error,
  )
  assert(error instanceof ProviderFault, `${what}: ${String(error)}`)
  assert.equal(error.code, code, what)
  assert.equal(error.cause, undefined, what)
}

test('a real provider names the person, whether the mailbox is verified, and a refusal', async (t) => {
  const provider = await startIdentityProvider({ redirectUris: [CALLBACK] })
  atEnd(t, provider.close)
  const client = identityProvider({ ...provider, authMethod: 'client_secret_post' }, CALLBACK, newLog('silent'))
  const sameBrowser = new Map<string, string>()
  for (const [person, jar] of [[ANN], [BEN], [ANN, sameBrowser], [BEN, sameBrowser], [BEN, sameBrowser]] as const) {
    const { url, attempt } = await client.start()
    const { signedInAt, ...identity } = await client.finish(await signInAt(url, person, jar), attempt)
    assert(signedInAt)
    assert.deepEqual(identity, {
      issuer: provider.issuer,
      subject: person.id,
      email: person.email,
      emailVerified: person.emailVerified,
    })
  }
  const { url, attempt } = await client.start()
  await assertFault(client.finish(await signInAt(url, undefined), attempt), 'idp_refused', 'said no')
})

test('each start has a state, a nonce and a challenge of its own, and names our own return address', async (t) => {
  const { client } = await start(t)
  const starts = await Promise.all(Array.from({ length: 20 }, () => client.start()))
  for (const name of ['state', 'nonce', 'code_challenge'])
    assert.equal(new Set(starts.map(({ url }) => new URL(url).searchParams.get(name))).size, 20, name)
  for (const { url, attempt } of starts) {
    const query = new URL(url).searchParams
    assert.equal(query.get('redirect_uri'), CALLBACK)
    assert.equal(query.get('code_challenge_method'), 'S256')
    assert.equal(query.get('state'), attempt.state)
    assert(!url.includes(attempt.verifier), 'the verifier stays here until the token is asked for')
  }
})

test('of the returned address only the query counts', async (t) => {
  const { client, provider } = await start(t)
  const { url, attempt } = await client.start()
  const back = await provider.signIn(url)
  const elsewhere = new URL(`https://evil.test/other${back.search}#fragment`)
  assert.equal((await client.finish(elsewhere, attempt)).subject, 'subject-1')
})

test('a return with another state, none, two, or no code is refused before any token is requested', async (t) => {
  const { client, provider } = await start(t)
  const other = (await client.start()).attempt.state
  const changes: Record<string, (query: URLSearchParams) => void> = {
    'no state': (query) => query.delete('state'),
    'an empty state': (query) => query.set('state', ''),
    'another state': (query) => query.set('state', other),
    'two states': (query) => query.append('state', other),
    'no code': (query) => query.delete('code'),
    'two codes': (query) => query.append('code', 'another'),
    'a token as well': (query) => query.set('id_token', 'a.b.c'),
    'a signed response': (query) => query.set('response', 'a.b.c'),
    'an error with another state': (query) => {
      query.set('state', other)
      query.set('error', 'access_denied')
    },
  }
  for (const [what, change] of Object.entries(changes)) {
    const { url, attempt } = await client.start()
    const back = await provider.signIn(url)
    provider.calls.length = 0
    change(back.searchParams)
    await assertFault(client.finish(back, attempt), 'idp_failed', what)
    assert(!provider.calls.includes('token'), what)
  }
})

const now = () => Math.floor(Date.now() / 1000)

test('an id_token that was not made for us, now, by this provider, with its key, is refused', async (t) => {
  const { client, provider } = await start(t)
  const algorithms = ['RS256', 'HS256', 'none']
  const signings: NonNullable<Lies['signing']>[] = [
    'with a key that is not published',
    'with another key under the same name',
    'with alg none',
    'with alg none and a signature',
    'with HS256 and the client secret',
    'for another body',
    'without its signature',
    'as no token',
  ]
  const rows: [string, Lies][] = [
    ...signings.map((signing): [string, Lies] => [`signed ${signing}`, { signing }]),
    ...signings.map((signing): [string, Lies] => [
      `signed ${signing}, which the metadata allow`,
      { signing, metadata: { id_token_signing_alg_values_supported: algorithms } },
    ]),
    ['other iss', { claims: { iss: 'https://evil.test' } }],
    ['iss with a slash more', { claims: { iss: `${provider.issuer}/` } }],
    ['no iss', { claims: { iss: undefined } }],
    ['other aud', { claims: { aud: 'another' } }],
    ['no aud', { claims: { aud: undefined } }],
    ['aud a list of others', { claims: { aud: ['another', 'one more'] } }],
    ['aud a list of us and another, no azp', { claims: { aud: ['till', 'another'] } }],
    ['aud a list of us and another, other azp', { claims: { aud: ['till', 'another'], azp: 'another' } }],
    ['other azp', { claims: { azp: 'another' } }],
    ['azp that is no text', { claims: { azp: ['till'] } }],
    ['expired', { claims: { exp: now() - 60 } }],
    ['no exp', { claims: { exp: undefined } }],
    ['exp that is text', { claims: { exp: String(now() + 300) } }],
    ['not good before a minute from now', { claims: { nbf: now() + 60 } }],
    ['made in a minute', { claims: { iat: now() + 60 } }],
    ['no iat', { claims: { iat: undefined } }],
    ['no sub', { claims: { sub: undefined } }],
    ['an empty sub', { claims: { sub: '' } }],
    ['a sub of 256 characters', { claims: { sub: 'x'.repeat(256) } }],
    ['a sub that no database holds', { claims: { sub: 'a\u0000b' } }],
    ['a sub that is a number', { claims: { sub: 7 } }],
    ['no id_token', { token: { id_token: undefined } }],
    ['an id_token that is no text', { token: { id_token: { sub: 'subject-1' } } }],
    ['no access token', { token: { access_token: undefined } }],
  ]
  for (const [what, lies] of rows) await assertFault(signIn(client, provider, lies), 'idp_failed', what)
  // the same steps let an honest one in, and one whose clock is a little off
  const tolerated = { exp: now() - 20, nbf: now() + 20, iat: now() + 20, aud: ['till', 'another'], azp: 'till' }
  assert.deepEqual(await signIn(client, provider, { claims: tolerated }), { issuer: provider.issuer, ...HONEST })
})

test('an id_token without our nonce is refused', async (t) => {
  const { client, provider } = await start(t)
  for (const nonce of [undefined, null, '', 'another', 7, ['x']])
    await assertFault(signIn(client, provider, { claims: { nonce } }), 'idp_failed', JSON.stringify(nonce))
  const other = await client.start()
  await assertFault(
    signIn(client, provider, { claims: { nonce: other.attempt.nonce } }),
    'idp_failed',
    'the nonce of another attempt',
  )
})

test('a code works once, and only with our verifier', async (t) => {
  const { client, provider } = await start(t)
  const { url, attempt } = await client.start()
  const back = await provider.signIn(url)
  assert.equal((await client.finish(back, attempt)).subject, 'subject-1')
  await assertFault(client.finish(back, attempt), 'idp_failed', 'again')

  const mine = await client.start()
  const others = await client.start()
  const stolen = await provider.signIn(others.url)
  stolen.searchParams.set('state', mine.attempt.state)
  await assertFault(client.finish(stolen, mine.attempt), 'idp_failed', 'the code of another attempt')
})

test('a return that names another issuer is refused, and one that names none if the metadata promise it', async (t) => {
  const { provider, newClient } = await start(t)
  const { issuer } = provider
  const promised = { authorization_response_iss_parameter_supported: true }
  const rows: [string | undefined, Lies['metadata'], boolean][] = [
    [undefined, {}, true],
    [issuer, {}, true],
    ['https://evil.test', {}, false],
    [`${issuer}/`, {}, false],
    [undefined, promised, false],
    ['', promised, false],
    ['https://evil.test', promised, false],
    [issuer, promised, true],
  ]
  for (const [iss, metadata = {}, isGood] of rows) {
    const result = signIn(newClient(), provider, { metadata, callback: { iss } })
    if (isGood) assert.equal((await result).subject, 'subject-1')
    else await assertFault(result, 'idp_failed', String(iss))
    assert.equal(provider.calls.includes('token'), isGood)
  }
})

test('only the boolean true is a verified mailbox, in the id_token and from userinfo', async (t) => {
  const { client, provider } = await start(t)
  for (const email_verified of [false, undefined, null, 'true', 'false', '', 1, 0, 'yes', [true], {}, true]) {
    const what = JSON.stringify(email_verified) ?? 'absent'
    const wanted = { issuer: provider.issuer, ...HONEST, emailVerified: email_verified === true }
    assert.deepEqual(await signIn(client, provider, { claims: { email_verified } }), wanted, what)
    const userinfo = { email: 'ann@idp.test', email_verified }
    assert.deepEqual(await signIn(client, provider, { claims: { email: undefined }, userinfo }), wanted, what)
  }
})

test('userinfo is read when the id_token has no address, must be about the same person, and is the source for both', async (t) => {
  const { client, provider } = await start(t)
  const other = { email: 'eve@idp.test', email_verified: true }
  const honest = await signIn(client, provider, { userinfo: other, claims: { email_verified: false } })
  assert.deepEqual(honest, { issuer: provider.issuer, ...HONEST, emailVerified: false }, 'the id_token decides')
  assert(!provider.calls.includes('userinfo'))

  const nameless = { email: undefined, email_verified: true }
  const unverified = await signIn(client, provider, { claims: nameless, userinfo: { email: 'ann@idp.test' } })
  assert.equal(unverified.emailVerified, false, 'an address of userinfo with the word of the id_token proves nothing')

  for (const sub of ['subject-2', undefined, '', 7])
    await assertFault(
      signIn(client, provider, { claims: nameless, userinfo: { ...other, sub } }),
      'idp_failed',
      `sub ${JSON.stringify(sub)}`,
    )
  const without = await signIn(client, provider, {
    claims: nameless,
    metadata: { userinfo_endpoint: undefined },
  })
  const unnamed = { ...HONEST, email: undefined, emailVerified: false }
  assert.deepEqual(without, { issuer: provider.issuer, ...unnamed })
})

test('where the id_token names the address alone, userinfo says whether that address is verified', async (t) => {
  const { client, provider, lines, newClient } = await start(t)
  const silent: Lies['claims'] = { email_verified: undefined }
  const verified = { issuer: provider.issuer, ...HONEST }
  const unverified = { ...verified, emailVerified: false }
  for (const email of ['ann@idp.test', ' Ann@IDP.test'])
    assert.deepEqual(
      await signIn(client, provider, { claims: silent, userinfo: { email, email_verified: true } }),
      verified,
      email,
    )
  for (const email_verified of [false, undefined, null, 'true', 1, [true]])
    assert.deepEqual(
      await signIn(client, provider, { claims: silent, userinfo: { email: 'ann@idp.test', email_verified } }),
      unverified,
      JSON.stringify(email_verified),
    )
  for (const email of ['eve@idp.test', undefined, '', 'ann', ['ann@idp.test']])
    assert.deepEqual(
      await signIn(client, provider, { claims: silent, userinfo: { email, email_verified: true } }),
      unverified,
      JSON.stringify(email),
    )
  const userinfo = { email: 'ann@idp.test', email_verified: true }
  for (const email_verified of [false, null, 'true'])
    assert.deepEqual(await signIn(client, provider, { claims: { email_verified }, userinfo }), unverified, 'explicit')
  assert(!provider.calls.includes('userinfo'), 'the word of the id_token decides')

  lines.length = 0
  const stranger = { claims: silent, userinfo: { ...userinfo, sub: 'subject-2' } }
  await assertFault(signIn(client, provider, stranger), 'idp_failed', 'about another person')
  assert.deepEqual(
    lines.map(({ step, fault }) => [step, fault]),
    [['finish', 'idp_failed']],
  )
  lines.length = 0
  for (const how of [...ANSWERS, ...SILENCES]) {
    const { url, attempt } = await client.start()
    const back = await provider.signIn(url)
    provider.lies = { claims: silent, userinfo, broken: { userinfo: how } }
    const inTime = SILENCES.includes(how) ? newClient({}, { identityProviderMs: STEPS_MS }) : client
    assert.deepEqual(await inTime.finish(back, attempt), unverified, how)
  }
  assert.equal(lines.length, ANSWERS.length + SILENCES.length)
  for (const line of lines) {
    assert.equal(line.step, 'userinfo')
    for (const [name, value] of Object.entries(line)) assert.match(String(value), /^\w{1,60}$/, name)
  }
})

test('an invalid address is left out and never verified, and a valid one has its canonical form', async (t) => {
  const { client, provider } = await start(t)
  const unusable: unknown[] = [
    '',
    ' ',
    'ann',
    'ann@idp.test, eve@idp.test',
    ['ann@idp.test'],
    { email: 'ann@idp.test' },
    7,
    true,
    null,
    `${'a'.repeat(300)}@idp.test`,
    `ann@${'idp.'.repeat(80)}test`,
    'ann@idp.test\r\nBcc: eve@idp.test',
    'ann@idp.test\n',
    'ann\u0000@idp.test',
    'аnn@idp.test',
    'ann@idp。test',
    'ann@ıdp.test',
    '"ann"@idp.test',
    'Ann <ann@idp.test>',
    '\u200bann@idp.test',
  ]
  for (const email of unusable) {
    const { email: found, emailVerified } = await signIn(client, provider, { claims: { email } })
    assert.deepEqual({ found, emailVerified }, { found: undefined, emailVerified: false }, JSON.stringify(email))
  }
  for (const email of ['Ann@IDP.test', ' ann@idp.test ', 'ANN@IDP.TEST'])
    assert.deepEqual(await signIn(client, provider, { claims: { email } }), { issuer: provider.issuer, ...HONEST })
})

const PLACES: Place[] = ['discovery', 'token', 'jwks', 'userinfo']
const ANSWERS: Breakage[] = [
  'never ends',
  'hangs up',
  'answers 500',
  'answers 429',
  'answers HTML',
  'answers what is no JSON',
  'redirects',
]
/** The time limit of steps that wait until it ends. */
const SILENCES: Breakage[] = ['hangs', 'hangs in the body', 'trickles']

test('with any fault of a provider the sign-in fails with a known error', async (t) => {
  const rowsOf = (ways: Breakage[]) => PLACES.flatMap((place) => ways.map((how) => ({ place, how })))
  const meet = async ({ place, how }: { place: Place; how: Breakage }, options = {}) => {
    const { provider, newClient } = await start(t)
    const client = newClient({}, options)
    const lies: Lies = { broken: { [place]: how }, claims: { email: undefined } }
    provider.lies = place === 'discovery' ? lies : { claims: { email: undefined } }
    let call: () => Promise<unknown> = client.start
    if (place !== 'discovery') {
      const { url, attempt } = await newClient().start()
      const back = await provider.signIn(url)
      provider.lies = lies
      call = () => client.finish(back, attempt)
    }
    const what = `${place} ${how}`
    const code = place !== 'discovery' && how === 'answers what is no JSON' ? 'idp_failed' : 'idp_unavailable'
    await assertFault(call(), code, what)
    if (how === 'never ends') assert(provider.endlessBytes < ENDLESS_BYTES, `${what}: ${provider.endlessBytes} bytes`)
  }
  for (const row of rowsOf(ANSWERS)) await meet(row)
  await Promise.all(rowsOf(SILENCES).map((row) => meet(row, { identityProviderMs: SHORT_MS })))
})

test('all steps of a slow provider share one time limit', async (t) => {
  const { client, provider, newClient } = await start(t)
  const { url, attempt } = await client.start()
  const back = await provider.signIn(url)
  // it knows nothing of the provider yet, so that the return has to read it too; each answer alone would come in time
  provider.lies = { broken: { discovery: 'answers late', token: 'answers late', jwks: 'answers late' } }
  await assertFault(
    newClient({}, { identityProviderMs: 1.5 * LATE_MS }).finish(back, attempt),
    'idp_unavailable',
    'slow',
  )
})

test('a provider that is back is used again at once', async (t) => {
  const { client, provider } = await start(t)
  await assertFault(signIn(client, provider, { broken: { discovery: 'answers 500' } }), 'idp_unavailable', 'down')
  assert.equal((await signIn(client, provider)).subject, 'subject-1')
  // the provider's metadata may have changed while it was down
  await assertFault(signIn(client, provider, { broken: { token: 'hangs up' } }), 'idp_unavailable', 'down')
  assert.equal((await signIn(client, provider)).subject, 'subject-1')
  assert.deepEqual(provider.calls, ['discovery', 'authorize', 'token', 'jwks'])
  await signIn(client, provider)
  assert.deepEqual(provider.calls, ['authorize', 'token', 'jwks'])
})

test('a provider that fails after it worked is noticed before a browser is sent to it, also behind a proxy', async (t) => {
  const { client, provider, newClient } = await start(t)
  const impatient = newClient({}, { reachableTtlMs: 0 })
  await impatient.start()
  for (const ends of ['hangs up', 'answers 500', 'answers 503', 'answers HTML'] as const) {
    provider.lies = { broken: { discovery: ends } }
    await assertFault(impatient.start(), 'idp_unavailable', ends)
    provider.lies = {}
    await impatient.start()
  }
  // the provider's page is at another host, of which we know no path
  const elsewhere = { authorization_endpoint: provider.issuer.replace('127.0.0.1', 'localhost') + '/authorize' }
  const apart = newClient({}, { reachableTtlMs: 0 })
  provider.lies = { metadata: elsewhere }
  await apart.start()
  for (const ends of ['hangs up', 'answers 500', 'answers 503'] as const) {
    provider.lies = { metadata: elsewhere, broken: { page: ends } }
    if (ends === 'answers 500') await apart.start()
    else await assertFault(apart.start(), 'idp_unavailable', ends)
  }
  for (const [place, metadata] of [
    ['discovery', {}],
    ['page', elsewhere],
  ] as const) {
    const hasty = newClient({}, { reachableTtlMs: 0, identityProviderMs: STEPS_MS })
    provider.lies = { metadata }
    await hasty.start()
    provider.lies = { metadata, broken: { [place]: 'hangs' } }
    await assertFault(hasty.start(), 'idp_unavailable', `${place} hangs`)
  }
  provider.lies = {}
  await impatient.start()
  provider.calls.length = 0
  await client.start()
  await client.start()
  assert.deepEqual(provider.calls, ['discovery'], 'one that has just answered is not asked again')
  // a host beside the issuer's that has never answered: perhaps only browsers reach it
  provider.lies = { metadata: { authorization_endpoint: 'http://127.0.0.1:9/authorize' } }
  for (let time = 0; time < 2; time++) assert.match((await newClient().start()).url, /^http:\/\/127\.0\.0\.1:9\//)
  provider.lies = {}
  await provider.close()
  await assertFault(impatient.start(), 'idp_unavailable', 'gone')
})

test('a second host that did not answer once is asked again later, and its next failure is noticed', async (t) => {
  const { provider, newClient } = await start(t)
  const elsewhere = { authorization_endpoint: provider.issuer.replace('127.0.0.1', 'localhost') + '/authorize' }
  const asked = () => provider.calls.filter((call) => call === 'page').length
  const meet = async (options: object, first: Breakage, askedAgain: number) => {
    const client = newClient({}, { reachableTtlMs: 0, ...options })
    provider.lies = { metadata: elsewhere, broken: { page: first } }
    await client.start()
    provider.lies = { metadata: elsewhere }
    provider.calls.length = 0
    await client.start()
    assert.equal(asked(), askedAgain, first)
    provider.lies = { metadata: elsewhere, broken: { page: 'hangs up' } }
    return client
  }
  await (await meet({}, 'hangs up', 0)).start()
  await assertFault((await meet({ onlyForBrowsersTtlMs: 0 }, 'hangs up', 1)).start(), 'idp_unavailable', 'later')
  // not at each start: a host that drops our packets costs the whole time limit
  await (await meet({ identityProviderMs: STEPS_MS }, 'hangs', 0)).start()
})

test('a provider behind a proxy that answers only its own paths is used every time', async (t) => {
  const { provider, newClient, lines } = await start(t)
  const impatient = newClient({}, { reachableTtlMs: 0 })
  provider.lies = { broken: { page: 'answers 503' } }
  for (let time = 0; time < 4; time++) await impatient.start()
  assert.deepEqual(lines, [])
})

test('many simultaneous starts read the provider’s metadata once', async (t) => {
  const { client, provider, newClient } = await start(t)
  await Promise.all(Array.from({ length: 30 }, () => client.start()))
  assert.deepEqual(provider.calls, ['discovery'])
  const impatient = newClient({}, { reachableTtlMs: 0 })
  await impatient.start()
  provider.calls.length = 0
  await Promise.all(Array.from({ length: 30 }, () => impatient.start()))
  assert.deepEqual(provider.calls, ['discovery'], 'also when they look whether it still answers')
})

test('metadata of another issuer, incomplete metadata, or metadata without TLS are refused', async (t) => {
  const { provider, newClient } = await start(t)
  const { port } = new URL(provider.issuer)
  const rows: Lies['metadata'][] = [
    { issuer: 'https://evil.test' },
    { issuer: undefined },
    { issuer: 7 },
    { issuer: 'no address' },
    { authorization_endpoint: undefined },
    { authorization_endpoint: 'javascript:alert(1)' },
  ]
  for (const metadata of rows)
    await assertFault(signIn(newClient(), provider, { metadata }), 'idp_unavailable', JSON.stringify(metadata))
  const useless: Lies['metadata'][] = [
    { token_endpoint: undefined },
    { token_endpoint: 'ftp://127.0.0.1/token' },
    { jwks_uri: undefined },
  ]
  for (const metadata of useless)
    await assertFault(signIn(newClient(), provider, { metadata }), 'idp_failed', JSON.stringify(metadata))
  const bare = { token_endpoint: `http://0.0.0.0:${port}/token` }
  await assertFault(signIn(newClient(), provider, { metadata: bare }), 'idp_unavailable', 'http that leaves')
  await assertFault(newClient({ issuer: `http://0.0.0.0:${port}` }).start(), 'idp_unavailable', 'http that leaves')
})

test('a provider that would speak for anybody’s company is not used: its issuer is no one’s', async (t) => {
  const issuer = 'https://login.microsoftonline.com/common/v2.0'
  const metadata = { issuer: issuer.replace('common', '{tenantid}'), authorization_endpoint: `${issuer}/authorize` }
  t.mock.method(globalThis, 'fetch', async () => Response.json(metadata))
  const settings = { issuer, clientId: 'till', clientSecret: 'a secret', authMethod: 'client_secret_post' } as const
  const client = identityProvider(settings, CALLBACK, newLog('silent'))
  await assertFault(client.start(), 'idp_unavailable', 'any tenant')
})

test('a key that has just changed is known at once, and the one before is no longer', async (t) => {
  const { client, provider } = await start(t)
  for (let turn = 0; turn < 3; turn++) {
    assert.equal((await signIn(client, provider)).subject, 'subject-1')
    await provider.rotateKeys()
  }
  assert.equal((await signIn(client, provider)).subject, 'subject-1')
})

test('a provider’s refusal differs from a failure, and its text goes nowhere', async (t) => {
  const { client, provider, lines } = await start(t)
  const rows: [string, FaultCode][] = [
    ['access_denied', 'idp_refused'],
    ['consent_required', 'idp_refused'],
    ['login_required', 'idp_refused'],
    ['unauthorized_client', 'idp_refused'],
    ['<script>alert(1)</script>', 'idp_refused'],
    ['server_error', 'idp_unavailable'],
    ['temporarily_unavailable', 'idp_unavailable'],
  ]
  const description = '<img src=x onerror=alert(1)> eve@idp.test'
  for (const [error, code] of rows) {
    const callback = { error, code: undefined, error_description: description }
    await assertFault(signIn(client, provider, { callback }), code, error)
    assert(!provider.calls.includes('token'))
  }
  assert.equal(lines.length, rows.length)
  assert.doesNotMatch(JSON.stringify(lines), /<|@/)
})

test('a fault is logged by its step and names alone: no code, token, secret or address', async (t) => {
  const { provider, lines, newClient } = await start(t)
  const faults: Lies[] = [
    { signing: 'for another body' },
    { claims: { aud: 'another' } },
    { claims: { nonce: 'other-nonce' } },
    { claims: { email: undefined }, userinfo: { sub: 'subject-2', email: 'eve@idp.test' } },
    { token: { error: 'invalid_grant', error_description: 'eve@idp.test' } },
    { broken: { token: 'answers HTML' } },
    { broken: { discovery: 'answers what is no JSON' } },
    { callback: { state: 'other-state' } },
  ]
  for (const lies of faults) await signIn(newClient(), provider, lies).catch(() => {})
  await signIn(newClient({ clientSecret: 'wrong-secret' }), provider).catch(() => {})
  assert(lines.length >= faults.length)
  for (const line of lines) {
    assert.match(line.step, /^(?:discovery|start|finish)$/)
    for (const [name, value] of Object.entries(line)) assert.match(String(value), /^\w{1,60}$/, name)
  }
  assert(lines.some((line) => 'claim' in line && line.claim === 'aud'))
  assert.doesNotMatch(JSON.stringify(lines), /subject|secret|other|idp\.test/)
})

test('the client authenticates as configured, post or Basic, with any characters in its id and secret', async (t) => {
  const odd = { clientId: 'a-client.of_us', clientSecret: 'with-hyphens and: + % & ü' }
  for (const authMethod of ['client_secret_post', 'client_secret_basic'] as const) {
    const { client, provider } = await start(t, { ...odd, authMethod })
    assert.equal((await signIn(client, provider)).subject, 'subject-1', authMethod)
  }
  // some providers do not decode the characters that the standard encodes: for them the other method works
  const plain = { clientId: 'a-client', clientSecret: 'a-secret', decodesBasic: false }
  const basic = await start(t, { ...plain, authMethod: 'client_secret_basic' })
  await assertFault(signIn(basic.client, basic.provider), 'idp_failed', 'Basic that is not decoded')
  const post = await start(t, plain)
  assert.equal((await signIn(post.client, post.provider)).subject, 'subject-1')
  const wrong = post.newClient({ clientSecret: 'wrong' })
  await assertFault(signIn(wrong, post.provider), 'idp_failed', 'a wrong secret')
})
