import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { codeOf } from '../../src/sellers/codes.ts'
import { codeFrom, codeRow, of, told } from '../support/codes.ts'
import {
  PASSWORD,
  codeMails,
  cookiesOf,
  count,
  newBrowser,
  newGuesser,
  newMailbox,
  sharedPair,
  wrongCode,
} from '../support/seller.ts'
import { SECRET, type TestShop, assertProblem, startTestShop } from '../support/shop.ts'
import { watchWork } from '../support/work.ts'

const work = watchWork()
const shared = sharedPair()
const NEWER_SECRET = 'another secret that is long enough too'
const HOUR_MS = 3_600_000
const SAID_OF_A_WRONG_CODE = /not right, or no longer good/

const codeJobs = (shop: TestShop) => count(shop, 'pgboss.job', sql`starts_with(name, 'seller_code')`)

test('a code makes a seller of an unknown mailbox, and finds the same seller the next time', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  const { resendAfter } = (await browser.askCode(email)).body
  assert.equal(resendAfter, 30)
  assert.equal(await count(shop, 'sellers', of(email)), 0, 'nobody is a seller for having been asked')
  const { status, body, headers } = await browser.tryCode(email, await browser.codeFor(email))
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['seller'])
  const { id, createdAt, ...seller } = body.seller
  assert.match(id, /^sel_[0-9a-hjkmnp-tv-z]{26}$/)
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(
    seller,
    { name: 'New seller', email, supportEmail: null, hasPassword: false, standing: 'active' },
    'no part of the address is a public name',
  )
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(await browser.isSignedIn(), true)

  const again = await newBrowser(shop).signInByCode(email)
  assert.equal(again.body.seller.id, id)
  const shouted = newBrowser(shop)
  await shouted.askCode(` ${email.toUpperCase()} `)
  const third = await shouted.tryCode(`${email.toUpperCase()}  `, await codeFrom(shop, email))
  assert.equal(third.body.seller.id, id, 'an address has one form')
})

test('after five wrong tries a code ends, and its owner can request another', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  for (let wrong = 1; wrong <= 5; wrong++) {
    const answer = await browser.tryCode(email, wrongCode(code))
    assertProblem(answer, 401, 'invalid_code')
    assert.match(answer.body.detail, SAID_OF_A_WRONG_CODE)
  }
  assertProblem(await browser.tryCode(email, code), 401, 'invalid_code')
  assertProblem(await browser.call('GET', '/api/auth/otp'), 404, 'code_not_found')
  assert.equal(await browser.isSignedIn(), false)
  await browser.signInByCode(email)
})

test('of two hundred simultaneous guesses at two services, five count', async () => {
  const [shop, second] = shared()
  const browser = newBrowser(shop)
  const there = browser.through(second)
  const email = newMailbox()
  await sql`
    create table looked_at (email text);
    create function look() returns trigger language plpgsql as $$ begin insert into looked_at values (new.email); return new; end $$;
    create trigger look after update on mailbox_codes for each row execute function look()`.execute(shop.db)
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  const guesses = Array.from({ length: 200 }, (_, at) => wrongCode(String((Number(code) + at) % 999_999)))
  const answers = await Promise.all(
    guesses.map((guess, at) => (at % 2 ? browser : there).tryCode(email, guess === code ? wrongCode(code) : guess)),
  )
  for (const answer of answers) assertProblem(answer, 401, 'invalid_code')
  assert.equal(await count(shop, 'looked_at', of(email)), 5)
  assertProblem(await there.tryCode(email, code), 401, 'invalid_code')
})

test('the right code fifty times at once, at two services, opens one session of one seller', async () => {
  const [shop, second] = shared()
  const browser = newBrowser(shop)
  const there = browser.through(second)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => (at % 2 ? browser : there).tryCode(email, code))) // oxfmt-ignore
  const right = answers.filter(({ status }) => status === 200)
  assert.equal(right.length, 1)
  for (const answer of answers) if (answer !== right[0]) assertProblem(answer, 401, 'invalid_code')
  assert.equal(await count(shop, 'sellers', of(email)), 1)
  assert.equal(await count(shop, 'sessions', sql`seller_id = ${right[0]!.body.seller.id}`), 1)
})

test('a browser’s newer code is its only one, and requests of others leave it valid', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const older = await browser.codeFor(email)
  const kept = newBrowser(shop)
  kept.jar.set(new URL('http://shop.test'), 'till_code', browser.jar.value('till_code')!)
  await browser.askCode(email)
  const newer = await browser.codeFor(email)
  assertProblem(await kept.tryCode(email, older), 401, 'invalid_code')
  assert.equal(await count(shop, 'mailbox_codes', of(email)), 1)
  const stranger = newBrowser(shop)
  await stranger.askCode(email)
  for (let time = 0; time < 6; time++) await stranger.tryCode(email, wrongCode(await stranger.codeFor(email)))
  assert.equal((await browser.tryCode(email, newer)).status, 200, 'a stranger ends nothing')
})

test('of twenty browsers that ask for one mailbox at once each gets a code of its own, which works there alone', async () => {
  const [shop, second] = shared()
  const email = newMailbox()
  const browsers = Array.from({ length: 20 }, (_, at) => newBrowser(at % 2 ? shop : second))
  const answers = await Promise.all(browsers.map((browser) => browser.askCode(email)))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
  const codes = await Promise.all(browsers.map((browser) => browser.codeFor(email)))
  const other = codes.find((code) => code !== codes[0])!
  assertProblem(await browsers[0]!.tryCode(email, other), 401, 'invalid_code')
  const tries = await Promise.all(browsers.map((browser, at) => browser.tryCode(email, codes[at]!)))
  assert.equal(tries.filter(({ status }) => status === 200).length, 20)
})

test('a code works only in the browser that requested it, and other browsers use up none of its tries', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  const stranger = newBrowser(shop)
  const otherMailbox = newMailbox()
  await stranger.askCode(otherMailbox)
  const token = browser.jar.value('till_code')!
  for (const given of [code, wrongCode(code)]) {
    for (let time = 0; time < 4; time++) {
      assertProblem(await stranger.tryCode(email, given), 401, 'invalid_code')
      assertProblem(await newBrowser(shop).tryCode(email, given), 401, 'cookie_missing')
      assertProblem(await newGuesser(shop).tryCode(email, given), 401, 'invalid_code')
      for (const cookie of [token.slice(1), `${token}x`, 'x'.repeat(43), '', `"${token}`]) {
        const answer = await shop.call('POST', '/api/auth/otp/verify', { email, code: given }, { cookie: `till_code=${cookie}` }) // oxfmt-ignore
        assertProblem(answer, 401, 'invalid_code')
      }
    }
  }
  assertProblem(await browser.tryCode(otherMailbox, code), 401, 'invalid_code')
  assert.deepEqual((await codeRow(shop, email))!.wrongTries, 0)
  assert.equal((await browser.tryCode(email, code)).status, 200)
  assert.equal(await stranger.isSignedIn(), false)
})

test('no address in a link signs anyone in', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  for (const path of [
    '/api/auth/otp/verify',
    '/api/auth/otp',
    '/api/auth/password',
    '/sign-in/',
    '/api/auth/session',
  ]) {
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await browser.call(method, `${path}?email=${encodeURIComponent(email)}&code=${code}&token=x`)
      assert.deepEqual(cookiesOf(headers).filter(({ value }) => value !== ''), [], `${method} ${path}`) // oxfmt-ignore
    }
  }
  assert.equal(await browser.isSignedIn(), false)
})

test('a code is used once', async () => {
  const [shop, second] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  const cookie = `till_code=${browser.jar.value('till_code')}`
  assert.equal((await browser.tryCode(email, code)).status, 200)
  assert.equal(browser.jar.value('till_code'), undefined, 'the browser forgets what it asked for')
  for (const service of [shop, second])
    assertProblem(await service.call('POST', '/api/auth/otp/verify', { email, code }, { cookie }), 401, 'invalid_code')
})

test('a code is good for ten minutes of the database’s time, whatever the clock of the service says', async (t) => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from expires_at - created_at)::int as seconds from mailbox_codes where email = ${email}`.execute(
    shop.db,
  )
  assert.equal(rows[0]!.seconds, 600)
  const cookie = `till_code=${browser.jar.value('till_code')}`
  const tryAt = async (offsetMs: number) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + offsetMs })
    try {
      return await shop.call('POST', '/api/auth/otp/verify', { email, code }, { cookie })
    } finally {
      t.mock.timers.reset()
    }
  }
  const expireIn = (seconds: number) =>
    sql`update mailbox_codes set expires_at = now() + make_interval(secs => ${seconds}) where email = ${email}`.execute(
      shop.db,
    )
  await expireIn(-1)
  for (const offset of [0, -3 * HOUR_MS, 3 * HOUR_MS]) assertProblem(await tryAt(offset), 401, 'invalid_code')
  assertProblem(await shop.call('GET', '/api/auth/otp', undefined, { cookie }), 404, 'code_not_found')
  await expireIn(60)
  assert.equal((await tryAt(3 * HOUR_MS)).status, 200)
})

test('pasted codes are understood, and a text that cannot be a code uses up no try', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  const wrong: unknown[] = [
    '', '12345', '1234567', 'abcdef', `${code}0`, code.slice(1), `${code}a`, `0x${code}`, '١٢٣٤٥٦', '１２３４５６', '12.456', '+12345', '1e1000', Number(code), [code], { code }, null, true, '1'.repeat(41),
    `${code}\0`, `${' '.repeat(100)}${code}`,
  ] // oxfmt-ignore
  for (const value of wrong) {
    const answer = await browser.call('POST', '/api/auth/otp/verify', { email, code: value })
    assertProblem(answer, 400, 'validation_failed')
    assert.equal(answer.body.fields[0].path, 'code')
    assert.doesNotMatch(JSON.stringify(answer.body), new RegExp(code))
  }
  assertProblem(await browser.call('POST', '/api/auth/otp/verify', { email }), 400, 'validation_failed')
  assertProblem(await browser.call('POST', '/api/auth/otp/verify', { code }), 400, 'validation_failed')
  assert.equal((await codeRow(shop, email))!.wrongTries, 0)
  assert.equal((await browser.tryCode(email, `\t${code.slice(0, 3)} - ${code.slice(3)}\n`)).status, 200)
})

const BAD_ADDRESSES: unknown[] = [
  '', ' ', 'ann', '@shop.test', 'ann@', 'ann@shop', 'ann@@shop.test', 'ann@shop.test,eve@evil.example', 'ann@shop.test, eve@evil.example', 'ann@shop.test;eve@evil.example',
  'ann@shop.test eve@evil.example', 'ann@shop.test\r\nRCPT TO:<eve@evil.example>', 'ann@shop.test\nBcc: eve@evil.example', '\nann@shop.test', 'ann@shop.test\r\n', 'ann@shop.test\0', '\tann@shop.test',
  '"ann"@shop.test', '"ann@evil.example"@shop.test', "ann'@shop.test>", '<ann@shop.test>', 'Ann <ann@shop.test>', 'ann@shop.test>', 'ann(comment)@shop.test', 'ann@[127.0.0.1]', 'ann@127.0.0.1',
  'ann@ѕhop.test', 'аnn@shop.test', 'ann@shop.teſt', '\u212aate@shop.test', 'ann@shop。test', 'ann@shop.test\u200b', 'ann\u202e@shop.test', 'änn@shop.test', 'ann@münchen.example', 'ann@shop..test', 'ann@-shop.test',
  'ann@shop.test.', 'ann@.shop.test', `${'a'.repeat(65)}@shop.test`, `a@${`${'b'.repeat(60)}.`.repeat(5)}test`, `${'a'.repeat(64)}@${'b.'.repeat(100)}test`, 'a'.repeat(60_000), 'ann@shop.test%0aBcc:x', 'ann\\@shop.test',
  ['ann@shop.test'], ['ann@shop.test', 'eve@evil.example'], { address: 'ann@shop.test' }, { toString: 'ann@shop.test' }, null, true, 0, 1e300,
] // oxfmt-ignore

test('an address that is not clearly one is refused before any work', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  await browser.signInByCode()
  const before = [await count(shop, 'mailbox_codes'), await codeJobs(shop), await count(shop, 'outbox')]
  for (const [path, more] of [
    ['/api/auth/otp', {}],
    ['/api/auth/otp/verify', { code: '000000' }],
    ['/api/auth/password', { password: PASSWORD }],
    ['/api/auth/email', {}],
  ] as const) {
    for (const email of BAD_ADDRESSES) {
      const answer = await browser.call('POST', path, { email, ...more })
      assert.equal(answer.status, 400, `${path} ${JSON.stringify(email)?.slice(0, 80)}`)
      assertProblem(answer, 400, 'validation_failed')
      assert.deepEqual(cookiesOf(answer.headers), [])
    }
    assertProblem(await browser.call('POST', path, more), 400, 'validation_failed')
  }
  assert.deepEqual([await count(shop, 'mailbox_codes'), await codeJobs(shop), await count(shop, 'outbox')], before)
})

test('the database has nothing from which a code could be made, and the mail has no link to follow', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  const { rows } = await sql<{ row: string }>`
    select data::text as row from pgboss.job where starts_with(name, 'seller_code') union all
    select c::text from mailbox_codes c where email = ${email}`.execute(shop.db)
  assert(rows.length > 1)
  const token = browser.jar.value('till_code')!
  for (const { row } of rows) {
    assert(!row.includes(token) && !row.includes(Buffer.from(token).toString('hex')), 'what the browser holds')
    assert.doesNotMatch(row, new RegExp(`(?<![0-9a-f])${code}(?![0-9a-f])`))
  }
  const [mail] = await shop.mails(email)
  assert(mail!.text.includes(code) && mail!.html.includes(code))
  assert.doesNotMatch(mail!.text + mail!.html, /https?:|href=|src=|<form|<script/i)
  assert.match(mail!.text, /did not ask for it, somebody/)
  assert.match(mail!.text, /tell the people who run shop\.test/, 'it says where to complain of a flood of them')
})

test('the mail to a new address that the seller has named says where to complain of a flood of them', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  await browser.signInByCode()
  const newer = newMailbox()
  assert.equal((await browser.call('POST', '/api/auth/email', { email: newer })).status, 202)
  await browser.codeFor(newer)
  const [mail] = await shop.mails(newer)
  assert.match(mail!.text, /If such mails keep coming, tell the people who run shop\.test/)
})

test('the browser that waits for a code can find out which mailbox to look into, and no other can', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const waiting = () => browser.call('GET', '/api/auth/otp')
  const email = newMailbox()
  assertProblem(await waiting(), 404, 'code_not_found')
  await browser.askCode(email)
  const { status, body, headers } = await waiting()
  assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store'])
  const { resendAfter, ...rest } = body
  assert.deepEqual(rest, { email, provider: false })
  assert(resendAfter >= 5 && resendAfter <= 30, String(resendAfter))
  await sql`update mailbox_codes set created_at = now() - interval '1 minute' where email = ${email}`.execute(shop.db)
  assert.equal((await waiting()).body.resendAfter, 0)
  assertProblem(await newBrowser(shop).call('GET', '/api/auth/otp'), 404, 'code_not_found')
  await browser.tryCode(email, await browser.codeFor(email))
  assertProblem(await waiting(), 404, 'code_not_found')
})

test('with closed sign-up a stranger learns nothing, gets no mail, and cannot sign in by a code', async (t) => {
  const shop = await startTestShop(t, { env: { SIGNUP: 'closed' } })
  const known = 'ann@shop.test'
  const browser = newBrowser(shop)
  const email = newMailbox()
  const asked = await browser.askCode(email)
  assert.deepEqual(told(asked), told(await newBrowser(shop).askCode(known)))
  const code = codeOf(SECRET, (await codeRow(shop, email))!.id)
  const guess = await browser.tryCode(email, wrongCode(code))
  const lucky = await browser.tryCode(email, code)
  assertProblem(lucky, 401, 'invalid_code')
  assert.deepEqual(told(lucky), told(guess), 'the response does not reveal that it was the right one')
  assert.equal(await count(shop, 'sellers', of(email)), 0)
  await newBrowser(shop).signInByCode(known)
  assert.deepEqual(await codeMails(shop, email), [])
})

test('known, unknown, disabled, with and without a password: the response to a request for a code is the same', async () => {
  const [shop] = shared()
  const [plain, withPassword, disabled, unknown] = Array.from({ length: 4 }, newMailbox) as [string, string, string, string] // oxfmt-ignore
  for (const email of [plain, withPassword, disabled]) {
    const browser = newBrowser(shop)
    await browser.signInByCode(email)
    if (email === withPassword) await browser.setPassword()
  }
  await sql`update sellers set disabled_at = now() where email = ${disabled}`.execute(shop.db)
  const answers = []
  for (const email of [unknown, plain, withPassword, disabled]) {
    const browser = newBrowser(shop)
    const asked = await browser.askCode(email)
    const code = codeOf(SECRET, (await codeRow(shop, email))!.id)
    answers.push([told(asked), told(await browser.tryCode(email, wrongCode(code)))])
    if (email !== disabled) continue
    assertProblem(await browser.tryCode(email, code), 401, 'invalid_code')
    assert.equal((await codeMails(shop, email)).length, 1, 'the one of the time before')
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0])
})

test('a request for a code costs the same work for a mailbox that is known as for one that is not', async () => {
  const [shop] = shared()
  const known = newMailbox()
  await newBrowser(shop).signInByCode(known)
  for (const [side, email] of Object.entries({ known, unknown: newMailbox() }))
    assert.equal((await newBrowser(shop, { headers: work.headers(side) }).askCode(email)).status, 202)
  assert(work.of('known').length > 0)
  assert.deepEqual(work.of('unknown'), work.of('known'))
})

test('a person who signed a mailbox up before its owner keeps nothing afterwards', async () => {
  const [shop] = shared()
  const email = newMailbox()
  // as an attacker would leave it: a password and a session that work, a linked identity, a move to another mailbox under way
  const attacker = newBrowser(shop)
  const { seller } = (await attacker.signInByCode(email)).body
  await attacker.setPassword('the attacker knows this')
  const elsewhere = newMailbox()
  assert.equal((await attacker.call('POST', '/api/auth/email', { email: elsewhere })).status, 202)
  const pending = await attacker.codeFor(elsewhere).catch(() => '')
  await sql`
    insert into identities (id, seller_id, issuer, subject) values (${newId('idn')}, ${seller.id}, 'https://idp.example', ${email})`.execute(
    shop.db,
  )
  await sql`update sellers set email_proven_at = null where email = ${email}`.execute(shop.db)
  assertProblem(await newBrowser(shop).signIn(email, 'the attacker knows this'), 401, 'invalid_credentials')

  const owner = newBrowser(shop)
  const { body } = await owner.signInByCode(email)
  assert.deepEqual([body.seller.id, body.seller.hasPassword], [seller.id, false])
  const mine = sql<boolean>`seller_id = ${seller.id}`
  assert.deepEqual(
    [await count(shop, 'passwords', mine), await count(shop, 'identities', mine), await count(shop, 'sessions', mine)],
    [0, 0, 1],
  )
  assert.equal(await count(shop, 'mailbox_codes', of(elsewhere)), 0, 'and no change is pending')
  assert.equal(await attacker.isSignedIn(), false)
  assertProblem(await attacker.call('POST', '/api/auth/email/verify', { code: pending }), 401, 'not_signed_in')
  assertProblem(await attacker.signIn(email, 'the attacker knows this'), 401, 'invalid_credentials')
  await owner.setPassword()
  await newBrowser(shop).signInByCode(email)
  assert.equal((await newBrowser(shop).signIn(email)).status, 200, 'a second proof takes nothing away')
})

test('a secret that is being replaced still makes its codes right', async (t) => {
  const [old] = shared()
  const env = { SECRET: `${NEWER_SECRET},${SECRET}` }
  const browser = newBrowser(old)
  const email = newMailbox()
  await browser.askCode(email)
  const code = await browser.codeFor(email)
  const shop = await startTestShop(t, { env, databaseUrl: old.databaseUrl })
  assert.equal((await browser.through(shop).tryCode(email, code)).status, 200)
})

test('a service with a newer secret and one without it both get their codes mailed', async (t) => {
  const old = await startTestShop(t)
  const env = { SECRET: `${NEWER_SECRET},${SECRET}` }
  const shop = await startTestShop(t, { env, databaseUrl: old.databaseUrl })
  // either may take the mail of the other's code
  await Promise.all(
    Array.from({ length: 10 }, async (_, at) => {
      const browser = newBrowser(at % 2 ? old : shop)
      const email = newMailbox()
      await browser.askCode(email)
      await browser.codeFor(email)
    }),
  )
})
