import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { hashOf } from '../../src/kit/tokens.ts'
import { assertLimited, cookiesOf, count, newBrowser, newMailbox, sessionToken, signedIn } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'

const shared = sharedShop()

test('a session shows its seller, its method, its start, and until when it counts as recent', async () => {
  const shop = shared()
  assertProblem(await newBrowser(shop).session(), 401, 'not_signed_in')
  const { browser, email, id } = await signedIn(shop)
  const { body } = await browser.session()
  const { createdAt, recentUntil, ...session } = body.session
  assert.match(session.id, /^ses_[0-9a-hjkmnp-tv-z]{26}$/)
  assert.deepEqual({ ...session, id: '' }, { id: '', method: 'code' })
  assert.equal(Date.parse(recentUntil) - Date.parse(createdAt), 600_000)
  assert.deepEqual({ ...body.seller, createdAt: '' }, { id, name: 'New seller', email, supportEmail: null, hasPassword: false, standing: 'active', createdAt: '' }) // oxfmt-ignore
  await browser.setPassword()
  assert.equal((await browser.session()).body.seller.hasPassword, true)
})

test('a seller sees where they are signed in, the newest first, and ends one of them, all others, or this one', async () => {
  const shop = shared()
  const { browser, email } = await signedIn(shop)
  await browser.setPassword()
  const agents: [string, string][] = [
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1', 'Safari on iOS'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36', 'Chrome on Windows'],
    ['<script>alert(1)</script>\u00e9', 'A program'],
    ['', 'A program'],
  ] // oxfmt-ignore
  const others = []
  for (const [agent] of agents) {
    const other = newBrowser(shop, { headers: { 'user-agent': Buffer.from(agent).toString('latin1') } })
    assert.equal((await other.signIn(email)).status, 200, agent)
    others.push(other)
  }
  const list = async (one = browser) => (await one.call('GET', '/api/auth/sessions')).body.items
  const items = await list()
  assert.deepEqual(
    items.map(({ current, method, browser: name }: any) => [current, method, name]),
    [...agents.map(([, name]) => [false, 'password', name]).reverse(), [true, 'code', 'Firefox on Linux']],
  )
  for (const item of items) {
    assert.deepEqual(Object.keys(item).sort(), ['browser', 'createdAt', 'current', 'id', 'lastSeenAt', 'method'])
    assert(Math.abs(Date.parse(item.lastSeenAt) - Date.now()) < 60_000)
  }
  const end = (id: string) => browser.call('DELETE', `/api/auth/sessions/${id}`)
  assert.equal((await end(items[0].id)).status, 204)
  assertProblem(await end(items[0].id), 404, 'session_not_found')
  assert.equal((await list()).length, 4)
  assert.equal(await others[3]!.isSignedIn(), false)
  assert.equal((await browser.call('DELETE', '/api/auth/sessions')).status, 204)
  assert.deepEqual(
    (await list()).map(({ current }: any) => current),
    [true],
  )
  for (const other of others) assert.equal(await other.isSignedIn(), false)
  const own = await end((await list())[0].id)
  assert.deepEqual([own.status, cookiesOf(own.headers)[0]?.attributes['max-age']], [204, '0'])
  assert.equal(await browser.isSignedIn(), false)
})

test('no seller sees or ends another seller’s session', async () => {
  const shop = shared()
  const [mine, theirs] = [await signedIn(shop), await signedIn(shop)]
  const { session } = (await theirs.browser.session()).body
  const items = (await mine.browser.call('GET', '/api/auth/sessions')).body.items
  assert.equal(items.length, 1)
  assert.notEqual(items[0].id, session.id)
  assertProblem(await mine.browser.call('DELETE', `/api/auth/sessions/${session.id}`), 404, 'session_not_found')
  assertProblem(await mine.browser.call('DELETE', `/api/auth/sessions/${newId('ses')}`), 404, 'session_not_found')
  for (const id of ['x', session.id.toUpperCase(), `${session.id}x`, '%00', "'", 'ses_', theirs.id])
    assertProblem(await mine.browser.call('DELETE', `/api/auth/sessions/${id}`), 404, 'session_not_found')
  assert.equal((await mine.browser.call('DELETE', '/api/auth/sessions')).status, 204)
  assert.equal(await theirs.browser.isSignedIn(), true)
  for (const [method, path] of [
    ['GET', '/api/auth/sessions'],
    ['DELETE', '/api/auth/sessions'],
    ['DELETE', `/api/auth/sessions/${session.id}`],
  ] as const)
    assertProblem(await newBrowser(shop).call(method, path), 401, 'not_signed_in')
})

test('a seller has the name that they give themselves, if it is one', async () => {
  const shop = shared()
  const { browser, id, email } = await signedIn(shop)
  const rename = (name: unknown) => browser.call('PATCH', '/api/auth/seller', { name })
  for (const name of [
    '',
    ' ',
    '\t\n',
    'x'.repeat(201),
    'Ann\nBcc: eve',
    'Ann\0',
    'Ann\u202eevil',
    'Ann\u2066',
    null,
    0,
    ['Ann'],
    {},
  ]) {
    assertProblem(await rename(name), 400, 'validation_failed') // oxfmt-ignore
  }
  assertProblem(await browser.call('PATCH', '/api/auth/seller', {}), 400, 'validation_failed')
  assertProblem(await newBrowser(shop).call('PATCH', '/api/auth/seller', { name: 'Ann' }), 401, 'not_signed_in')
  assert.equal((await browser.session()).body.seller.name, 'New seller')
  for (const [name, kept] of [
    [' Ann’s <b>shop</b> ', 'Ann’s <b>shop</b>'],
    ['Größe 💥', 'Größe 💥'],
    ['متجر', 'متجر'],
    ['x'.repeat(200), 'x'.repeat(200)],
  ] as const) {
    const { status, body } = await rename(name)
    assert.deepEqual([status, body.seller.name], [200, kept])
    assert.equal((await browser.session()).body.seller.name, kept)
  }
  const more = { name: 'Ann', id: newId('sel'), email: 'eve@evil.example', hasPassword: true, disabledAt: null }
  const { seller } = (await browser.call('PATCH', '/api/auth/seller', more)).body
  assert.deepEqual([seller.id, seller.email, seller.hasPassword], [id, email, false], 'and nothing else')
})

test('a seller says where buyers reach them, and no more of it than was sent is changed', async () => {
  const shop = shared()
  const { browser } = await signedIn(shop)
  const change = (body: object) => browser.call('PATCH', '/api/auth/seller', body)
  await change({ name: 'Ann' })
  for (const supportEmail of ['', 'help', 'a@b.example, c@d.example', 'Ann <a@b.example>', 0, {}])
    assertProblem(await change({ supportEmail }), 400, 'validation_failed')
  const { body } = await change({ supportEmail: ' Help@Shop.example ' })
  assert.deepEqual([body.seller.name, body.seller.supportEmail], ['Ann', 'help@shop.example'])
  await Promise.all([change({ name: 'Ann Bell' }), change({ supportEmail: 'ann@shop.example' })])
  const { seller } = (await browser.session()).body
  assert.deepEqual([seller.name, seller.supportEmail], ['Ann Bell', 'ann@shop.example'])
  assert.equal((await change({ supportEmail: null })).body.seller.supportEmail, null)
})

test('another support address needs a recent sign-in, and its owner reads of it in the history and in a mail', async () => {
  const shop = shared()
  const { browser, email } = await signedIn(shop)
  const change = (body: object) => browser.call('PATCH', '/api/auth/seller', body)
  const told = async () =>
    (await shop.mails(email)).filter(({ subject }) => subject.startsWith('Your support address at ')).length
  const lines = async () =>
    (await browser.call('GET', '/api/auth/history')).body.items.map((item: any) => [item.what, item.email])
  assert.equal((await change({ supportEmail: 'help@shop.example' })).status, 200)
  await eventually(told, (count) => count === 1)
  assert.deepEqual(await lines(), [['support_email_changed', 'help@shop.example']])

  await sql`
    update sessions set created_at = now() - interval '11 minutes' where token_hash = ${hashOf(sessionToken(browser))}`.execute(
    shop.db,
  )
  for (const supportEmail of ['eve@evil.example', null])
    assertProblem(await change({ supportEmail, name: 'Eve' }), 403, 'recent_sign_in_required')
  const same = await change({ supportEmail: 'HELP@shop.example', name: 'Ann' })
  assert.deepEqual([same.body.seller.name, same.body.seller.supportEmail], ['Ann', 'help@shop.example'])
  assert.equal((await lines()).length, 1, 'an unchanged address causes no mail')

  await browser.signInByCode(email)
  assert.equal((await change({ supportEmail: null })).status, 200)
  assert.deepEqual((await lines())[0], ['support_email_changed', email])
  await eventually(told, (count) => count === 2)
})

test('a seller changes the support address ten times an hour, and the name as often as before', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'support_address=10/3600' } })
  const { browser } = await signedIn(shop)
  const change = (body: object) => browser.call('PATCH', '/api/auth/seller', body)
  for (let time = 0; time < 10; time++)
    assert.equal((await change({ supportEmail: `help-${time}@shop.example` })).status, 200)
  assertLimited(await change({ supportEmail: null, name: 'Ann' }), 10, 0, 3600)
  const { name, supportEmail } = (await browser.session()).body.seller
  assert.deepEqual([name, supportEmail], ['New seller', 'help-9@shop.example'], 'nothing of it was changed')
  assert.equal((await change({ supportEmail, name: 'Ann' })).status, 200)
  const other = await signedIn(shop)
  assert.equal((await other.browser.call('PATCH', '/api/auth/seller', { supportEmail })).status, 200)
})

test('the operator returns an account to its owner, who has tried to sign in and so made another', async () => {
  const shop = shared()
  const owner = await signedIn(shop)
  const thief = newMailbox()
  await sql`update sellers set email = ${thief} where id = ${owner.id}`.execute(shop.db)
  const empty = await signedIn(shop, owner.email)
  assert.notEqual(empty.id, owner.id)
  await sql`insert into identities (id, seller_id, issuer, subject)
    values (${newId('idn')}, ${empty.id}, 'https://idp.test', ${newId('idn')})`.execute(shop.db)
  const guide = await readFile(new URL('../../docs/sign-in.md', import.meta.url), 'utf8')
  const [recipe] = guide
    .split('```sql\n')
    .find((one) => one.includes('with back'))!
    .split('```')
  const restore = (from: string) =>
    sql.raw(recipe!.replaceAll('ann@example.com', owner.email).replaceAll('eve@example.com', from)).execute(shop.db)

  await restore(newMailbox())
  assert(await empty.browser.isSignedIn(), 'a mistyped address changes nothing')
  await restore(thief)
  assert.equal(await owner.browser.isSignedIn(), false)
  assert.equal(await empty.browser.isSignedIn(), false)
  assert.equal((await signedIn(shop, owner.email)).id, owner.id)
  // the owner's account at a provider opens nothing until it is linked again
  assert.equal(await count(shop, 'identities', sql`seller_id = ${empty.id}`), 0)
  assert.notEqual((await signedIn(shop, thief)).id, owner.id)

  // the thief's new account must not take the owner's place when the operator runs it once more
  await shop.db.connection().execute(async (db) => {
    const again = recipe!.replaceAll('ann@example.com', owner.email).replaceAll('eve@example.com', thief)
    await assert.rejects(sql.raw(again).execute(db), /sellers_email/)
    await sql`rollback`.execute(db)
  })
  assert.equal((await signedIn(shop, owner.email)).id, owner.id)
})

test('which ways in there are is no secret, and holds nothing else', async () => {
  const shop = shared()
  const { status, body } = await shop.call('GET', '/api/auth/providers')
  assert.deepEqual([status, body], [200, { idp: false }])
})
