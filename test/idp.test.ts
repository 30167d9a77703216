import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { newSigner } from '../src/kit/signing.ts'
import { attemptCookieName, openAttempt, sealAttempt } from '../src/sellers/attempts.ts'
import { codeOf } from '../src/sellers/codes.ts'
import { type HostileProvider, type Lies, startHostileProvider } from './hostile-provider.ts'
import { ANN, BEN, signInAt, startIdentityProvider } from './identity-provider.ts'
import { times } from './processor.ts'
import { type Browser, PASSWORD, cookiesOf, count, newBrowser, newMailbox, sharedPair, wrongCode } from './seller.ts'
import { type Answer, SECRET, type TestShop, assertProblem, eventually, startTestShop } from './shop.ts'

const START = '/api/auth/idp'
const CALLBACK = '/api/auth/idp/callback'
const ACCOUNT = 'http://shop.test/account/'
const SIGN_IN = 'http://shop.test/sign-in/'
/** What is promised while a provider is out of order. */
const LONGEST_MS = 5_000

const settingsOf = ({
  issuer,
  clientId,
  clientSecret,
}: {
  issuer: string
  clientId: string
  clientSecret: string
}) => ({
  IDP_ISSUER: issuer,
  IDP_CLIENT_ID: clientId,
  IDP_CLIENT_SECRET: clientSecret,
})

const ends: (() => unknown)[] = []
const env: Record<string, string> = {}
let provider: HostileProvider
before(async () => {
  provider = await startHostileProvider({ after: (end) => ends.push(end) })
  Object.assign(env, settingsOf(provider.settings))
})
const shared = sharedPair(env)
after(async () => {
  for (const end of ends) await end()
})

interface Claims {
  sub?: string
  email?: unknown
  email_verified?: unknown
}

const newSubject = (): string => `sub-${randomBytes(6).toString('hex')}`
const newPerson = (claims: Claims = {}): Claims & { sub: string; email: any } => ({
  sub: newSubject(),
  email: newMailbox(),
  email_verified: true,
  ...claims,
})

const locationOf = ({ status, headers }: Answer): string => {
  assert.equal(status, 302)
  assert.equal(headers.get('cache-control'), 'no-store')
  return headers.get('location') ?? ''
}

/** To the provider and back to our door, which is not opened yet. */
async function goThere(
  browser: Browser,
  { lies = {}, path = START, at = provider }: { lies?: Lies; path?: string; at?: HostileProvider } = {},
): Promise<string> {
  at.lies = lies
  const { pathname, search } = await at.signIn(locationOf(await browser.call('GET', path)))
  return pathname + search
}

/** The whole way; where it ends. */
async function comeBackAs(browser: Browser, person: Claims, path = START): Promise<string> {
  return locationOf(await browser.call('GET', await goThere(browser, { lies: { claims: { ...person } }, path })))
}

const of = (email: string) => sql<boolean>`email = ${email}`
const identitiesOf = (shop: TestShop, subject: string) => count(shop, 'identities', sql`subject = ${subject}`)
/** The code that is good now, which the mail says that may still be on its way. */
async function liveCode({ db }: TestShop, email: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select id from one_time_codes where email = ${email}`.execute(db)
  return codeOf(SECRET, rows[0]!.id)
}
const sellerIdOf = async (browser: Browser): Promise<string> => (await browser.session()).body.seller?.id

test('a person signs up and in through a real provider, by a verified mailbox at once and by another after a code', async (t) => {
  const real = await startIdentityProvider({ redirectUris: [`http://shop.test${CALLBACK}`] })
  t.after(real.close)
  const shop = await startTestShop(t, { env: settingsOf(real) })
  assert.deepEqual((await shop.call('GET', '/api/auth/providers')).body, { idp: true })
  const walk = async (browser: Browser, person: typeof ANN | undefined) => {
    const { pathname, search } = await signInAt(locationOf(await browser.call('GET', START)), person)
    return locationOf(await browser.call('GET', pathname + search))
  }
  const ann = newBrowser(shop)
  const begun = performance.now()
  assert.equal(await walk(ann, ANN), ACCOUNT)
  t.diagnostic(`the whole way took ${Math.round(performance.now() - begun)} ms`)
  const { seller, session } = (await ann.session()).body
  assert.equal(seller.email, ANN.email)
  assert.equal(session.method, 'idp')

  const ben = newBrowser(shop)
  assert.equal(await walk(ben, BEN), `${SIGN_IN}?step=code`)
  assert.equal((await ben.tryCode(BEN.email, await ben.codeFor(BEN.email))).status, 200)

  const again = newBrowser(shop)
  assert.equal(await walk(again, ANN), ACCOUNT)
  assert.equal(await sellerIdOf(again), seller.id)
  assert.equal(await walk(newBrowser(shop), undefined), `${SIGN_IN}?error=idp_refused`)
  await real.rotateKeys()
  assert.equal(await walk(newBrowser(shop), ANN), ACCOUNT, 'keys that were changed a moment ago')
})

test('who comes back is known by issuer and subject, whatever the address is by then', async () => {
  const [shop] = shared()
  const person = newPerson()
  const first = newBrowser(shop)
  assert.equal(await comeBackAs(first, person), ACCOUNT)
  const id = await sellerIdOf(first)
  for (const claims of [{ email: newMailbox() }, { email: undefined }, { email: 'no address' }]) {
    const browser = newBrowser(shop)
    const landed = await comeBackAs(browser, { ...person, ...claims })
    // who has no verified mailbox there any more shows by a code that the account's own one is theirs
    if (claims.email?.includes('@')) assert.equal(await sellerIdOf(browser), id)
    else assert.equal(landed, `${SIGN_IN}?step=code`)
  }
  assert.equal(await identitiesOf(shop, person.sub), 1)
  const { body } = await first.call('GET', '/api/auth/identities')
  assert.equal(body.items.length, 1)
  const { id: identityId, linkedAt, ...identity } = body.items[0]
  assert.match(identityId, /^idn_/)
  assert.match(linkedAt, /Z$/)
  assert.deepEqual(identity, { issuer: provider.issuer, email: person.email })
})

test('a verified mailbox opens the account it already has, links it, and tells the owner', async () => {
  const [shop] = shared()
  const owner = newBrowser(shop)
  const email = newMailbox()
  const { seller } = (await owner.signInByCode(email)).body
  await owner.setPassword()
  const person = newPerson({ email: email.toUpperCase() })
  const browser = newBrowser(shop)
  assert.equal(await comeBackAs(browser, person), ACCOUNT)
  assert.equal(await sellerIdOf(browser), seller.id)
  assert.equal(await identitiesOf(shop, person.sub), 1)
  assert.equal((await newBrowser(shop).signIn(email)).status, 200, 'its other ways in stay')
  assert(await owner.isSignedIn())
  await eventually(
    () => shop.mails(email),
    (mails) => mails.some(({ subject }) => subject.startsWith('A new way to sign in')),
  )
})

test('A9: the first proof of a mailbox, through a provider, removes whatever was put there before it', async () => {
  const [shop] = shared()
  const victim = newPerson()
  const attacker = newBrowser(shop)
  const { seller } = (await attacker.signInByCode()).body
  await attacker.setPassword()
  const planted = newSubject()
  await sql`insert into identities (id, seller_id, issuer, subject) values
    (${`idn_${'0'.repeat(26)}`}, ${seller.id}, ${provider.issuer}, ${planted})`.execute(shop.db)
  await sql`update sellers set email = ${victim.email}, email_proven_at = null where id = ${seller.id}`.execute(shop.db)

  const browser = newBrowser(shop)
  assert.equal(await comeBackAs(browser, victim), ACCOUNT)
  assert.equal(await sellerIdOf(browser), seller.id)
  assert.equal(await attacker.isSignedIn(), false)
  assertProblem(await newBrowser(shop).signIn(victim.email, PASSWORD), 401, 'invalid_credentials')
  assert.equal(await identitiesOf(shop, planted), 0)
  assert.equal(await identitiesOf(shop, victim.sub), 1)
  assert.equal((await browser.session()).body.seller.hasPassword, false)

  // the same for whom that account had been linked already
  await browser.setPassword()
  await sql`update sellers set email_proven_at = null where id = ${seller.id}`.execute(shop.db)
  const later = newBrowser(shop)
  assert.equal(await comeBackAs(later, victim), ACCOUNT)
  assert.equal(await sellerIdOf(later), seller.id)
  assert.equal(await browser.isSignedIn(), false)
  assertProblem(await newBrowser(shop).signIn(victim.email, PASSWORD), 401, 'invalid_credentials')
})

test('I1: a return that this browser did not begin, or began otherwise, asks for no token and signs nobody in', async () => {
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

test('I1: a return is good once: again, it signs nobody in and asks for no token, even with the cookie kept', async () => {
  const [shop, other] = shared()
  const browser = newBrowser(shop)
  const person = newPerson()
  const back = await goThere(browser, { lies: { claims: { ...person } } })
  const name = attemptNames(browser)[0]!
  const kept = browser.jar.value(name)!
  assert.equal(locationOf(await browser.call('GET', back)), ACCOUNT)
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
  assert(await browser.isSignedIn(), 'who is signed in stays so')
})

test('I1: a return without what it needs is answered with a plain way on, whatever else it holds', async () => {
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

test('I2: an attacker’s finished return, opened in the victim’s browser, does not sign them in as the attacker', async () => {
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

test('I6: one return that is called twenty times at once, at two services, makes one session, one seller, one link', async () => {
  const [shop, other] = shared()
  const browser = newBrowser(shop)
  const person = newPerson()
  const back = await goThere(browser, { lies: { claims: { ...person } } })
  provider.calls.length = 0
  const cookie = browser.jar.header(new URL(`http://shop.test${CALLBACK}`))
  const answers = await times(20, (i) => [shop, other][i % 2]!.call('GET', back, undefined, { cookie }))
  assert.equal(answers.filter((one) => locationOf(one) === ACCOUNT).length, 1)
  assert.equal(answers.filter((one) => locationOf(one) === `${SIGN_IN}?error=idp_attempt_expired`).length, 19)
  assert.equal(provider.calls.filter((one) => one === 'token').length, 1)
  assert.equal(await count(shop, 'sellers', of(person.email)), 1)
  assert.equal(await identitiesOf(shop, person.sub), 1)
  assert.equal(await sessionsOf(shop, person.email), 1)
})

test('I6: one new person who comes from twenty browsers at once is one seller with one link', async () => {
  const [shop, other] = shared()
  const person = newPerson()
  const browsers = await times(20, async (i) => {
    const browser = newBrowser([shop, other][i % 2]!)
    return { browser, back: await goThere(browser, { lies: { claims: { ...person } } }) }
  })
  const answers = await Promise.all(browsers.map(({ browser, back }) => browser.call('GET', back)))
  for (const answer of answers) assert.equal(locationOf(answer), ACCOUNT)
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

test('I8, I9: only the boolean true skips the code: any other word for a mailbox opens nothing of its owner', async () => {
  const [shop] = shared()
  for (const email_verified of [false, undefined, null, 'true', 'false', 1, 'yes', [true]]) {
    const owner = newBrowser(shop)
    const email = newMailbox()
    await owner.signInByCode(email)
    const person = newPerson({ email, email_verified })
    const attacker = newBrowser(shop)
    const what = JSON.stringify(email_verified) ?? 'absent'
    assert.equal(await comeBackAs(attacker, person, `${START}?returnTo=/a`), `${SIGN_IN}?step=code&returnTo=%2Fa`, what)
    assert.equal(await attacker.isSignedIn(), false, what)
    assert.equal(await identitiesOf(shop, person.sub), 0, what)
    // nor the next time, nor by knowing the address
    assert.equal(await comeBackAs(attacker, person), `${SIGN_IN}?step=code`, what)
    const waiting = await attacker.call('GET', '/api/auth/otp')
    assert.deepEqual({ ...waiting.body, resendAfter: 0 }, { email, resendAfter: 0, provider: true }, what)
    const code = await liveCode(shop, email)
    assertProblem(await attacker.tryCode(email, wrongCode(code)), 401, 'invalid_code')
    assertProblem(await newBrowser(shop).tryCode(email, code), 401, 'invalid_code')
    assert.equal(await identitiesOf(shop, person.sub), 0, what)
  }
})

test('I9: the right code in the browser that came from the provider signs in, and links what has shown itself', async () => {
  const [shop] = shared()
  const owner = newBrowser(shop)
  const email = newMailbox()
  const { seller } = (await owner.signInByCode(email)).body
  const person = newPerson({ email, email_verified: false })
  const browser = newBrowser(shop)
  await comeBackAs(browser, person)
  // another code, asked for on the page: it is still the same person that it links
  assert.equal((await browser.call('POST', '/api/auth/otp', { email, again: true })).status, 202)
  const answer = await browser.tryCode(email, await liveCode(shop, email))
  assert.equal(answer.body.seller?.id, seller.id)
  assert.equal(await identitiesOf(shop, person.sub), 1)
  assert.equal((await browser.session()).body.session.method, 'idp')
  // linked, and with no word for a mailbox: still a code, to the account's own one
  const later = newBrowser(shop)
  assert.equal(await comeBackAs(later, { ...person, email: newMailbox() }), `${SIGN_IN}?step=code`)
  assert.equal((await later.call('GET', '/api/auth/otp')).body.email, email)
})

test('who signs in by a code of their own, in a browser where somebody came from the provider before, links nobody', async () => {
  const [shop] = shared()
  const email = newMailbox()
  const stranger = newPerson({ email, email_verified: false })
  const browser = newBrowser(shop)
  await comeBackAs(browser, stranger)
  const asked = await eventually(
    () => shop.mails(email),
    (mails) => mails.length > 0,
  )
  assert.match(asked[0]!.text, /links the account at your identity provider/)
  await browser.askCode(email)
  assert.equal((await browser.tryCode(email, await liveCode(shop, email))).status, 200)
  assert.equal(await identitiesOf(shop, stranger.sub), 0)
})

test('I11: who comes without a usable address is told so, and nothing is kept of it', async () => {
  const [shop] = shared()
  for (const email of [
    undefined,
    '',
    ['a@b.test'],
    `${'a'.repeat(300)}@idp.test`,
    'a@b.test\r\nBcc: c@d.test',
    'аnn@idp.test',
    7,
  ]) {
    const browser = newBrowser(shop)
    const person = newPerson({ email })
    assert.equal(await comeBackAs(browser, person), `${SIGN_IN}?error=idp_no_mailbox`, JSON.stringify(email))
    assert.equal(await browser.isSignedIn(), false)
    assert.equal(await identitiesOf(shop, person.sub), 0)
  }
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

test('I13: with a provider that hangs, starting and returning are answered within five seconds, and all else as ever', async (t) => {
  const hanging = await startHostileProvider(t)
  const shop = await startTestShop(t, { env: settingsOf(hanging.settings) })
  const returning = newBrowser(shop)
  const back = await goThere(returning, { at: hanging })
  const fresh = await startTestShop(t, { env: settingsOf(hanging.settings) })
  hanging.lies = { broken: { discovery: 'trickles', token: 'hangs' } }
  const signedIn = newBrowser(fresh)
  const email = newMailbox()
  await signedIn.signInByCode(email)
  await signedIn.setPassword()

  const began = performance.now()
  const slow = await times(10, () => newBrowser(fresh).call('GET', `${START}?returnTo=/x`))
  assert(performance.now() - began < LONGEST_MS)
  for (const answer of slow) assert.equal(locationOf(answer), `${SIGN_IN}?error=idp_unavailable&returnTo=%2Fx`)

  const waiting = Promise.all([
    returning.call('GET', back),
    newBrowser(fresh).call('GET', START),
    signedIn.call('POST', '/api/auth/identities', {}),
  ])
  let isWaiting = true
  const started = performance.now()
  void waiting.then(() => (isWaiting = false))
  // meanwhile
  assert.deepEqual((await fresh.call('GET', '/api/auth/providers')).body, { idp: true })
  assert.equal((await newBrowser(fresh).askCode(newMailbox())).status, 202)
  assert.equal((await newBrowser(fresh).signIn(email)).status, 200)
  assert(isWaiting, 'the other ways in did not wait for the provider')
  const [returned, begun, linking] = await waiting
  assert(performance.now() - started < LONGEST_MS)
  assert.equal(locationOf(returned), `${SIGN_IN}?error=idp_unavailable`)
  assert.equal(locationOf(begun), `${SIGN_IN}?error=idp_unavailable`)
  assertProblem(linking, 503, 'idp_unavailable')

  await hanging.close()
  assert.equal(locationOf(await newBrowser(fresh).call('GET', START)), `${SIGN_IN}?error=idp_unavailable`, 'gone')
  assert.deepEqual((await fresh.call('GET', '/api/auth/providers')).body, { idp: true })
})

test('I16: where the provider sends people back to is configured, whatever the request calls us', async (t) => {
  const trusting = await startTestShop(t, { env: { ...env, TRUST_PROXY: '1' } })
  const lies: Record<string, string>[] = [
    { host: 'evil.test' },
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

test('I17: with no provider configured, its routes lead to the sign-in page, and say so', async (t) => {
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

test('A13: after signing in one comes to a path of our own, and to no other', async () => {
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
    const wanted = `http://shop.test${own.includes(path) ? path : '/account/'}`
    const browser = newBrowser(shop)
    const landed = await comeBackAs(browser, newPerson(), `${START}?${new URLSearchParams({ returnTo: path })}`)
    assert.equal(landed, wanted, path)
  }
  for (const query of ['returnTo=/a&returnTo=//evil.test', 'returnTo[]=//evil.test', 'returnTo[a]=//evil.test'])
    assert.equal(await comeBackAs(newBrowser(shop), newPerson(), `${START}?${query}`), ACCOUNT, query)
})

test('an account at the provider is linked while signed in, opens this account from then on, and is unlinked', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const { seller } = (await browser.signInByCode()).body
  const person = newPerson()
  assert.equal(await linkAs(browser, person, { returnTo: '/account/?tab=ways' }), 'http://shop.test/account/?tab=ways')
  assert.equal(await sellerIdOf(browser), seller.id)
  const { items } = (await browser.call('GET', '/api/auth/identities')).body
  assert.deepEqual(
    items.map((one: { email: string }) => one.email),
    [person.email],
  )
  assert.equal(await count(shop, 'sellers', of(person.email)), 0, 'no account is made for the provider’s mailbox')

  const elsewhere = newBrowser(shop)
  assert.equal(await comeBackAs(elsewhere, person), ACCOUNT)
  assert.equal(await sellerIdOf(elsewhere), seller.id)
  // once more is no harm
  assert.equal(await linkAs(browser, person), ACCOUNT)
  assert.equal(await identitiesOf(shop, person.sub), 1)

  const stranger = newBrowser(shop)
  await stranger.signInByCode()
  assertProblem(await stranger.call('DELETE', `/api/auth/identities/${items[0].id}`), 404, 'identity_not_found')
  assert.equal((await browser.call('DELETE', `/api/auth/identities/${items[0].id}`)).status, 204)
  assertProblem(await browser.call('DELETE', `/api/auth/identities/${items[0].id}`), 404, 'identity_not_found')
  const after = newBrowser(shop)
  assert.equal(await comeBackAs(after, person), ACCOUNT)
  assert.notEqual(await sellerIdOf(after), seller.id, 'it opens the account of its own mailbox now')
})

test('what opens another seller’s account is not linked to this one, nor taken from that one', async () => {
  const [shop] = shared()
  const person = newPerson()
  const owner = newBrowser(shop)
  await comeBackAs(owner, person)
  const browser = newBrowser(shop)
  await browser.signInByCode()
  assert.equal(await linkAs(browser, person, { returnTo: '/account/?a=b' }), `${ACCOUNT}?a=b&error=identity_taken`)
  assert.deepEqual((await browser.call('GET', '/api/auth/identities')).body, { items: [] })
  assert.equal((await owner.call('GET', '/api/auth/identities')).body.items.length, 1)
})

test('a link that was begun in one session is finished in no other', async () => {
  const [shop] = shared()
  const begin = async () => {
    const browser = newBrowser(shop)
    await browser.signInByCode()
    const { url } = (await browser.call('POST', '/api/auth/identities', {})).body
    const person = newPerson()
    provider.lies = { claims: { ...person } }
    const { pathname, search } = await provider.signIn(url)
    return { browser, person, back: pathname + search }
  }
  const signedOut = await begin()
  await signedOut.browser.call('DELETE', '/api/auth/session')
  const other = await begin()
  await other.browser.signInByCode()
  const renewed = await begin()
  await sql`delete from sessions where seller_id = ${await sellerIdOf(renewed.browser)}`.execute(shop.db)
  for (const { browser, person, back } of [signedOut, other, renewed]) {
    assert.equal(locationOf(await browser.call('GET', back)), `${ACCOUNT}?error=idp_attempt_expired`)
    assert.equal(await identitiesOf(shop, person.sub), 0)
    assert.equal(await count(shop, 'sellers', of(person.email)), 0, 'nor does it sign anybody in')
  }
})

test('linking and unlinking need a session that is not ten minutes old, from a page of ours', async () => {
  const [shop] = shared()
  const nobody = newBrowser(shop)
  assertProblem(await nobody.call('GET', '/api/auth/identities'), 401, 'not_signed_in')
  assertProblem(await nobody.call('POST', '/api/auth/identities', {}), 401, 'not_signed_in')
  const identity = `/api/auth/identities/idn_${'0'.repeat(26)}`
  assertProblem(await nobody.call('DELETE', identity), 401, 'not_signed_in')
  const browser = newBrowser(shop)
  await comeBackAs(browser, newPerson())
  for (const origin of [undefined, 'https://evil.test', 'null'])
    assertProblem(await browser.call('POST', '/api/auth/identities', {}, { origin }), 403, 'origin_not_allowed')
  const [{ id }] = (await browser.call('GET', '/api/auth/identities')).body.items
  await sql`update sessions set created_at = now() - interval '11 minutes'
    where seller_id = ${await sellerIdOf(browser)}`.execute(shop.db)
  assertProblem(await browser.call('POST', '/api/auth/identities', {}), 403, 'recent_sign_in_required')
  assertProblem(await browser.call('DELETE', `/api/auth/identities/${id}`), 403, 'recent_sign_in_required')
  assert.equal((await browser.call('GET', '/api/auth/identities')).body.items.length, 1)
})

test('where sign-up is closed, a provider lets known sellers in and makes no new ones', async (t) => {
  const shop = await startTestShop(t, { env: { ...env, SIGNUP: 'closed' } })
  const known = newPerson({ email: 'ann@shop.test' })
  assert.equal(await comeBackAs(newBrowser(shop), known), ACCOUNT)
  for (const claims of [{}, { email_verified: false }]) {
    const person = newPerson(claims)
    const browser = newBrowser(shop)
    const landed = await comeBackAs(browser, person)
    assert.equal(landed, claims.email_verified === false ? `${SIGN_IN}?step=code` : `${SIGN_IN}?error=signup_closed`)
    assert.equal(await browser.isSignedIn(), false)
    assert.equal(await count(shop, 'sellers', of(person.email)), 0)
    assert.equal(await identitiesOf(shop, person.sub), 0)
  }
})

test('whom the operator has disabled comes in by no provider', async () => {
  const [shop] = shared()
  const person = newPerson()
  const browser = newBrowser(shop)
  await comeBackAs(browser, person)
  await sql`update sellers set disabled_at = now() where email = ${person.email}`.execute(shop.db)
  const otherMailbox = newMailbox()
  const claims = [{}, { sub: newSubject() }, { email: otherMailbox }, { email_verified: false }]
  for (const one of claims) {
    const landed = await comeBackAs(newBrowser(shop), { ...person, ...one })
    assert.equal(landed, `${SIGN_IN}?error=account_disabled`, JSON.stringify(one))
  }
  assert.equal(await count(shop, 'sellers', of(otherMailbox)), 0, 'nor is another made for the same person')
  assert.equal(await browser.isSignedIn(), false)
})

test('the cookies of an attempt are for the API’s own host and path, out of scripts’ reach, and are taken back', async (t) => {
  const twoHosts = { BASE_URL: 'https://api.till.test', APP_URL: 'https://app.till.test', COOKIE_DOMAIN: 'till.test' }
  const shop = await startTestShop(t, { env: { ...env, ...twoHosts } })
  const browser = newBrowser(shop)
  provider.lies = { claims: { ...newPerson() } }
  const started = await browser.call('GET', `${START}?returnTo=/dashboard/`)
  const { pathname, search, origin, searchParams } = await provider.signIn(locationOf(started))
  assert.equal(origin, 'https://api.till.test')
  const name = `__Secure-${attemptCookieName(searchParams.get('state')!)}`
  const [set, ...others] = cookiesOf(started.headers)
  assert.deepEqual(others, [])
  assert.equal(set!.name, name)
  const attributes = { 'max-age': '600', path: '/api/auth', httponly: true, secure: true, samesite: 'Lax' }
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

test('a session that was there before is replaced, and an attempt holds nothing that a browser should not see', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  await browser.signInByCode()
  const before = browser.jar.value('till_session')
  const person = newPerson()
  const back = await goThere(browser, { lies: { claims: { ...person } } })
  const text = Buffer.from(browser.jar.value(attemptNames(browser)[0]!)!.split('.')[0]!, 'base64url').toString()
  assert.deepEqual(Object.keys(JSON.parse(text)).sort(), ['nonce', 'returnTo', 'startedAt', 'state', 'verifier'])
  assert.equal(locationOf(await browser.call('GET', back)), ACCOUNT)
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

const attemptNames = ({ jar }: Browser): string[] => jar.names().filter((name) => name.startsWith('till_idp_'))
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

/** Links as a page of ours does; where it ends. */
async function linkAs(browser: Browser, person: Claims, body: { returnTo?: string } = {}): Promise<string> {
  provider.lies = { claims: { ...person } }
  const begun = await browser.call('POST', '/api/auth/identities', body)
  assert.equal(begun.status, 200, JSON.stringify(begun.body))
  const { pathname, search } = await provider.signIn(begun.body.url)
  return locationOf(await browser.call('GET', pathname + search))
}

const lowered = (attributes: Record<string, string | boolean>) =>
  Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, String(value).toLowerCase()]))

/** A request with any Host header, which `fetch` would set itself. */
async function get(address: string, headers: Record<string, string>): Promise<{ location: string }> {
  const request = http.get(address, { headers })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  response.resume()
  return { location: response.headers.location ?? '' }
}
