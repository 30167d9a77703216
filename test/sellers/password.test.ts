import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import {
  PASSWORD,
  type Browser,
  assertLimited,
  count,
  newAddress,
  newBrowser,
  newMailbox,
  pauseIsOver,
  sharedPair,
} from '../support/seller.ts'
import { type Answer, type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { callsOf, hashesIn, watchWork } from '../support/work.ts'

const work = watchWork()
const shared = sharedPair()
const limited = sharedPair({ LIMITS: 'password=5/900,code=1000/900,code_address=1000/900', TRUST_PROXY: '1' })

/** A seller with a password, in a browser that is signed in. */
async function newSeller(shop: TestShop, password = PASSWORD, options: Parameters<typeof newBrowser>[1] = {}) {
  const browser = newBrowser(shop, options)
  const email = newMailbox()
  const { seller } = (await browser.signInByCode(email)).body
  await browser.setPassword(password)
  return { browser, email, id: seller.id as string }
}

const hashOf = async ({ db }: TestShop, id: string): Promise<string | undefined> =>
  (await sql<{ hash: string }>`select hash from passwords where seller_id = ${id}`.execute(db)).rows[0]?.hash

const change = (browser: Browser, newPassword: unknown, currentPassword?: unknown): Promise<Answer> =>
  browser.call('PUT', '/api/auth/password', {
    newPassword,
    ...(currentPassword !== undefined && { currentPassword }),
  })

const grownOld = ({ db }: TestShop, sellerId: string) =>
  sql`update sessions set created_at = now() - interval '11 minutes' where seller_id = ${sellerId}`.execute(db)

test('a wrong password, an unknown mailbox, an account without one, a disabled one, an unproven one: one answer', async () => {
  const [shop] = shared()
  const [known, disabled, unproven] = [await newSeller(shop), await newSeller(shop), await newSeller(shop)]
  await sql`update sellers set disabled_at = now() where id = ${disabled.id}`.execute(shop.db)
  await sql`update sellers set email_proven_at = null where id = ${unproven.id}`.execute(shop.db)
  const without = newMailbox()
  await newBrowser(shop).signInByCode(without)
  const answers: Answer[] = []
  for (const [email, password] of [
    [known.email, `${PASSWORD}x`],
    [newMailbox(), PASSWORD],
    [without, PASSWORD],
    [disabled.email, PASSWORD],
    [unproven.email, PASSWORD],
  ] as const)
    answers.push(await newBrowser(shop).signIn(email, password))
  const told = ({ body, headers }: Answer) => [
    { ...body, requestId: '' },
    [...headers.keys()].filter((name) => name !== 'date').sort(),
  ]
  for (const answer of answers) {
    assertProblem(answer, 401, 'invalid_credentials')
    assert.deepEqual(told(answer), told(answers[0]!))
    assert.deepEqual(answer.headers.getSetCookie(), [])
  }
})

test('a password that is not right costs the same work for a mailbox that is known, unknown, or without a password', async () => {
  const [shop] = shared()
  const known = await newSeller(shop)
  const without = newMailbox()
  await newBrowser(shop).signInByCode(without)
  const sides = { known: known.email, unknown: newMailbox(), without }
  for (const [side, email] of Object.entries(sides)) {
    const browser = newBrowser(shop, { headers: work.headers(side) })
    assertProblem(await browser.signIn(email, 'something that is wrong'), 401, 'invalid_credentials')
    assert.equal(hashesIn(work.of(side)), 1, side)
    assert.deepEqual(work.of(side), work.of('known'), side)
  }
})

test('with mailbox and password a seller can sign in, in any browser, at any service', async () => {
  const [shop, second] = shared()
  const { email, id } = await newSeller(shop)
  for (const [service, address] of [
    [shop, email],
    [second, ` ${email.toUpperCase()} `],
  ] as const) {
    const browser = newBrowser(service)
    const { status, body, headers } = await browser.signIn(address)
    assert.deepEqual([status, Object.keys(body), body.seller.id, body.seller.hasPassword], [200, ['seller'], id, true])
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal((await browser.session()).body.session.method, 'password')
  }
})

test('values that no password sign-in can have are refused by the schema', async () => {
  const [shop] = shared()
  const { email } = await newSeller(shop)
  for (const password of ['', null, 0, true, [PASSWORD], { password: PASSWORD }, 'x'.repeat(129), '💥'.repeat(129)]) {
    const answer = await newBrowser(shop).call('POST', '/api/auth/password', { email, password })
    assertProblem(answer, 400, 'validation_failed')
    assert.equal(answer.body.fields[0].path, 'password')
  }
  assertProblem(await newBrowser(shop).call('POST', '/api/auth/password', { email }), 400, 'validation_failed')
})

test('a password may be anything of 12 to 128 characters that people do not often use', async () => {
  const [shop] = shared()
  const { browser, email, id } = await newSeller(shop)
  const before = await hashOf(shop, id)
  for (const value of [
    '',
    'short',
    'elevenchars',
    '💥'.repeat(11),
    'x'.repeat(129),
    '💥'.repeat(129),
    null,
    12,
    [],
    {},
  ]) {
    const answer = await change(browser, value)
    assertProblem(answer, 400, 'validation_failed')
    assert.equal(answer.body.fields[0].path, 'newPassword')
  }
  const common = [
    'password1234', 'Password12345', 'passwordpassword', '123456789012', '1234567890123', 'qwertyuiop12', 'qwertyuiop123', 'aaaaaaaaaaaa', 'abcabcabcabc', 'abcdefghijkl', 'iloveyou1234', 'P@ssw0rd1234',
    'letmeinletmein', '111111111111', 'q1w2e3r4t5y6', email, email.toUpperCase(), `${email.split('@')[0]}1`, 'ｐａｓｓｗｏｒｄ１２３４', '１２３４５６７８９０１２',
  ] // oxfmt-ignore
  for (const value of common) {
    const answer = await change(browser, value)
    assert.equal(answer.status, 400, `${value} was taken`)
    assertProblem(answer, 400, 'password_too_common')
    assert(!JSON.stringify(answer.body).includes(value))
  }
  assert.equal(await hashOf(shop, id), before, 'and nothing has changed')
  for (const value of ['correct horse battery staple', 'ääääöööüüß ist lang', 'тихий океан глубок', '💥🎈🌵🦑🍕🚲🎺🐙🌋🧊🪁🥝', 'x1!'.repeat(3) + 'velvet moths', ' '.repeat(3) + 'moths in velvet '])
    assert.equal((await change(browser, value)).status, 204, value) // oxfmt-ignore
})

test('no password is cut off, folded or emptied on its way', async () => {
  const [shop] = shared()
  const { browser, email } = await newSeller(shop)
  const long = 'velvet moths adore the quiet lamp of winter and drink cold tea at noon to '
  assert(Buffer.byteLength(long) > 72)
  const cases: [string, string, string[]][] = [
    ['bytes after the 72nd', `${long}day`, [`${long}morrow`, long, `${long}da`, `${long}dayx`]],
    ['64 of four bytes each', '🌵🦑🍕🚲'.repeat(16), ['🌵🦑🍕🚲'.repeat(15), `${'🌵🦑🍕🚲'.repeat(15)}🌵🦑🍕💥`]],
    ['128 of four bytes each', '🌵🦑🍕🚲'.repeat(32), ['🌵🦑🍕🚲'.repeat(31), '🌵🦑🍕🚲'.repeat(18)]],
    ['a NUL', 'moths\0velvet lamps', ['moths', 'moths\0', 'moths\0velvet lamp', 'mothsvelvet lamps']],
    ['spaces at the ends', ' moths of velvet ', ['moths of velvet', ' moths of velvet', 'moths of velvet ']],
    ['upper case', 'Moths Of Velvet', ['moths of velvet', 'MOTHS OF VELVET']],
  ]
  for (const [what, password, others] of cases) {
    assert.equal((await change(browser, password)).status, 204, what)
    assert.equal((await newBrowser(shop).signIn(email, password)).status, 200, what)
    for (const other of others) assertProblem(await newBrowser(shop).signIn(email, other), 401, 'invalid_credentials')
  }
})

test('the same characters, typed another way, are the same password', async () => {
  const [shop] = shared()
  const { browser, email } = await newSeller(shop)
  const forms = ['caf\u00e9 \ufb01ve \u2460 \u212bngstr\u00f6m', 'cafe\u0301 five 1 A\u030angstro\u0308m', 'ｃafe\u0301 \ufb01ve 1 \u00c5ngstr\u00f6m'] // oxfmt-ignore
  await browser.setPassword(forms[0]!)
  for (const form of forms) assert.equal((await newBrowser(shop).signIn(email, form)).status, 200, form)
  assertProblem(await newBrowser(shop).signIn(email, 'cafe five 1 Angstrom'), 401, 'invalid_credentials')
})

test('no password takes long to be judged, since everybody waits meanwhile', async () => {
  const [shop] = shared()
  const { browser } = await newSeller(shop)
  const usual = 'thequickbrownfox'.repeat(4)
  const long = ['1'.repeat(128), 'p4$$w0rd1'.repeat(14), '@4431!0$57'.repeat(12), '1!|7'.repeat(32)]
  const calls = new Map<string, number>()
  await change(browser, usual)
  for (const password of [usual, ...long]) calls.set(password, await callsOf(/zxcvbn/, () => change(browser, password)))
  assert(Math.min(...calls.values()) > 1000, 'each was judged')
  for (const password of long)
    assert(calls.get(password)! < 6 * calls.get(usual)!, `calls: ${[...calls.values()].join(', ')}, first the usual`)
})

test('a megabyte is refused before anybody hashes it', async () => {
  const [shop] = shared()
  const { browser, email } = await newSeller(shop)
  for (const [bytes, status, code] of [
    [1024, 400, 'validation_failed'],
    [60_000, 400, 'validation_failed'],
    [1_000_000, 413, 'body_too_large'],
  ] as const) {
    const password = 'x'.repeat(bytes)
    assertProblem(await newBrowser(shop).signIn(email, password), status, code)
    assertProblem(await change(browser, password), status, code)
    assertProblem(await change(browser, PASSWORD, password), status, code)
  }
})

test('the stored password is an Argon2id hash with a salt of its own, and the text is nowhere', async () => {
  const [shop] = shared()
  const secret = 'a sentence that only one test knows'
  const [one, two] = [await newSeller(shop, secret), await newSeller(shop, secret)]
  const hashes = [await hashOf(shop, one.id), await hashOf(shop, two.id)]
  for (const hash of hashes) assert.match(hash!, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  assert.notEqual(hashes[0], hashes[1])
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`.execute(shop.db)
  assert(rows.length > 15)
  for (const { name } of rows)
    assert.equal(await count(shop, `${name} as t`, sql`position(${secret} in t::text) > 0`), 0, name)
  assert.doesNotMatch(JSON.stringify((await one.browser.session()).body), /argon2|hash/i)
})

test('only a seller who has just signed in, or gives the present password, can set one', async () => {
  const [shop] = shared()
  assertProblem(await change(newBrowser(shop), PASSWORD), 401, 'not_signed_in')
  const { browser, email, id } = await newSeller(shop)
  const first = await hashOf(shop, id)
  const newer = 'eight green teapots sing'
  assertProblem(await change(browser, newer, `${PASSWORD}x`), 403, 'wrong_password')
  await grownOld(shop, id)
  assertProblem(await change(browser, newer), 403, 'recent_sign_in_required')
  assertProblem(await change(browser, newer, ''), 400, 'validation_failed')
  assertProblem(await change(browser, newer, `${PASSWORD}x`), 403, 'wrong_password')
  assertProblem(await change(browser, newer, newer), 403, 'wrong_password')
  assert.equal(await hashOf(shop, id), first)
  assert.equal((await change(browser, newer, PASSWORD)).status, 204)
  assertProblem(await newBrowser(shop).signIn(email, PASSWORD), 401, 'invalid_credentials')
  assert.equal((await newBrowser(shop).signIn(email, newer)).status, 200)
  assert.equal(await browser.isSignedIn(), true, 'the session that changed it continues')
})

test('an account without a password accepts none', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const { seller } = (await browser.signInByCode()).body
  assertProblem(await change(browser, PASSWORD, 'anything at all'), 403, 'wrong_password')
  await grownOld(shop, seller.id)
  assertProblem(await change(browser, PASSWORD), 403, 'recent_sign_in_required')
  assert.equal(await hashOf(shop, seller.id), undefined)
})

test('a new password ends all other sessions at once, at every service, and its owner gets a mail', async () => {
  const [shop, second] = shared()
  const { browser, email } = await newSeller(shop)
  const [here, there] = [newBrowser(shop), newBrowser(second)]
  await here.signIn(email)
  await there.signIn(email)
  assert.deepEqual([await here.isSignedIn(), await there.isSignedIn()], [true, true])
  await browser.setPassword('eight green teapots sing', PASSWORD)
  assertProblem(await there.session(), 401, 'not_signed_in')
  assertProblem(await here.session(), 401, 'not_signed_in')
  assertProblem(await change(there, 'the former holder’s own', 'eight green teapots sing'), 401, 'not_signed_in')
  assert.equal(await browser.isSignedIn(), true)
  const mails = await eventually(
    () => shop.mails(email),
    (all) => all.filter(({ subject }) => /^Your password at shop\.test was changed$/.test(subject)).length === 2,
  )
  const [notice] = mails
  assert.match(notice!.text, /If this was not you, .*end the sessions you do not know/s)
  assert.doesNotMatch(notice!.text + notice!.html, /teapots|pelicans/)
  assert.deepEqual(
    [...notice!.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href),
    ['http://shop.test/account/'],
  )
})

test('the reader of the mailbox replaces a forgotten password, and the old one opens nothing more', async () => {
  const [shop] = shared()
  const { email } = await newSeller(shop)
  const browser = newBrowser(shop)
  await browser.signInByCode(email)
  await browser.setPassword('eight green teapots sing')
  assertProblem(await newBrowser(shop).signIn(email, PASSWORD), 401, 'invalid_credentials')
  assert.equal((await newBrowser(shop).signIn(email, 'eight green teapots sing')).status, 200)
})

test('two changes from one present password at once: one of them holds', async () => {
  const [shop, second] = shared()
  const { browser, email, id } = await newSeller(shop)
  await grownOld(shop, id)
  const wanted = ['eight green teapots sing', 'nine blue kettles hum']
  const answers = await Promise.all([
    change(browser, wanted[0], PASSWORD),
    change(browser.through(second), wanted[1], PASSWORD),
  ])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 403])
  const held = wanted[answers.findIndex(({ status }) => status === 204)]!
  assert.equal((await newBrowser(shop).signIn(email, held)).status, 200)
})

test('a sign-in with the old password that is still being checked while it is changed does not come in', async () => {
  const [shop] = shared()
  const { browser, email } = await newSeller(shop)
  for (let round = 0; round < 3; round++) {
    const [older, newer] = [`round ${round} of teapots`, `round ${round + 1} of teapots`]
    await browser.setPassword(older)
    const late = newBrowser(shop)
    await Promise.all([late.signIn(email, older), browser.setPassword(newer)])
    assert.equal(await late.isSignedIn(), false, 'either too late, or ended by the change')
  }
})

test('sign-ins with right passwords all at once all come in', async () => {
  const [shop, second] = shared()
  const { email, id } = await newSeller(shop)
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => newBrowser(at % 2 ? shop : second).signIn(email))) // oxfmt-ignore
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.equal(await count(shop, 'sessions', sql`seller_id = ${id}`), 13)
})

// Limits, over two services: five wrong ones in fifteen minutes

const from = (address = newAddress()) => ({ headers: { 'x-forwarded-for': address } })

test('an account takes so many wrong passwords, from wherever they come, and then again after the pause', async () => {
  const [shop, second] = limited()
  const { email } = await newSeller(shop, PASSWORD, from())
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => newBrowser(at % 2 ? shop : second, from()).signIn(email, 'wrong as can be')),
  )
  assert.equal(answers.filter(({ status }) => status === 401).length, 5)
  for (const answer of answers) if (answer.status !== 401) assertLimited(answer, 5, 800, 900)
  assertLimited(await newBrowser(second, from()).signIn(email), 5, 800, 900)
  await newBrowser(shop, from()).signInByCode(email)
  await pauseIsOver(shop, email)
  assert.equal((await newBrowser(second, from()).signIn(email)).status, 200)
})

test('a network has a limit of wrong passwords across all accounts, and uses up no other network’s', async () => {
  const [shop, second] = limited()
  const { email } = await newSeller(shop, PASSWORD, from())
  const network = from()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => newBrowser(at % 2 ? shop : second, network).signIn(newMailbox())),
  )
  assert.equal(answers.filter(({ status }) => status === 401).length, 5)
  for (const answer of answers) if (answer.status !== 401) assertLimited(answer, 5, 800, 900)
  for (let time = 0; time < 8; time++) assertLimited(await newBrowser(shop, network).signIn(email), 5, 800, 900)
  assert.equal((await newBrowser(shop, from()).signIn(email)).status, 200, 'the owner comes in from elsewhere')
})

test('an unknown mailbox is counted as a known one is', async () => {
  const [shop] = limited()
  const email = newMailbox()
  const statuses = []
  for (let time = 0; time < 7; time++) statuses.push((await newBrowser(shop, from()).signIn(email)).status)
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429])
})

test('right passwords use up nothing', async () => {
  const [shop, second] = limited()
  const network = from()
  const { email } = await newSeller(shop, PASSWORD, from())
  for (let time = 0; time < 8; time++)
    assert.equal((await newBrowser(time % 2 ? shop : second, network).signIn(email)).status, 200)
  const wrong = []
  for (let time = 0; time < 6; time++) wrong.push((await newBrowser(shop, network).signIn(email, 'wrong')).status)
  assert.deepEqual(wrong, [401, 401, 401, 401, 401, 429])
})

test('each pause in a row is twice as long as the one before, at most sixteen times; after a quiet day it is short again', async () => {
  const [shop] = limited()
  const email = newMailbox()
  const overrun = async (): Promise<number> => {
    for (let time = 0; time < 5; time++)
      assertProblem(await newBrowser(shop, from()).signIn(email), 401, 'invalid_credentials')
    const refused = await newBrowser(shop, from()).signIn(email)
    assertProblem(refused, 429, 'rate_limited')
    const seconds = Number(refused.headers.get('retry-after'))
    const again = await newBrowser(shop, from()).signIn(email)
    assertLimited(again, 5, seconds - 100, seconds)
    return Math.ceil(seconds / 900)
  }
  const pauses = []
  // the steps between are not waited for
  for (const overruns of [0, 1, 2, 4, 9]) {
    await sql`update limits set overruns = ${overruns} where key = ${`password ${email}`} and overruns <= ${overruns}`.execute(shop.db) // oxfmt-ignore
    pauses.push(await overrun())
    await pauseIsOver(shop, email)
  }
  assert.deepEqual(pauses, [1, 2, 4, 16, 16])
  await sql`update limits set until = now() - interval '25 hours' where key = ${`password ${email}`}`.execute(shop.db)
  assert.equal(await overrun(), 1)
})

test('the present password can be guessed no more often than one to sign in, with any session', async () => {
  const [shop, second] = limited()
  const { browser, email } = await newSeller(shop, PASSWORD, from())
  browser.jar.forget('till_known')
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      change(newBrowser(at % 2 ? shop : second, { jar: browser.jar, ...from() }), 'eight green teapots', 'wrong'),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 403).length, 5)
  for (const answer of answers) if (answer.status !== 403) assertLimited(answer, 5, 800, 900)
  assertLimited(await newBrowser(shop, from()).signIn(email), 5, 800, 900)
})

test('a password is set so often, and not once more', async () => {
  const [shop, second] = limited()
  const { browser, email } = await newSeller(shop, PASSWORD, from())
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, at) =>
      change(at % 2 ? browser : browser.through(second), `${at} green teapots sing`),
    ),
  )
  // the first was the one to begin with
  assert.equal(answers.filter(({ status }) => status === 204).length, 4)
  for (const answer of answers) if (answer.status !== 204) assertLimited(answer, 5, 800, 900)
  await pauseIsOver(shop, 'password set')
  await browser.setPassword('ten green teapots sing')
  assert.equal((await newBrowser(shop, from()).signIn(email, 'ten green teapots sing')).status, 200)
})

test('a browser that has signed in before comes in while strangers guess', async () => {
  const [shop, second] = limited()
  const { browser, email } = await newSeller(shop, PASSWORD, from())
  await browser.call('DELETE', '/api/auth/session')
  for (let time = 0; time < 8; time++) await newBrowser(shop, from()).signIn(email, 'wrong as can be')
  assertLimited(await newBrowser(shop, from()).signIn(email), 5, 800, 900)
  const returned = newBrowser(second, { jar: browser.jar, ...from() })
  assert.equal((await returned.signIn(email)).status, 200)
  // and has a count of its own
  const statuses = []
  const guesser = () => newBrowser(shop, { jar: returned.jar, ...from() })
  for (let time = 0; time < 7; time++) statuses.push((await guesser().signIn(email, 'wrong as can be')).status)
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429])
})

test('a browser that has signed in before comes in from a network whose tries are used up', async () => {
  const [shop, second] = limited()
  const network = from()
  const { browser, email } = await newSeller(shop, PASSWORD, network)
  await browser.call('DELETE', '/api/auth/session')
  for (let time = 0; time < 8; time++) await newBrowser(shop, network).signIn(newMailbox(), 'wrong as can be')
  assertLimited(await newBrowser(shop, network).signIn(newMailbox()), 5, 800, 900)
  assertLimited(await newBrowser(second, network).signIn(email), 5, 800, 900)
  assert.equal((await newBrowser(second, { jar: browser.jar, ...network }).signIn(email)).status, 200)
})

test('an address that a client gives itself does not free it from the limit of its network', async (t) => {
  const [{ databaseUrl }] = limited()
  const shop = await startTestShop(t, { env: { LIMITS: 'password=3/900' }, databaseUrl })
  const statuses = []
  for (let time = 0; time < 5; time++) statuses.push((await newBrowser(shop, from()).signIn(newMailbox())).status)
  assert.deepEqual(statuses, [401, 401, 401, 429, 429])
})
