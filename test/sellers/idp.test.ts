import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { codeOf } from '../../src/sellers/codes.ts'
import { ANN, BEN, signInAt, startIdentityProvider } from '../stand-ins/identity-provider.ts'
import {
  ACCOUNT,
  HOME,
  CALLBACK,
  type Claims,
  SIGN_IN,
  START,
  comeBackAs,
  env,
  identitiesOf,
  locationOf,
  newPerson,
  newSubject,
  of,
  provider,
  sellerIdOf,
  settingsOf,
  shareProvider,
  shared,
} from '../support/provider-shop.ts'
import {
  type Browser,
  PASSWORD,
  count,
  newAddress,
  newBrowser,
  newGuesser,
  newMailbox,
  wrongCode,
} from '../support/seller.ts'
import { SECRET, type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { atEnd } from '../support/ends.ts'

shareProvider()

// Which account opens when a person comes back from the provider.

const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** The code that is valid now. Its mail may still be on its way. */
async function liveCode({ db }: TestShop, email: string): Promise<string> {
  const { rows } = await sql<{
    id: string
  }>`select id from mailbox_codes where email = ${email} order by created_at desc limit 1`.execute(db)
  return codeOf(SECRET, rows[0]!.id)
}

test('a person signs up and in through a real provider, by a verified mailbox at once and by another after a code', async (t) => {
  const real = await startIdentityProvider({ redirectUris: [`http://shop.test${CALLBACK}`] })
  atEnd(t, real.close)
  const shop = await startTestShop(t, { env: settingsOf(real) })
  assert.deepEqual((await shop.call('GET', '/api/auth/providers')).body, { idp: true })
  const walk = async (browser: Browser, person: typeof ANN | undefined) => {
    const { pathname, search } = await signInAt(locationOf(await browser.call('GET', START)), person)
    return locationOf(await browser.call('GET', pathname + search))
  }
  const ann = newBrowser(shop)
  const begun = performance.now()
  assert.equal(await walk(ann, ANN), HOME)
  t.diagnostic(`the whole way took ${Math.round(performance.now() - begun)} ms`)
  const { seller, session } = (await ann.session()).body
  assert.equal(seller.email, ANN.email)
  assert.equal(session.method, 'idp')

  const ben = newBrowser(shop)
  assert.equal(await walk(ben, BEN), `${SIGN_IN}?step=code`)
  assert.equal((await ben.tryCode(BEN.email, await ben.codeFor(BEN.email))).status, 200)

  const again = newBrowser(shop)
  assert.equal(await walk(again, ANN), HOME)
  assert.equal(await sellerIdOf(again), seller.id)
  assert.equal(await walk(newBrowser(shop), undefined), `${SIGN_IN}?error=idp_refused`)
  await real.rotateKeys()
  assert.equal(await walk(newBrowser(shop), ANN), HOME, 'keys that were changed a moment ago')
})

test('a returning person is found by issuer and subject, whatever the address is by then', async () => {
  const [shop] = shared()
  const person = newPerson()
  const first = newBrowser(shop)
  assert.equal(await comeBackAs(first, person), HOME)
  const id = await sellerIdOf(first)
  for (const claims of [{ email: newMailbox() }, { email: undefined }, { email: 'no address' }]) {
    const browser = newBrowser(shop)
    const landed = await comeBackAs(browser, { ...person, ...claims })
    // a person without a verified mailbox there proves the account's own mailbox by a code
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
  assert.equal(await comeBackAs(browser, person), HOME)
  assert.equal(await sellerIdOf(browser), seller.id)
  assert.equal(await identitiesOf(shop, person.sub), 1)
  assert.equal((await newBrowser(shop).signIn(email)).status, 200, 'its other ways in stay')
  assert(await owner.isSignedIn())
  await eventually(
    () => shop.mails(email),
    (mails) => mails.some(({ subject }) => subject.startsWith('A new way to sign in')),
  )
})

test('another account of the same provider, with the same address, needs a code; the owner gets a mail and sees it in the history', async () => {
  const [shop] = shared()
  const first = newPerson()
  const owner = newBrowser(shop)
  assert.equal(await comeBackAs(owner, first), HOME)
  const id = await sellerIdOf(owner)
  // the provider has given the address to another person
  const second = newPerson({ email: first.email })
  const browser = newBrowser(shop)
  assert.equal(await comeBackAs(browser, second), `${SIGN_IN}?step=code`)
  assert.equal(await browser.isSignedIn(), false)
  assert.equal(await identitiesOf(shop, second.sub), 0)
  const code = await browser.codeFor(first.email)
  assertProblem(await browser.tryCode(first.email, wrongCode(code)), 401, 'invalid_code')
  assertProblem(await newGuesser(shop).tryCode(first.email, code), 401, 'invalid_code')
  const history = async () => (await owner.call('GET', '/api/auth/history')).body.items
  assert.deepEqual((await history()).map(({ what }: any) => what), ['identity_linked']) // oxfmt-ignore

  assert.equal((await browser.tryCode(first.email, code)).body.seller.id, id)
  assert.equal(await identitiesOf(shop, second.sub), 1)
  const [event] = await history()
  assert.match(event.at, /Z$/)
  assert.deepEqual({ ...event, at: '' }, { at: '', what: 'identity_added', issuer: provider.issuer, email: first.email, keyName: null, currency: null }) // oxfmt-ignore
  await eventually(
    () => shop.mails(first.email),
    (mails) => mails.some(({ subject }) => subject.startsWith('A further account opens yours')),
  )
  assert.equal(await comeBackAs(newBrowser(shop), second), HOME, 'from then on it opens the account')

  // nor after unlinking: the address was the other person's before
  for (const { id: identityId } of (await browser.call('GET', '/api/auth/identities')).body.items)
    assert.equal((await browser.call('DELETE', `/api/auth/identities/${identityId}`)).status, 204)
  const third = newBrowser(shop)
  assert.equal(await comeBackAs(third, newPerson({ email: first.email })), `${SIGN_IN}?step=code`)
  assert.equal(await third.isSignedIn(), false)
})

test('an account’s history has the changes of its security, for its owner only', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  await browser.signInByCode()
  const history = async () => (await browser.call('GET', '/api/auth/history')).body.items
  assert.deepEqual(await history(), [])
  await browser.setPassword()
  const person = newPerson()
  await linkAs(browser, person)
  const [{ id }] = (await browser.call('GET', '/api/auth/identities')).body.items
  await browser.call('DELETE', `/api/auth/identities/${id}`)
  const newer = newMailbox()
  await browser.call('POST', '/api/auth/email', { email: newer })
  assert.equal((await browser.call('POST', '/api/auth/email/verify', { code: await browser.codeFor(newer) })).status, 200) // oxfmt-ignore
  assert.deepEqual(
    (await history()).map(({ what, email }: any) => [what, email]),
    [
      ['email_changed', newer],
      ['identity_unlinked', person.email],
      ['identity_linked', person.email],
      ['password_changed', null],
    ],
  )
  const other = newBrowser(shop)
  await other.signInByCode()
  assert.deepEqual((await other.call('GET', '/api/auth/history')).body.items, [])
  assertProblem(await newBrowser(shop).call('GET', '/api/auth/history'), 401, 'not_signed_in')
})

test('the first proof of a mailbox through a provider removes everything that was set before it', async () => {
  const [shop] = shared()
  const victim = { ...newPerson(), auth_time: nowSeconds() }
  const attacker = newBrowser(shop)
  const { seller } = (await attacker.signInByCode()).body
  await attacker.setPassword()
  const planted = newSubject()
  await sql`insert into identities (id, seller_id, issuer, subject) values
    (${`idn_${'0'.repeat(26)}`}, ${seller.id}, ${provider.issuer}, ${planted})`.execute(shop.db)
  await sql`update sellers set email = ${victim.email}, email_proven_at = null where id = ${seller.id}`.execute(shop.db)

  const browser = newBrowser(shop)
  assert.equal(await comeBackAs(browser, victim), HOME)
  assert.equal(await sellerIdOf(browser), seller.id)
  assert.equal(await attacker.isSignedIn(), false)
  assertProblem(await newBrowser(shop).signIn(victim.email, PASSWORD), 401, 'invalid_credentials')
  assert.equal(await identitiesOf(shop, planted), 0)
  assert.equal(await identitiesOf(shop, victim.sub), 1)
  assert.equal((await browser.session()).body.seller.hasPassword, false)

  // the same for a person to whom that account had been linked already
  await browser.setPassword()
  await sql`update sellers set email_proven_at = null where id = ${seller.id}`.execute(shop.db)
  const later = newBrowser(shop)
  assert.equal(await comeBackAs(later, victim), HOME)
  assert.equal(await sellerIdOf(later), seller.id)
  assert.equal(await browser.isSignedIn(), false)
  assertProblem(await newBrowser(shop).signIn(victim.email, PASSWORD), 401, 'invalid_credentials')
})

test('only the boolean true skips the code: any other claim for a mailbox opens nothing of its owner', async () => {
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
    assertProblem(await newGuesser(shop).tryCode(email, code), 401, 'invalid_code')
    assert.equal(await identitiesOf(shop, person.sub), 0, what)
  }
})

test('the right code in the browser that came from the provider signs in, and links the provider’s account', async () => {
  const [shop] = shared()
  const owner = newBrowser(shop)
  const email = newMailbox()
  const { seller } = (await owner.signInByCode(email)).body
  const person = newPerson({ email, email_verified: false })
  const browser = newBrowser(shop)
  await comeBackAs(browser, person)
  // another code, requested on the page, still links the same person
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

test('strangers who request codes do not use up the one of a browser that comes from the provider', async (t) => {
  const shop = await startTestShop(t, { env: { ...env, LIMITS: 'code=1/900,mailbox=2/3600', TRUST_PROXY: '1' } })
  const email = newMailbox()
  const from = () => ({ headers: { 'x-forwarded-for': newAddress() } })
  for (let time = 0; time < 2; time++) assert.equal((await newBrowser(shop, from()).askCode(email)).status, 202)
  assertProblem(await newBrowser(shop, from()).askCode(email), 429, 'rate_limited')
  const browser = newBrowser(shop, from())
  assert.equal(await comeBackAs(browser, newPerson({ email, email_verified: false })), `${SIGN_IN}?step=code`)
  assert.equal((await browser.tryCode(email, await browser.codeFor(email))).status, 200)
})

test('a known browser is known on its way back from the provider, whatever others there have used up', async (t) => {
  const shop = await startTestShop(t, { env: { ...env, LIMITS: 'mailbox=2/3600', TRUST_PROXY: '1' } })
  const email = newMailbox()
  const from = () => ({ headers: { 'x-forwarded-for': newAddress() } })
  const owner = newBrowser(shop, from())
  await owner.signInByCode(email)
  await owner.call('DELETE', '/api/auth/session')
  const comesBack = (browser: Browser) => comeBackAs(browser, newPerson({ email, email_verified: false }))
  for (let time = 0; time < 2; time++) assert.equal(await comesBack(newBrowser(shop, from())), `${SIGN_IN}?step=code`)
  assert.equal(await comesBack(newBrowser(shop, from())), `${SIGN_IN}?error=rate_limited`)
  assert.equal(await comesBack(owner), `${SIGN_IN}?step=code`)
})

test('a code that was requested apart from the provider, in a browser that came from it before, links no account', async () => {
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
  assert.match(asked[0]!.text, /If it was not you who came from the provider just now, do not type this code anywhere/)
  assert.match(asked[0]!.text, /If such mails keep coming, tell the people who run shop\.test/)
  await browser.askCode(email)
  assert.equal((await browser.tryCode(email, await liveCode(shop, email))).status, 200)
  assert.equal(await identitiesOf(shop, stranger.sub), 0)
})

test('a person without a usable address sees that, and nothing is stored', async () => {
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
  assert.equal(await comeBackAs(elsewhere, person), HOME)
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
  assert.equal(await comeBackAs(after, person), HOME)
  assert.notEqual(await sellerIdOf(after), seller.id, 'it opens the account of its own mailbox now')
})

test('an account that opens another seller’s account is not linked to this one, nor taken from that one', async () => {
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

/** Whether the service takes the session for a sign-in of the last ten minutes. */
async function isRecent(browser: Browser): Promise<boolean> {
  const { status, body } = await browser.call('PATCH', '/api/auth/seller', { supportEmail: newMailbox() })
  if (status !== 200) assert.equal(body.code, 'recent_sign_in_required')
  return status === 200
}

test('a session is as recent as the sign-in at the provider, which sends back also whoever finds an open screen', async (t) => {
  const real = await startIdentityProvider({ redirectUris: [`http://shop.test${CALLBACK}`] })
  atEnd(t, real.close)
  const shop = await startTestShop(t, { env: settingsOf(real) })
  const browser = newBrowser(shop)
  const walk = async (path: string) => {
    const { pathname, search } = await signInAt(locationOf(await browser.call('GET', path)), ANN)
    assert.equal(locationOf(await browser.call('GET', pathname + search)), HOME)
    return isRecent(browser)
  }
  assert(await walk(START), 'the person has just said who they are')
  real.remember({ person: ANN, secondsAgo: 300 })
  assert(await walk(START))
  real.remember({ person: ANN, secondsAgo: 3600 })
  assert.equal(await walk(START), false)
  assert.equal(await walk(`${START}?again=0`), false)
  assert(await walk(`${START}?again=1`), 'the provider has asked')
})

test('a provider that does not say when a person signed in makes no recent session, before it is asked to', async (t) => {
  const redirectUris = [`http://shop.test${CALLBACK}`]
  const silent = await startIdentityProvider({ redirectUris, saysWhen: false })
  atEnd(t, silent.close)
  const shop = await startTestShop(t, { env: settingsOf(silent) })
  for (const [path, recent] of [
    [START, false],
    [`${START}?again=1`, true],
  ] as const) {
    const browser = newBrowser(shop)
    const { pathname, search } = await signInAt(locationOf(await browser.call('GET', path)), ANN)
    assert.equal(locationOf(await browser.call('GET', pathname + search)), HOME)
    assert.equal(await isRecent(browser), recent, path)
  }
})

test('only what the provider has signed makes a session recent, not that the browser asked for a new sign-in', async () => {
  const [shop] = shared()
  const again = `${START}?again=1`
  const asked = new URL(locationOf(await newBrowser(shop).call('GET', again))).searchParams
  assert.equal(asked.get('max_age'), '0')
  const ordinary = new URL(locationOf(await newBrowser(shop).call('GET', START))).searchParams
  assert.deepEqual(
    [ordinary.has('max_age'), ordinary.has('prompt')],
    [false, false],
    'an ordinary sign-in asks for no second one',
  )
  const now = nowSeconds()
  const rows: [number | undefined, boolean][] = [
    [undefined, false],
    [0, false],
    [now - 601, false],
    [now - 300, true],
    // the clocks differ a little
    [now + 20, true],
    [now + 3600, false],
    [now * 1000, false],
  ]
  for (const [auth_time, recent] of rows) {
    const person = { ...newPerson(), auth_time }
    for (const path of [START, again]) {
      const browser = newBrowser(shop)
      assert.equal(await comeBackAs(browser, person, path), HOME)
      const { createdAt, recentUntil } = (await browser.session()).body.session
      assert.equal(await isRecent(browser), recent, `${auth_time} ${path}`)
      assert.equal(Date.parse(recentUntil) > Date.now(), recent)
      assert(Date.parse(createdAt) >= (now - 1) * 1000, 'the list of sessions says when this one began')
    }
  }
  // a code proves the mailbox, so then it is no matter when the person signed in there
  const email = newMailbox()
  const coded = newBrowser(shop)
  await comeBackAs(coded, newPerson({ email, email_verified: false }))
  assert.equal((await coded.tryCode(email, await coded.codeFor(email))).status, 200)
  assert(await isRecent(coded))
})

test('where sign-up is closed, a provider lets known sellers in and makes no new ones', async (t) => {
  const shop = await startTestShop(t, { env: { ...env, SIGNUP: 'closed' } })
  const known = newPerson({ email: 'ann@shop.test' })
  assert.equal(await comeBackAs(newBrowser(shop), known), HOME)
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

test('a seller whom the operator has disabled cannot sign in by a provider', async () => {
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

/** Links as a page of ours does; where it ends. */
async function linkAs(browser: Browser, person: Claims, body: { returnTo?: string } = {}): Promise<string> {
  provider.lies = { claims: { ...person } }
  const begun = await browser.call('POST', '/api/auth/identities', body)
  assert.equal(begun.status, 200, JSON.stringify(begun.body))
  const { pathname, search } = await provider.signIn(begun.body.url)
  return locationOf(await browser.call('GET', pathname + search))
}
