import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { sweepCodes } from '../../src/kit/code-table.ts'
import { newId } from '../../src/kit/ids.ts'
import { sweepSessions } from '../../src/sellers/sessions.ts'
import {
  PASSWORD,
  cookiesOf,
  count,
  newBrowser,
  newMailbox,
  sharedPair,
  signedIn,
  sessionToken,
} from '../support/seller.ts'
import { type TestShop, assertProblem, eventually, sharedShop } from '../support/shop.ts'
import { atEnd } from '../support/ends.ts'

const HOSTS = {
  BASE_URL: 'https://api.shop.example',
  APP_URL: 'https://app.shop.example',
  COOKIE_DOMAIN: 'shop.example',
}
const shared = sharedPair()
const twoHosts = sharedShop({ env: HOSTS })
const oneHost = sharedShop({ env: { BASE_URL: 'https://shop.example' } })
const DAY_MS = 86_400_000

const ofSeller = (id: string) => sql<boolean>`seller_id = ${id}`

/** Responses to a cookie, whatever a browser would have done with it. */
const withCookie = (shop: TestShop, value: string, headers: Record<string, string> = {}) =>
  shop.call('GET', '/api/auth/session', undefined, { cookie: `till_session=${value}`, ...headers })

test('each cookie says all that keeps it safe, on http, on https, and over two hosts', async () => {
  const session = { 'max-age': '7776000', path: '/', httponly: true, samesite: 'Lax' }
  const code = { 'max-age': '600', path: '/', httponly: true, samesite: 'Strict' }
  const known = { 'max-age': '31536000', path: '/', httponly: true, samesite: 'Lax' }
  const secure = { secure: true } as const
  const places: [TestShop, Record<string, unknown>][] = [
    [shared()[0], { till_session: session, till_code: code, till_known: known }],
    [
      oneHost(),
      {
        '__Host-till_session': { ...session, ...secure },
        '__Host-till_code': { ...code, ...secure },
        '__Host-till_known': { ...known, ...secure },
      },
    ],
    [
      twoHosts(),
      {
        '__Secure-till_session': { ...session, ...secure, domain: 'shop.example' },
        '__Host-till_code': { ...code, ...secure },
        '__Host-till_known': { ...known, ...secure },
      },
    ],
  ]
  for (const [shop, expected] of places) {
    const browser = newBrowser(shop)
    const email = newMailbox()
    const asked = await browser.askCode(email)
    const { headers } = await browser.tryCode(email, await browser.codeFor(email))
    await browser.setPassword()
    const byPassword = await newBrowser(shop).signIn(email)
    const given = [...cookiesOf(asked.headers), ...cookiesOf(headers)].filter(({ value }) => value !== '')
    assert.deepEqual(Object.fromEntries(given.map(({ name, attributes }) => [name, attributes])), expected)
    const again = cookiesOf(byPassword.headers).find(({ name }) => name.endsWith('till_session'))!
    assert.deepEqual(again.attributes, expected[again.name])
    for (const line of [asked, byPassword].flatMap((answer) => answer.headers.getSetCookie()))
      assert(line.length < 4096)
    assert.match(sessionToken(browser), /^[\w-]{43}$/, '256 bits')

    const left = await browser.call('DELETE', '/api/auth/session')
    const cleared = cookiesOf(left.headers).find(({ name }) => name.endsWith('till_session'))!
    assert.deepEqual([cleared.value, cleared.attributes], ['', { ...again.attributes, 'max-age': '0' }])
    assert.deepEqual(browser.jar.names(), Object.keys(expected).filter((name) => name.endsWith('known')), 'the browser has forgotten it') // oxfmt-ignore
  }
})

test('a session that began at one host of the domain is one at the other', async () => {
  const shop = twoHosts()
  const { browser } = await signedIn(shop)
  const cookies = (host: string) => browser.jar.header(new URL(`https://${host}/api/x`))
  assert.match(cookies('app.shop.example'), /^__Secure-till_session=[\w-]{43}$/, 'and only the session')
  assert.match(cookies('api.shop.example'), /__Host-till_known=/)
  for (const host of ['shop.example.evil.example', 'evilshop.example', 'other.example']) assert.equal(cookies(host), '')
  const { headers } = await browser.call('GET', '/api/auth/session', undefined, { origin: HOSTS.APP_URL })
  assert.equal(headers.get('access-control-allow-origin'), HOSTS.APP_URL)
  assert.equal(headers.get('access-control-allow-credentials'), 'true')
})

test('no body, other header, address or row of the database contains the cookie’s value', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const holder = browser.jar.value('till_code')!
  const answers = [await browser.tryCode(email, await browser.codeFor(email))]
  for (const path of ['session', 'sessions', 'identities', 'otp', 'providers'])
    answers.push(await browser.call('GET', `/api/auth/${path}`))
  answers.push(await browser.call('PATCH', '/api/auth/seller', { name: 'Zoe' }))
  const secrets = [sessionToken(browser), holder, browser.jar.value('till_known')!.split('.')[1]!]
  for (const { body, headers } of answers) {
    const others = [...headers].filter(([name]) => name !== 'set-cookie')
    for (const secret of secrets) assert(!JSON.stringify([body, others]).includes(secret))
  }
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`.execute(shop.db)
  const forms = secrets.flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret, 'base64url').toString('hex'),
  ])
  for (const { name } of rows) {
    const found = sql<boolean>`exists (select 1 from unnest(${forms}::text[]) as f where position(f in t::text) > 0)`
    assert.equal(await count(shop, `${name} as t`, found), 0, name)
  }
})

test('no one can choose another person’s session before the sign-in', async () => {
  const [shop] = shared()
  const base = new URL('http://shop.test')
  const chosen = randomBytes(32).toString('base64url')
  const { browser: attacker } = await signedIn(shop)
  for (const planted of [chosen, sessionToken(attacker)]) {
    const victim = newBrowser(shop)
    victim.jar.set(base, 'till_session', planted)
    const { body } = await victim.signInByCode()
    assert.notEqual(sessionToken(victim), planted)
    assert.equal((await victim.session()).body.seller.id, body.seller.id)
    assertProblem(await withCookie(shop, planted), 401, 'not_signed_in')
  }
})

test('each sign-in has a new value, and the one it takes the place of is over', async () => {
  const [shop] = shared()
  const { browser, email, id } = await signedIn(shop)
  await browser.setPassword()
  const values = [sessionToken(browser)]
  await browser.signIn(email)
  values.push(sessionToken(browser))
  await browser.signInByCode(email)
  values.push(sessionToken(browser))
  assert.equal(new Set(values).size, 3)
  for (const value of values.slice(0, 2)) assertProblem(await withCookie(shop, value), 401, 'not_signed_in')
  assert.equal(await count(shop, 'sessions', ofSeller(id)), 1)
  await browser.signIn(email, 'wrong as can be')
  assert.equal(await browser.isSignedIn(), true, 'a try that fails ends nothing')
})

test('an unknown session opens nothing, and the browser gets a cookie that clears it', async () => {
  const [shop] = shared()
  const { browser, id } = await signedIn(shop)
  const value = sessionToken(browser)
  const { rows } = await sql<{ hash: string; id: string }>`
    select encode(token_hash, 'base64') as hash, id from sessions where seller_id = ${id}`.execute(shop.db)
  const { hash, id: sessionId } = rows[0]!
  const values = [
    '', 'x', 'null', 'undefined', sessionId, id, hash.replaceAll('=', ''), hash.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''), value.slice(1), `${value}x`, value.toLowerCase(), value.toUpperCase(),
    `${value}=`, `${value}%00`, "' or 1=1 --", '%', '%zz', '__proto__', 'x'.repeat(4000), randomBytes(32).toString('base64url'), '\\"',
  ] // oxfmt-ignore
  for (const wrong of values) {
    if (wrong === value) continue
    const answer = await withCookie(shop, wrong)
    assertProblem(answer, 401, 'not_signed_in')
    assert.equal(cookiesOf(answer.headers)[0]?.attributes['max-age'], '0', wrong)
  }
  for (const headers of [
    { 'x-session': value },
    { cookie: `TILL_SESSION=${value}` },
    { cookie: `xtill_session=${value}` },
    { cookie: `__Secure-till_session=${value}` },
    { cookie: `__Host-till_session=${value}` },
  ] as Record<string, string>[])
    assertProblem(await shop.call('GET', '/api/auth/session', undefined, headers), 401, 'not_signed_in')
  assertProblem(await shop.call('GET', `/api/auth/session?till_session=${value}`), 401, 'not_signed_in')
  const asKey = { authorization: `Bearer ${value}` }
  assertProblem(await shop.call('GET', '/api/auth/session', undefined, asKey), 403, 'key_not_accepted')
  assertProblem(await shop.call('GET', '/api/orders', undefined, asKey), 401, 'invalid_key')
  assert.equal((await withCookie(shop, value)).status, 200)
  assert.equal(
    (await withCookie(shop, `x; till_session=${value}`)).status,
    200,
    'one of another domain stands before it',
  )
})

test('a cookie that another host of the domain puts first hides no seller’s session', async () => {
  const [shop] = shared()
  const { browser, email } = await signedIn(shop)
  await browser.setPassword()
  const planted = Array.from({ length: 30 }, () => `till_session=${randomBytes(32).toString('base64url')}`).join('; ')
  const cookie = `${planted}; till_session=${sessionToken(browser)}`
  const ask = (method: string, path: string, body?: unknown) =>
    shop.call(method, path, body, { cookie, origin: 'http://shop.test' })
  assert.equal((await ask('GET', '/api/auth/session')).body.seller.email, email)
  assert.equal((await ask('DELETE', '/api/auth/session')).status, 204)
  assert.equal(await browser.isSignedIn(), false)
})

test('the live sessions of two sellers in one request are refused, both end, and each place they can lie is cleared', async () => {
  for (const shop of [shared()[0], oneHost(), twoHosts()]) {
    const [victim, attacker] = [await signedIn(shop), await signedIn(shop)]
    const name = victim.browser.jar.names().find((one) => one.endsWith('till_session'))!
    const host = new URL(shop.config.baseUrl ?? 'http://shop.test').hostname
    const cookie = [attacker, victim].map(({ browser }) => `${name}=${sessionToken(browser)}`).join('; ')
    const refused = await shop.call('GET', '/api/auth/session', undefined, { cookie })
    assertProblem(refused, 401, 'session_conflict')
    assert.match(refused.body.detail, /two different accounts/)
    const cleared = cookiesOf(refused.headers)
    for (const one of cleared) assert.deepEqual([one.name, one.value, one.attributes['max-age']], [name, '', '0'])
    const places = cleared.map(({ attributes }) => `${attributes.domain ?? 'host'} ${String(attributes.path)}`)
    const expected = name.startsWith('__Host-') ? ['host /'] : ['host /', `${host} /`, `${host} /api/auth`, `${host.replace(/^[^.]+\./, '')} /api`] // oxfmt-ignore
    for (const place of expected) assert(places.includes(place) || place.startsWith('test '), `${place} of ${places.join(', ')}`) // oxfmt-ignore
    assert.deepEqual([await victim.browser.isSignedIn(), await attacker.browser.isSignedIn()], [false, false])
    await victim.browser.signInByCode(victim.email)
    assert.equal((await victim.browser.session()).body.seller.email, victim.email)
  }
})

test('nothing is done in the name of either of two sellers, whichever stands first, and whatever stands beside them', async () => {
  const [shop, second] = shared()
  const planted = (count: number) => Array.from({ length: count }, () => `till_session=${randomBytes(32).toString('base64url')}`) // oxfmt-ignore
  for (const [turned, extra, service] of [
    [false, 0, shop],
    [true, 20, second],
    [false, 60, shop],
  ] as const) {
    const pair = [await signedIn(shop), await signedIn(shop)]
    const both = pair.map(({ browser }) => `till_session=${sessionToken(browser)}`)
    const cookie = [...(turned ? both.toReversed() : both).slice(0, 1), ...planted(extra), ...(turned ? both : both.toReversed()).slice(0, 1)].join('; ') // oxfmt-ignore
    const answer = await service.call('PATCH', '/api/auth/seller', { name: 'Eve' }, { cookie, origin: 'http://shop.test' }) // oxfmt-ignore
    assertProblem(answer, 401, 'session_conflict')
    for (const { browser, id } of pair) {
      assert.equal(await browser.isSignedIn(), false)
      assert.equal(await count(shop, 'sellers', sql`id = ${id} and name = 'Eve'`), 0)
    }
  }
  // one seller twice is no conflict: the operator has changed the cookie's domain
  const { browser, email } = await signedIn(shop)
  const other = newBrowser(shop)
  await other.signInByCode(email)
  assert.equal(
    (await withCookie(shop, `${sessionToken(browser)}; till_session=${sessionToken(other)}`)).body.seller.email,
    email,
  )
})

test('a page that was drawn for one seller changes nothing in the session of another', async () => {
  const [shop] = shared()
  const [ann, zoe] = [await signedIn(shop), await signedIn(shop)]
  const rename = (seller: string) =>
    shop.call('PATCH', '/api/auth/seller', { name: 'Ann' }, { cookie: `till_session=${sessionToken(zoe.browser)}`, origin: 'http://shop.test', 'till-seller': seller }) // oxfmt-ignore
  assertProblem(await rename(ann.id), 409, 'other_account')
  assert.equal(await count(shop, 'sellers', sql`id in (${ann.id}, ${zoe.id}) and name = 'Ann'`), 0)
  assert.equal((await rename(zoe.id)).status, 200)
})

/** Every route that changes something for sellers, as the service describes itself. */
async function changes(shop: TestShop): Promise<{ method: string; path: string }[]> {
  const { body } = await shop.call('GET', '/api/openapi.json')
  const routes = Object.entries<Record<string, object>>(body.paths)
    .filter(([path]) => path.startsWith('/api/auth/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })))
  return routes.filter(({ method }) => method !== 'GET')
}

test('no other site’s page can change anything with a seller’s session', async () => {
  const shop = twoHosts()
  const email = newMailbox()
  const { browser, id } = await signedIn(shop, email)
  const others = await signedIn(shop, email)
  const session = (await others.browser.session()).body.session.id
  const routes = await changes(shop)
  assert(routes.length >= 12, String(routes.length))
  const bodies: Record<string, unknown> = {
    email: newMailbox(), code: '000000', password: PASSWORD, newPassword: PASSWORD, name: 'Eve', returnTo: '/account/',
  } // oxfmt-ignore
  const origins = [
    undefined, 'null', 'https://evil.example', 'https://api.shop.example', 'https://shop.example', 'https://other.shop.example', 'https://app.shop.example.evil.example', 'https://evilapp.shop.example',
    'https://appxshop.example', 'http://app.shop.example', 'https://app.shop.example:8443', 'https://APP.shop.example', 'https://app.shop.example/', 'https://app.shop.example ,https://evil.example', '', 'file://', 'about:blank',
  ] // oxfmt-ignore
  const before = await rowsOf(shop, id)
  for (const { method, path } of routes) {
    const address = path.replace('{sessionId}', session).replace('{identityId}', newId('idn'))
    for (const origin of origins) {
      const answer = await browser.call(method, address, bodies, { origin })
      assertProblem(answer, 403, 'origin_not_allowed')
      assert.deepEqual(cookiesOf(answer.headers), [], `${method} ${address} ${origin}`)
      if (origin === undefined) continue
      assertProblem(await newBrowser(shop).call(method, address, bodies, { origin }), 403, 'origin_not_allowed')
    }
  }
  assert.deepEqual(await rowsOf(shop, id), before)
  assert.equal(await count(shop, 'mailbox_codes', sql`email = ${bodies.email}`), 0)
  assert.deepEqual([await browser.isSignedIn(), await others.browser.isSignedIn()], [true, true])
  assert.equal((await browser.call('PATCH', '/api/auth/seller', { name: 'Zoe' })).status, 200, 'and our own page does')
})

const rowsOf = async ({ db }: TestShop, id: string) =>
  (await sql`
    select e.name, e.email, (select count(*) from sessions s where s.seller_id = e.id) as sessions,
      (select count(*) from passwords p where p.seller_id = e.id) as passwords
    from sellers e where id = ${id}`.execute(db)).rows // oxfmt-ignore

test('a program without a browser needs no origin as long as it brings no session', async () => {
  const shop = twoHosts()
  const email = newMailbox()
  const browser = newBrowser(shop)
  const asked = await browser.call('POST', '/api/auth/otp', { email }, { origin: undefined })
  assert.equal(asked.status, 202)
  const code = await browser.codeFor(email)
  const { status } = await browser.call('POST', '/api/auth/otp/verify', { email, code }, { origin: undefined })
  assert.equal(status, 200)
  assertProblem(await newBrowser(shop).call('PATCH', '/api/auth/seller', { name: 'x' }, { origin: undefined }), 401, 'not_signed_in') // oxfmt-ignore
  assert.equal((await newBrowser(shop).call('DELETE', '/api/auth/session', undefined, { origin: undefined })).status, 204) // oxfmt-ignore
  assert.equal((await browser.session()).status, 200, 'and to read, none')
})

test('a form, or a text that another site may send without asking first, is not read', async () => {
  const shop = twoHosts()
  const { browser, id } = await signedIn(shop)
  const before = await rowsOf(shop, id)
  const bodies = [
    ['text/plain', JSON.stringify({ name: 'Eve', email: 'eve@evil.example', code: '000000', password: PASSWORD })],
    ['text/plain;application/json', '{"name":"Eve"}'],
    ['application/x-www-form-urlencoded', 'name=Eve&email=eve%40evil.example&code=000000'],
    ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="name"\r\n\r\nEve\r\n--x--'],
  ] as const
  for (const { method, path } of await changes(shop)) {
    const address = path.replace('{sessionId}', newId('ses')).replace('{identityId}', newId('idn'))
    for (const [type, text] of bodies) {
      const answer = await browser.call(method, address, text, { 'content-type': type })
      assertProblem(answer, 415, 'unsupported_media_type')
    }
  }
  assert.deepEqual(await rowsOf(shop, id), before)
  assert.equal(await browser.isSignedIn(), true)
})

test('no other site’s page can read the session', async () => {
  const shop = twoHosts()
  const { browser } = await signedIn(shop)
  for (const origin of ['null', 'https://evil.example', 'https://api.shop.example', 'https://other.shop.example']) {
    const { headers } = await browser.call('GET', '/api/auth/session', undefined, { origin })
    assert.equal(headers.get('access-control-allow-origin'), HOSTS.APP_URL, origin)
    assert.match(headers.get('vary') ?? '', /origin/i)
    const preflight = await shop.call('OPTIONS', '/api/auth/password', undefined, { origin, 'access-control-request-method': 'PUT' }) // oxfmt-ignore
    assert.equal(preflight.headers.get('access-control-allow-origin'), HOSTS.APP_URL)
  }
  for (const path of ['session', 'sessions', 'identities', 'otp']) {
    const { headers } = await browser.call('GET', `/api/auth/${path}`)
    assert.equal(headers.get('cache-control'), 'no-store', path)
  }
})

type Seller = Awaited<ReturnType<typeof signedIn>>
const ENDS: Record<string, (seller: Seller, shop: TestShop) => Promise<unknown>> = {
  'a sign-out': ({ browser }) => browser.call('DELETE', '/api/auth/session'),
  'a new password elsewhere': async ({ email }, shop) => {
    const other = newBrowser(shop)
    await other.signInByCode(email)
    await other.setPassword()
  },
  'a new mailbox elsewhere': async ({ email }, shop) => {
    const [other, newer] = [newBrowser(shop), newMailbox()]
    await other.signInByCode(email)
    await other.call('POST', '/api/auth/email', { email: newer })
    const code = await other.codeFor(newer)
    assert.equal((await other.call('POST', '/api/auth/email/verify', { code })).status, 200)
  },
  'signing out everywhere else': async ({ email }, shop) => {
    const other = newBrowser(shop)
    await other.signInByCode(email)
    assert.equal((await other.call('DELETE', '/api/auth/sessions')).status, 204)
    assert.equal(await other.isSignedIn(), true)
  },
  'ending it from elsewhere': async ({ browser, email }, shop) => {
    const { body } = await browser.session()
    const other = newBrowser(shop)
    await other.signInByCode(email)
    assert.equal((await other.call('DELETE', `/api/auth/sessions/${body.session.id}`)).status, 204)
    assert.equal(await other.isSignedIn(), true)
  },
  'disabling the seller': ({ id }, { db }) => sql`update sellers set disabled_at = now() where id = ${id}`.execute(db),
  'deleting the seller': ({ id }, { db }) => sql`delete from sellers where id = ${id}`.execute(db),
}
for (const [what, end] of Object.entries(ENDS)) {
  test(`${what} ends a session at once, at every service`, async () => {
    const [shop, second] = shared()
    const seller = await signedIn(shop)
    const value = sessionToken(seller.browser)
    for (const service of [shop, second]) assert.equal((await withCookie(service, value)).status, 200)
    await end(seller, shop)
    for (const service of [second, shop]) {
      const answer = await withCookie(service, value)
      assertProblem(answer, 401, 'not_signed_in')
      assert.deepEqual(
        cookiesOf(answer.headers).map(({ name, value: text, attributes }) => [name, text, attributes['max-age']]),
        [['till_session', '', '0']],
      )
      const changed = await service.call('PATCH', '/api/auth/seller', { name: 'x' }, { cookie: `till_session=${value}`, origin: 'http://shop.test' }) // oxfmt-ignore
      assertProblem(changed, 401, 'not_signed_in')
    }
  })
}

test('a disabled seller cannot sign in at all, and can again after that is undone', async () => {
  const [shop] = shared()
  const { browser, email, id } = await signedIn(shop)
  await browser.setPassword()
  await sql`update sellers set disabled_at = now() where id = ${id}`.execute(shop.db)
  assertProblem(await newBrowser(shop).signIn(email), 401, 'invalid_credentials')
  await sql`update sellers set disabled_at = null where id = ${id}`.execute(shop.db)
  assert.equal((await newBrowser(shop).signIn(email)).status, 200)
})

test('a session ends 30 days after its last use and 90 days after the sign-in, by the database’s clock', async (t) => {
  const [shop] = shared()
  const { browser, id } = await signedIn(shop)
  const value = sessionToken(browser)
  const is = async (created: string, seen: string): Promise<number> => {
    await sql`
      update sessions set created_at = now() - ${created}::interval, seen_at = now() - ${seen}::interval
      where seller_id = ${id}`.execute(shop.db)
    return (await withCookie(shop, value)).status
  }
  const ages: [string, string, number][] = [
    ['40 days', '29 days 23 hours', 200],
    ['40 days', '30 days 1 minute', 401],
    ['89 days 23 hours', '0', 200],
    ['90 days 1 minute', '0', 401],
    ['5 years', '5 years', 401],
    ['0', '0', 200],
  ]
  for (const [created, seen, status] of ages) assert.equal(await is(created, seen), status, `${created}, ${seen}`)
  for (const offset of [-100 * DAY_MS, 100 * DAY_MS]) {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + offset })
    assert.equal(await is('1 day', '1 day'), 200, 'a clock that jumps ends nothing')
    assert.equal(await is('91 days', '0'), 401, 'and revives nothing')
    t.mock.timers.reset()
  }
})

test('each use moves the end of an idle session on, with at most one write an hour', async () => {
  const [shop] = shared()
  const { browser, id } = await signedIn(shop)
  const seen = async () =>
    (await sql<{ minutes: number }>`
      select floor(extract(epoch from now() - seen_at) / 60)::int as minutes from sessions where seller_id = ${id}`.execute(shop.db)).rows[0]!.minutes // oxfmt-ignore
  for (const [before, after] of [
    [29 * 24 * 60, 0],
    [61, 0],
    [59, 59],
  ] as const) {
    await sql`update sessions set seen_at = now() - make_interval(mins => ${before}) where seller_id = ${id}`.execute(shop.db) // oxfmt-ignore
    await Promise.all(Array.from({ length: 5 }, () => browser.session()))
    assert.equal(await seen(), after)
  }
})

test('a seller has fifty sessions at most, and a further one ends the oldest', async () => {
  const [shop, second] = shared()
  const { browser, email, id } = await signedIn(shop)
  await browser.setPassword()
  await sql`
    insert into sessions (id, token_hash, seller_id, method, created_at)
    select 'ses_01' || lpad(to_hex(n), 24, '0'), sha256(${id}::bytea || int4send(n)), ${id}, 'code', now() - make_interval(days => n)
    from generate_series(1, 60) as n`.execute(shop.db)
  const newer = newBrowser(shop)
  assert.equal((await newer.signIn(email)).status, 200)
  assert.equal(await count(shop, 'sessions', ofSeller(id)), 50)
  assert.deepEqual([await newer.isSignedIn(), await browser.isSignedIn()], [true, true])
  const old = sql<boolean>`seller_id = ${id} and created_at < now() - interval '48 days 12 hours'`
  assert.equal(await count(shop, 'sessions', old), 0, 'the oldest are those that went')
  await Promise.all(Array.from({ length: 6 }, (_, at) => newBrowser(at % 2 ? shop : second).signIn(email)))
  // simultaneous ones can leave more, until the next one
  assert.equal((await newBrowser(shop).signIn(email)).status, 200)
  assert.equal(await count(shop, 'sessions', ofSeller(id)), 50)
})

test('sessions and codes whose time is over leave the tables', async () => {
  const [shop] = shared()
  const [idle, old, live] = [await signedIn(shop), await signedIn(shop), await signedIn(shop)]
  await sql`update sessions set seen_at = now() - interval '31 days' where seller_id = ${idle.id}`.execute(shop.db)
  await sql`update sessions set created_at = now() - interval '91 days' where seller_id = ${old.id}`.execute(shop.db)
  await sql`update mailbox_codes set expires_at = now() - interval '25 hours' where email = ${idle.email}`.execute(shop.db) // oxfmt-ignore
  await sweepSessions(shop.db)
  await sweepCodes(shop.db)
  const left = [idle, old, live].map(({ id }) => count(shop, 'sessions', ofSeller(id)))
  assert.deepEqual(await Promise.all(left), [0, 0, 1])
  const codes = [idle, live].map(({ email }) => count(shop, 'mailbox_codes', sql`email = ${email}`))
  assert.deepEqual(await Promise.all(codes), [0, 1])
  const { rows } = await sql`select 1 from pgboss.schedule where name = 'sweep_sessions'`.execute(shop.db)
  assert.equal(rows.length, 1, 'and a scheduled job removes them')
})

test('after a sign-out in one tab, a simultaneous change in another tab is not half done', async (t) => {
  const [shop] = shared()
  const { browser, id } = await signedIn(shop)
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  atEnd(t, () => client.end())
  await client.query('begin')
  await client.query('select 1 from sellers where id = $1 for update', [id])
  const changing = browser.call('PUT', '/api/auth/password', { newPassword: PASSWORD })
  await eventually(
    () => count(shop, 'pg_stat_activity', sql`datname = current_database() and wait_event_type = 'Lock'`),
    (waiting) => waiting > 0,
  )
  assert.equal((await browser.through(shop).call('DELETE', '/api/auth/session')).status, 204)
  await client.query('commit')
  assertProblem(await changing, 401, 'not_signed_in')
  assert.equal(await count(shop, 'passwords', ofSeller(id)), 0)
  assertProblem(await browser.call('PATCH', '/api/auth/seller', { name: 'Eve' }), 401, 'not_signed_in')
})

test('signing out works twice, and without a session', async () => {
  const [shop] = shared()
  const { browser, id } = await signedIn(shop)
  for (let time = 0; time < 2; time++) {
    const { status, body } = await browser.call('DELETE', '/api/auth/session')
    assert.deepEqual([status, body], [204, ''])
  }
  assert.equal((await newBrowser(shop).call('DELETE', '/api/auth/session')).status, 204)
  assert.equal(await count(shop, 'sessions', ofSeller(id)), 0)
})
