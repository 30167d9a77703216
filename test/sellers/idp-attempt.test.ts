import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newSigner } from '../../src/kit/signing.ts'
import { attemptCookieName, openAttempt, sealAttempt } from '../../src/sellers/attempts.ts'
import { type Lies, startHostileProvider } from '../stand-ins/hostile-provider.ts'
import { times } from '../stand-ins/processor.ts'
import {
  HOME,
  CALLBACK,
  SIGN_IN,
  START,
  attemptNames,
  comeBackAs,
  env,
  goThere,
  identitiesOf,
  locationOf,
  newPerson,
  of,
  provider,
  sellerIdOf,
  settingsOf,
  shareProvider,
  shared,
} from '../support/provider-shop.ts'
import { type Browser, cookiesOf, count, newBrowser, newMailbox } from '../support/seller.ts'
import { SECRET, type TestShop, assertProblem, startTestShop } from '../support/shop.ts'

shareProvider()

// The way to the provider and back: who may use it, how often, and the behaviour when the provider fails.

test('a return that this browser did not begin, or began otherwise, requests no token and signs in no one', async () => {
  const [shop] = shared()
  const signer = newSigner([SECRET], 'provider attempt')
  const changes: Record<string, (browser: Browser, name: string) => void> = {
    'without its cookie': ({ jar }, name) => jar.forget(name),
    'with a bit changed': ({ jar }, name) => resealed(jar, name, (text) => text.replace(/^./, flipped)),
    'with a bit of the signature changed': ({ jar }, name) =>
      resealed(jar, name, (text) => text.replace(/\..$|\../, (two) => `.${flipped(two[1]!)}`)),
    'with another purpose’s signature': ({ jar }, name) =>
      resealed(jar, name, (text) =>
        sealAttempt(newSigner([SECRET], 'known browser'), openAttempt(signer, text, Date.now())!),
      ),
    'after more than ten minutes': ({ jar }, name) =>
      resealed(jar, name, (text) =>
        sealAttempt(signer, { ...openAttempt(signer, text, Date.now())!, startedAt: Date.now() - 600_001 }),
      ),
    'with another attempt under its name': ({ jar }, name) =>
      resealed(jar, name, (text) =>
        sealAttempt(signer, { ...openAttempt(signer, text, Date.now())!, state: `${'x'.repeat(43)}` }),
      ),
  }
  for (const [what, change] of Object.entries(changes)) {
    const browser = newBrowser(shop)
    const person = newPerson()
    const back = await goThere(browser, { lies: { claims: { ...person } } })
    const name = attemptNames(browser)[0]!
    change(browser, name)
    const hadCookie = attemptNames(browser).length > 0
    provider.calls.length = 0
    const answer = await browser.call('GET', back)
    assert.equal(locationOf(answer), `${SIGN_IN}?error=idp_attempt_expired`, what)
    assert.deepEqual(provider.calls, [], what)
    assert.equal(await browser.isSignedIn(), false, what)
    if (hadCookie)
      assert(cookiesOf(answer.headers).some((one) => one.name === name && one.attributes['max-age'] === '0'))
    assert.equal(await count(shop, 'sellers', of(person.email)), 0, what)
  }
})

test('a return works once: repeated, it signs in no one and requests no token, even with a copy of the cookie', async () => {
  const [shop, other] = shared()
  const browser = newBrowser(shop)
  const person = newPerson()
  const back = await goThere(browser, { lies: { claims: { ...person } } })
  const name = attemptNames(browser)[0]!
  const kept = browser.jar.value(name)!
  assert.equal(locationOf(await browser.call('GET', back)), HOME)
  assert.deepEqual(attemptNames(browser), [], 'its cookie is gone')
  provider.calls.length = 0
  assert.equal(locationOf(await browser.call('GET', back)), `${SIGN_IN}?error=idp_attempt_expired`)
  for (const service of [shop, other]) {
    const again = newBrowser(service)
    again.jar.set(new URL(`http://shop.test${CALLBACK}`), name, kept)
    assert.equal(locationOf(await again.call('GET', back)), `${SIGN_IN}?error=idp_attempt_expired`)
    assert.equal(await again.isSignedIn(), false)
  }
  assert.deepEqual(provider.calls, [])
  assert(await browser.isSignedIn(), 'the session stays')
})

test('an incomplete return gets a plain way to continue, whatever else it has', async () => {
  const [shop] = shared()
  const queries = [
    '',
    '?',
    '?state=',
    '?code=x',
    '?state=x&state=y',
    '?state[]=x&code=y',
    '?state=%00&code=x',
    '?state=__proto__&code=x',
    `?state=${'x'.repeat(8000)}`,
    '?state=a%3B%20Domain%3Devil.test%0d%0aX:y&code=x',
    '?error=%3Cscript%3E&state=x',
    '?code=%zz&state=%ff',
  ]
  provider.calls.length = 0
  for (const query of queries) {
    const answer = await newBrowser(shop).call('GET', CALLBACK + query)
    assert.equal(locationOf(answer), `${SIGN_IN}?error=idp_attempt_expired`, query)
    assert.equal(cookiesOf(answer.headers).length, 0, query)
    assert.equal(answer.body, '')
  }
  assert.deepEqual(provider.calls, [])
})

test('an attacker’s finished return, opened in the victim’s browser, does not sign the victim in as the attacker', async () => {
  const [shop] = shared()
  const attacker = newBrowser(shop)
  const back = await goThere(attacker, { lies: { claims: { ...newPerson() } } })
  const fresh = newBrowser(shop)
  const begun = newBrowser(shop)
  await goThere(begun)
  const signedIn = newBrowser(shop)
  await signedIn.signInByCode()
  const before = await sellerIdOf(signedIn)
  for (const victim of [fresh, begun, signedIn])
    assert.equal(locationOf(await victim.call('GET', back)), `${SIGN_IN}?error=idp_attempt_expired`)
  assert.equal(await fresh.isSignedIn(), false)
  assert.equal(await begun.isSignedIn(), false)
  assert.equal(await sellerIdOf(signedIn), before)
})

test('one return that is opened twenty times at once, at two services, makes one session, one seller, one link', async () => {
  const [shop, other] = shared()
  const browser = newBrowser(shop)
  const person = newPerson()
  const back = await goThere(browser, { lies: { claims: { ...person } } })
  provider.calls.length = 0
  const cookie = browser.jar.header(new URL(`http://shop.test${CALLBACK}`))
  const answers = await times(20, (i) => [shop, other][i % 2]!.call('GET', back, undefined, { cookie }))
  assert.equal(answers.filter((one) => locationOf(one) === HOME).length, 1)
  assert.equal(answers.filter((one) => locationOf(one) === `${SIGN_IN}?error=idp_attempt_expired`).length, 19)
  assert.equal(provider.calls.filter((one) => one === 'token').length, 1)
  assert.equal(await count(shop, 'sellers', of(person.email)), 1)
  assert.equal(await identitiesOf(shop, person.sub), 1)
  assert.equal(await sessionsOf(shop, person.email), 1)
})

test('one new person in twenty browsers at once is one seller with one link', async () => {
  const [shop, other] = shared()
  const person = newPerson()
  const browsers = await times(20, async (i) => {
    const browser = newBrowser([shop, other][i % 2]!)
    return { browser, back: await goThere(browser, { lies: { claims: { ...person } } }) }
  })
  const answers = await Promise.all(browsers.map(({ browser, back }) => browser.call('GET', back)))
  for (const answer of answers) assert.equal(locationOf(answer), HOME)
  assert.equal(await count(shop, 'sellers', of(person.email)), 1)
  assert.equal(await identitiesOf(shop, person.sub), 1)
  assert.equal(await sessionsOf(shop, person.email), 20)
})

test('attempts in several tabs do not meet, and the cookies of those given up do not pile up', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const first = await goThere(browser, { path: `${START}?returnTo=/first` })
  const second = await goThere(browser, { lies: { claims: { ...newPerson() } }, path: `${START}?returnTo=/second` })
  assert.equal(locationOf(await browser.call('GET', second)), 'http://shop.test/second')
  provider.lies = { claims: { ...newPerson() } }
  assert.equal(locationOf(await browser.call('GET', first)), 'http://shop.test/first')
  for (let i = 0; i < 20; i++) await browser.call('GET', `${START}?returnTo=/${'x'.repeat(400)}`)
  assert(attemptNames(browser).length <= 5)
})

test('an answer that does not check out, or says no, leads to the sign-in page with its code and nothing of its text', async () => {
  const [shop] = shared()
  const description = '<img src=x onerror=alert(1)>'
  const rows: [Lies, string][] = [
    [{ signing: 'for another body' }, 'idp_failed'],
    [{ signing: 'with alg none' }, 'idp_failed'],
    [{ claims: { nonce: 'another' } }, 'idp_failed'],
    [{ claims: { aud: 'another' } }, 'idp_failed'],
    [{ callback: { iss: 'https://evil.test' } }, 'idp_failed'],
    [{ callback: { code: 'another' } }, 'idp_failed'],
    [{ callback: { code: undefined, error: 'access_denied', error_description: description } }, 'idp_refused'],
    [{ callback: { code: undefined, error: description } }, 'idp_refused'],
    [{ callback: { code: undefined, error: 'server_error' } }, 'idp_unavailable'],
    [{ broken: { token: 'answers 500' } }, 'idp_unavailable'],
    [{ broken: { jwks: 'answers HTML' } }, 'idp_unavailable'],
  ]
  for (const [lies, code] of rows) {
    const browser = newBrowser(shop)
    const answer = await browser.call('GET', await goThere(browser, { lies, path: `${START}?returnTo=/x/` }))
    assert.equal(locationOf(answer), `${SIGN_IN}?error=${code}&returnTo=%2Fx%2F`, JSON.stringify(lies))
    assert.equal(answer.body, '')
    assert.equal(await browser.isSignedIn(), false)
    assert.deepEqual(attemptNames(browser), [])
  }
})

test('with a provider that hangs, start and return get a response, and no other request waits for it', async (t) => {
  const hanging = await startHostileProvider(t)
  const env = settingsOf(hanging.settings)
  const impatient = await startTestShop(t, { env, deadlines: { identityProviderMs: 5_000 } })
  // this one would wait longer than the test may take, and has not read the provider's metadata yet
  const patient = await startTestShop(t, {
    env,
    databaseUrl: impatient.databaseUrl,
    deadlines: { identityProviderMs: 3_600_000 },
  })
  const [returning, late] = [newBrowser(impatient), newBrowser(impatient)]
  const back = await goThere(returning, { at: hanging })
  const lateBack = await goThere(late, { at: hanging })
  hanging.lies = { broken: { discovery: 'trickles', token: 'hangs' } }

  assert.equal(locationOf(await returning.call('GET', back)), `${SIGN_IN}?error=idp_unavailable`)
  const slow = await times(10, () => newBrowser(impatient).call('GET', `${START}?returnTo=/x`))
  for (const answer of slow) assert.equal(locationOf(answer), `${SIGN_IN}?error=idp_unavailable&returnTo=%2Fx`)

  const signedIn = newBrowser(patient)
  const email = newMailbox()
  await signedIn.signInByCode(email)
  await signedIn.setPassword()
  let ended = false
  const waiting = Promise.all([
    late.through(patient).call('GET', lateBack),
    newBrowser(patient).call('GET', START),
    signedIn.call('POST', '/api/auth/identities', {}),
  ]).finally(() => (ended = true))
  const [providers, code, password] = await Promise.all([
    patient.call('GET', '/api/auth/providers'),
    newBrowser(patient).askCode(newMailbox()),
    newBrowser(patient).signIn(email),
  ])
  assert.deepEqual([providers.body, code.status, password.status], [{ idp: true }, 202, 200])
  assert.equal(ended, false, 'the other ways in did not wait for the provider')

  await hanging.close()
  const [returned, begun, linking] = await waiting
  assert.equal(locationOf(returned), `${SIGN_IN}?error=idp_unavailable`)
  assert.equal(locationOf(begun), `${SIGN_IN}?error=idp_unavailable`)
  assertProblem(linking, 503, 'idp_unavailable')
  assert.equal(locationOf(await newBrowser(patient).call('GET', START)), `${SIGN_IN}?error=idp_unavailable`, 'gone')
  assert.deepEqual((await patient.call('GET', '/api/auth/providers')).body, { idp: true })
})

test('the return address is configured, whatever Host the request names', async (t) => {
  const trusting = await startTestShop(t, { env: { ...env, TRUST_PROXY: '1' } })
  const lies: Record<string, string>[] = [
    { host: 'localhost' },
    { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' },
    { forwarded: 'host=evil.test;proto=https' },
  ]
  for (const shop of [shared()[0], trusting])
    for (const headers of lies) {
      const started = await get(`${shop.url}${START}`, headers)
      const { searchParams } = new URL(started.location)
      assert.equal(searchParams.get('redirect_uri'), `http://shop.test${CALLBACK}`)
      const returned = await get(`${shop.url}${CALLBACK}?state=x`, headers)
      assert.equal(returned.location, `${SIGN_IN}?error=idp_attempt_expired`)
    }
})

test('without a provider its routes lead to the sign-in page, and say so', async (t) => {
  const shop = await startTestShop(t)
  const browser = newBrowser(shop)
  assert.deepEqual((await browser.call('GET', '/api/auth/providers')).body, { idp: false })
  assert.equal(locationOf(await browser.call('GET', START)), `${SIGN_IN}?error=idp_not_configured`)
  assert.equal(
    locationOf(await browser.call('GET', `${CALLBACK}?code=x&state=y`)),
    `${SIGN_IN}?error=idp_not_configured`,
  )
  await browser.signInByCode()
  assertProblem(await browser.call('POST', '/api/auth/identities', {}), 404, 'idp_not_configured')
  assert.deepEqual((await browser.call('GET', '/api/auth/identities')).body, { items: [] })
})

test('after signing in the browser goes only to a path of our own', async () => {
  const [shop] = shared()
  const own = ['/', '/account/', '/dashboard/orders/ord_1?tab=a&b=c.d', '/a-b/c_d']
  const other = [
    '',
    'https://evil.test',
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    '/@evil.test',
    '@evil.test',
    'https:evil.test',
    '/%2F%2Fevil.test',
    '/%0d%0aX:y',
    '/a\r\nX: y',
    '/a\n',
    'javascript:alert(1)',
    'JaVaScript:alert(1)',
    'shop.test.evil.test',
    '.evil.test',
    '/..;/x',
    '/../x',
    '/a//evil.test',
    '/x#y',
    '/\t/evil.test',
    '/ /evil.test',
    '/?u=https://evil.test',
    `/${'x'.repeat(500)}`,
    '/ünï',
  ]
  for (const path of [...own, ...other]) {
    const wanted = `http://shop.test${own.includes(path) ? path : '/shop/'}`
    const browser = newBrowser(shop)
    const landed = await comeBackAs(browser, newPerson(), `${START}?${new URLSearchParams({ returnTo: path })}`)
    assert.equal(landed, wanted, path)
  }
  for (const query of ['returnTo=/a&returnTo=//evil.test', 'returnTo[]=//evil.test', 'returnTo[a]=//evil.test'])
    assert.equal(await comeBackAs(newBrowser(shop), newPerson(), `${START}?${query}`), HOME, query)
})

test('the cookies of an attempt are for the API’s own host and path, out of scripts’ reach, and are taken back', async (t) => {
  const twoHosts = { BASE_URL: 'https://api.till.test', APP_URL: 'https://app.till.test', COOKIE_DOMAIN: 'till.test' }
  const shop = await startTestShop(t, { env: { ...env, ...twoHosts } })
  const browser = newBrowser(shop)
  provider.lies = { claims: { ...newPerson() } }
  const started = await browser.call('GET', `${START}?returnTo=/dashboard/`)
  const { pathname, search, origin, searchParams } = await provider.signIn(locationOf(started))
  assert.equal(origin, 'https://api.till.test')
  const name = `__Host-${attemptCookieName(searchParams.get('state')!)}`
  const [set, ...others] = cookiesOf(started.headers)
  assert.deepEqual(others, [])
  assert.equal(set!.name, name)
  const attributes = { 'max-age': '600', path: '/', httponly: true, secure: true, samesite: 'Lax' }
  assert.deepEqual(lowered(set!.attributes), lowered(attributes))

  const returned = await browser.call('GET', pathname + search)
  assert.equal(locationOf(returned), 'https://app.till.test/dashboard/')
  const taken = cookiesOf(returned.headers).find((one) => one.name === name)!
  assert.deepEqual(lowered(taken.attributes), lowered({ ...attributes, 'max-age': '0' }))
  assert.equal(taken.value, '')
  const session = cookiesOf(returned.headers).find((one) => one.name === '__Secure-till_session')!
  assert.equal(session.attributes.domain, 'till.test')
  assert(await browser.isSignedIn())
})

test('an attempt that a sibling host plants is not accepted on https, and parallel tabs still work', async (t) => {
  const https = { BASE_URL: 'https://api.till.test', APP_URL: 'https://app.till.test', COOKIE_DOMAIN: 'till.test' }
  const shop = await startTestShop(t, { env: { ...env, ...https } })
  const attacker = newBrowser(shop)
  const back = await goThere(attacker, { lies: { claims: { ...newPerson() } } })
  const name = attacker.jar.names().find((one) => one.includes('till_idp_'))
  const value = attacker.jar.value(name!)!
  // the cookies that a sibling host can set: with the domain, under each name that does not begin with __Host-
  for (const planted of [name!.replace('__Host-', '__Secure-'), name!.replace('__Host-', '')]) {
    const victim = newBrowser(shop)
    victim.jar.keep(new URL('https://evil.till.test/'), new Headers({ 'set-cookie': `${planted}=${value}; Domain=till.test; Path=/api/auth; Secure` })) // oxfmt-ignore
    assert.match(victim.jar.header(new URL(`https://api.till.test${CALLBACK}`)), new RegExp(`${planted}=`))
    assert.match(locationOf(await victim.call('GET', back)), /error=idp_attempt_expired/)
    assert.equal(await victim.isSignedIn(), false)
  }
  const browser = newBrowser(shop)
  const first = await goThere(browser, { path: `${START}?returnTo=/first` })
  const second = await goThere(browser, { lies: { claims: { ...newPerson() } }, path: `${START}?returnTo=/second` })
  assert.equal(locationOf(await browser.call('GET', second)), 'https://app.till.test/second')
  provider.lies = { claims: { ...newPerson() } }
  assert.equal(locationOf(await browser.call('GET', first)), 'https://app.till.test/first')
})

test('a session that was there before is replaced, and an attempt holds nothing that a browser should not see', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  await browser.signInByCode()
  const before = browser.jar.value('till_session')
  const person = newPerson()
  const back = await goThere(browser, { lies: { claims: { ...person } } })
  const text = Buffer.from(browser.jar.value(attemptNames(browser)[0]!)!.split('.')[0]!, 'base64url').toString()
  assert.deepEqual(Object.keys(JSON.parse(text)).sort(), ['nonce', 'returnTo', 'startedAt', 'state', 'verifier'])
  assert.equal(locationOf(await browser.call('GET', back)), HOME)
  assert.notEqual(browser.jar.value('till_session'), before)
  assert.equal((await browser.session()).body.seller.email, person.email)
  const old = newBrowser(shop)
  old.jar.set(new URL('http://shop.test/'), 'till_session', before!)
  assert.equal(await old.isSignedIn(), false)
})

test('starts are limited for each network address, and links with them', async (t) => {
  const shop = await startTestShop(t, { env: { ...env, LIMITS: 'idp=3/60' } })
  const browser = newBrowser(shop)
  for (let i = 0; i < 3; i++) assert.match(locationOf(await browser.call('GET', START)), /^http:\/\/127/)
  const refused = await browser.call('GET', START)
  assertProblem(refused, 429, 'rate_limited')
  assert(Number(refused.headers.get('retry-after')) > 0)
})

const flipped = (character: string): string => (character === 'A' ? 'B' : 'A')

function resealed(jar: Browser['jar'], name: string, change: (text: string) => string): void {
  const text = jar.value(name)!
  const changed = change(text)
  assert.notEqual(changed, text)
  jar.forget(name)
  jar.set(new URL(`http://shop.test${START}`), name, changed)
}

const sessionsOf = (shop: TestShop, email: string) =>
  count(shop, 'sessions', sql`seller_id = (select id from sellers where email = ${email})`)

const lowered = (attributes: Record<string, string | boolean>) =>
  Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, String(value).toLowerCase()]))

/** A request with any Host header, which `fetch` would set itself. */
async function get(address: string, headers: Record<string, string>): Promise<{ location: string }> {
  const request = http.get(address, { headers })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  response.resume()
  return { location: response.headers.location ?? '' }
}
