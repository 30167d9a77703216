import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { LIMITS } from '../../src/config/limits.ts'
import { sweepLimits } from '../../src/kit/limits.ts'
import { codeFrom } from '../support/codes.ts'
import {
  assertLimited,
  codeMails,
  count,
  newAddress,
  newBrowser,
  newGuesser,
  newMailbox,
  pauseIsOver,
  sharedPair,
  wrongCode,
} from '../support/seller.ts'
import { assertProblem, eventually, startTestShop } from '../support/shop.ts'

// Over two services, which count together.

const limited = sharedPair({ LIMITS: 'code=3/900', TRUST_PROXY: '1' })

test('a network gets three codes in fifteen minutes for a mailbox, across two services, and delays no other network', async () => {
  const [shop, second] = limited()
  const email = newMailbox()
  const headers = { 'x-forwarded-for': newAddress() }
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => newBrowser(n % 2 ? shop : second, { headers }).askCode(email))) // oxfmt-ignore
  const sent = answers.filter(({ status }) => status === 202)
  assert.equal(sent.length, 3)
  const pauses = sent.map(({ body }) => body.resendAfter).sort((a, b) => a - b)
  assert.deepEqual(pauses.slice(0, 2), [30, 30])
  assert(pauses[2]! > 800 && pauses[2]! <= 900, `after the last one the wait is long: ${pauses[2]}`)
  for (const answer of answers) if (answer.status !== 202) assertLimited(answer, 3, 800, 900)
  const mails = await eventually(
    () => codeMails(shop, email),
    ({ length }) => length > 0,
  )
  assert(mails.length <= 3)
  assert.equal((await newBrowser(second, { headers }).askCode(newMailbox())).status, 202, 'nor for another mailbox')
  await newBrowser(second, { headers: { 'x-forwarded-for': newAddress() } }).signInByCode(email)
  await pauseIsOver(shop, email)
  await newBrowser(second, { headers }).signInByCode(email)
})

test('whatever strangers request, a known browser and one that comes from a provider still get their code', async (t) => {
  const [{ databaseUrl }] = limited()
  const env = { LIMITS: 'code=3/900,code_address=10/3600,mailbox=20/3600', TRUST_PROXY: '1' }
  const shop = await startTestShop(t, { env, databaseUrl })
  const from = () => ({ headers: { 'x-forwarded-for': newAddress() } })
  const email = newMailbox()
  const owner = newBrowser(shop, from())
  await owner.signInByCode(email)
  await owner.call('DELETE', '/api/auth/session')
  const waiting = newBrowser(shop, from())
  await waiting.askCode(email)
  let sent = 0
  while ((await newBrowser(shop, from()).askCode(email)).status === 202) sent++
  assert.equal(sent, 20 - 2)
  assertLimited(await newBrowser(shop, from()).askCode(email), 20, 3500, 3600)
  assert.equal(
    (await waiting.tryCode(email, await waiting.codeFor(email))).status,
    200,
    'a code that was sent stays good',
  )
  await owner.signInByCode(email)
})

test('a refused request changes nothing: the earlier code still works', async () => {
  const [shop] = limited()
  const browser = newBrowser(shop, { headers: { 'x-forwarded-for': newAddress() } })
  const email = newMailbox()
  for (let time = 0; time < 3; time++) assert.equal((await browser.askCode(email)).status, 202)
  const code = await codeFrom(shop, email)
  assertProblem(await browser.askCode(email), 429, 'rate_limited')
  assert.equal((await browser.call('GET', '/api/auth/otp')).body.email, email)
  assert.equal((await browser.tryCode(email, code)).status, 200)
})

test('a network gets ten codes an hour, for any mailboxes, and uses up no other network’s', async () => {
  const [shop, second] = limited()
  const headers = { 'x-forwarded-for': newAddress() }
  const mailboxes = Array.from({ length: 24 }, newMailbox)
  const answers = await Promise.all(mailboxes.map((email, at) => newBrowser(at % 2 ? shop : second, { headers }).askCode(email))) // oxfmt-ignore
  assert.equal(answers.filter(({ status }) => status === 202).length, 10)
  for (const answer of answers) if (answer.status !== 202) assertLimited(answer, 10, 3500, 3600)
  const refused = mailboxes[answers.findIndex(({ status }) => status === 429)]!
  for (let time = 0; time < 5; time++) await newBrowser(shop, { headers }).askCode(refused)
  const owner = newBrowser(shop, { headers: { 'x-forwarded-for': newAddress() } })
  for (let time = 0; time < 3; time++) assert.equal((await owner.askCode(refused)).status, 202)
})

test('an IPv6 subscriber is one network, and a neighbour another', async () => {
  const [shop] = limited()
  const ask = (address: string) => newBrowser(shop, { headers: { 'x-forwarded-for': address } }).askCode(newMailbox())
  const statuses = []
  for (let host = 1; host <= 11; host++) statuses.push((await ask(`2001:db8:7:1::${host.toString(16)}`)).status)
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 202), 429])
  assert.equal((await ask('2001:db8:7:2::1')).status, 202)
})

test('one IPv6 subscriber with all of a /48 uses up no mailbox, neither its codes nor its wrong tries', async () => {
  const [shop] = limited()
  const email = newMailbox()
  let subnet = 0
  const theirs = () => newBrowser(shop, { headers: { 'x-forwarded-for': `2001:db8:66:${(++subnet).toString(16)}::1` } })
  const elsewhere = () => newBrowser(shop, { headers: { 'x-forwarded-for': newAddress() } })
  // eight of their codes, and as many wrong tries at each as a code and their count allow
  const attackers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const browser = theirs()
      assert.equal((await browser.askCode(email)).status, 202)
      return { browser, wrong: wrongCode(await browser.codeFor(email)) }
    }),
  )
  const tries = []
  for (const { browser, wrong } of attackers)
    for (let time = 0; time < 5; time++) tries.push((await browser.tryCode(email, wrong)).status)
  assert.equal(tries.filter((status) => status === 401).length, LIMITS.mailbox_site.count)
  let sent = 8
  while ((await theirs().askCode(email)).status === 202) sent++
  assert.equal(sent, LIMITS.mailbox_site.count)
  assertLimited(await theirs().askCode(email), LIMITS.mailbox_site.count, 3500, 3600)
  await elsewhere().signInByCode(email)
  const neighbour = newBrowser(shop, { headers: { 'x-forwarded-for': '2001:db8:67:1::1' } })
  await neighbour.signInByCode(email)
  await theirs().signInByCode(newMailbox())
  assert(LIMITS.mailbox_site.count * 3 < LIMITS.mailbox.count - LIMITS.code_try.count)
})

test('an address in a header from the client is not trusted', async (t) => {
  const [{ databaseUrl }] = limited()
  const shop = await startTestShop(t, { env: { LIMITS: 'code_address=4/3600' }, databaseUrl })
  const names = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip']
  const statuses = []
  for (const name of names) {
    const address = name === 'forwarded' ? `for=${newAddress()}` : newAddress()
    statuses.push((await newBrowser(shop, { headers: { [name]: address } }).askCode(newMailbox())).status)
  }
  assert.deepEqual(statuses, [202, 202, 202, 202, 429, 429])
})

test('ten wrong codes an hour from a network, then not even the right one, until the hour is over', async () => {
  const [shop, second] = limited()
  const headers = { 'x-forwarded-for': newAddress() }
  const guess = async (browser: ReturnType<typeof newBrowser>) => {
    const email = newMailbox()
    await browser.askCode(email)
    const code = await browser.codeFor(email)
    return { email, code }
  }
  const [first, other, third] = [newBrowser(shop, { headers }), newBrowser(second, { headers }), newBrowser(shop, { headers })] // oxfmt-ignore
  const [one, two, three] = [await guess(first), await guess(other), await guess(third)]
  const answers = await Promise.all([
    ...Array.from({ length: 12 }, () => first.tryCode(one.email, wrongCode(one.code))),
    ...Array.from({ length: 12 }, () => other.tryCode(two.email, wrongCode(two.code))),
  ])
  assert.equal(answers.filter(({ status }) => status === 401).length, 10)
  for (const answer of answers) if (answer.status !== 401) assertLimited(answer, 10, 3500, 3600)
  assertLimited(await third.tryCode(three.email, three.code), 10, 3500, 3600)
  const elsewhere = newBrowser(second, { jar: third.jar, headers: { 'x-forwarded-for': newAddress() } })
  assert.equal((await elsewhere.tryCode(three.email, three.code)).status, 200, 'its owner is not held up elsewhere')
  await pauseIsOver(shop, headers['x-forwarded-for'])
  await newBrowser(shop, { headers }).signInByCode()
})

test('wrong codes count for a mailbox across all browsers and codes, also all at once, and some tries are reserved for known browsers', async (t) => {
  const [{ databaseUrl }] = limited()
  const env = { LIMITS: 'code_try=4/3600,mailbox=12/3600', TRUST_PROXY: '1' }
  const shop = await startTestShop(t, { env, databaseUrl })
  const email = newMailbox()
  const from = () => ({ headers: { 'x-forwarded-for': newAddress() } })
  const owner = newBrowser(shop, from())
  await owner.signInByCode(email)
  await owner.call('DELETE', '/api/auth/session')
  for (let time = 0; time < 20; time++)
    assertProblem(await newGuesser(shop, from()).tryCode(email, '000000'), 401, 'invalid_code')
  // codes from before: as many simultaneous tries as they allow
  const strangers = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const browser = newBrowser(shop, from())
      await browser.askCode(email)
      return { browser, wrong: wrongCode(await browser.codeFor(email)) }
    }),
  )
  const answers = await Promise.all(
    strangers.flatMap(({ browser: { jar }, wrong }) =>
      Array.from({ length: 5 }, () => newBrowser(shop, { jar, ...from() }).tryCode(email, wrong)),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 401).length, 8, 'twelve, without the four that are kept')
  for (const answer of answers) if (answer.status !== 401) assertProblem(answer, 429, 'rate_limited')
  const late = newBrowser(shop, from())
  await late.askCode(email)
  assertLimited(await late.tryCode(email, await late.codeFor(email)), 8, 3500, 3600)
  // the owner's known browser may mistype, and then comes in
  await owner.askCode(email)
  const right = await owner.codeFor(email)
  for (let time = 0; time < 3; time++) assertProblem(await owner.tryCode(email, wrongCode(right)), 401, 'invalid_code')
  assert.equal((await owner.tryCode(email, right)).status, 200)
  await pauseIsOver(shop, email)
  assert.equal((await late.tryCode(email, await late.codeFor(email))).status, 200)
})

test('half of the wrong codes are left to unknown browsers, however many a network may try', async (t) => {
  const [{ databaseUrl }] = limited()
  const env = { LIMITS: 'code_try=20/3600,mailbox=12/3600', TRUST_PROXY: '1' }
  const shop = await startTestShop(t, { env, databaseUrl })
  const email = newMailbox()
  const statuses: number[] = []
  for (let stranger = 0; stranger < 2; stranger++) {
    const browser = newBrowser(shop, { headers: { 'x-forwarded-for': newAddress() } })
    await browser.askCode(email)
    const wrong = wrongCode(await browser.codeFor(email))
    for (let time = 0; time < 4; time++) statuses.push((await browser.tryCode(email, wrong)).status)
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 401, 429, 429])
})

test('no more than sixty wrong codes an hour are looked at for a mailbox, so 1.44 in a thousand a day', () => {
  const { count: tries, seconds } = LIMITS.mailbox
  assert(((tries * 86_400) / seconds) * 1e-6 < 1.5e-3)
  assert(LIMITS.code_try.count < tries / 2, 'most of them are left to new browsers')
})

test('wrong codes to move an account count for the mailbox that it would move to', async (t) => {
  const [{ databaseUrl }] = limited()
  const env = { LIMITS: 'code_try=5/3600,mailbox=15/3600', TRUST_PROXY: '1' }
  const shop = await startTestShop(t, { env, databaseUrl })
  const from = () => ({ headers: { 'x-forwarded-for': newAddress() } })
  const target = newMailbox()
  for (let code = 0; code < 2; code++) {
    const browser = newBrowser(shop, from())
    const { seller } = (await browser.signInByCode()).body
    assert.equal((await browser.call('POST', '/api/auth/email', { email: target })).status, 202)
    const right = await browser.codeFor(target)
    for (let time = 0; time < 5; time++) {
      const elsewhere = newBrowser(shop, { jar: browser.jar, ...from() })
      const answer = await elsewhere.call('POST', '/api/auth/email/verify', { code: wrongCode(right) })
      assertProblem(answer, 401, 'invalid_code')
    }
    assert.equal((await browser.session()).body.seller.email, seller.email)
  }
  const owner = newBrowser(shop, from())
  await owner.askCode(target)
  assertLimited(await owner.tryCode(target, await owner.codeFor(target)), 10, 3500, 3600)
})

test('a browser whose account has moved is known to the new mailbox', async () => {
  const [shop] = limited()
  const from = () => ({ headers: { 'x-forwarded-for': newAddress() } })
  const newer = newMailbox()
  const browser = newBrowser(shop, from())
  await browser.signInByCode()
  await browser.call('POST', '/api/auth/email', { email: newer })
  const moved = await browser.call('POST', '/api/auth/email/verify', { code: await codeFrom(shop, newer) })
  assert.equal(moved.status, 200)
  const { headers } = browser
  while ((await newBrowser(shop, { headers }).askCode(newer)).status === 202);
  assert.equal((await browser.askCode(newer)).status, 202)
})

test('right codes count against no limit', async () => {
  const [shop] = limited()
  const headers = { 'x-forwarded-for': newAddress() }
  for (let time = 0; time < 12; time++) {
    if (time % 5 === 0) await pauseIsOver(shop, `code from ${headers['x-forwarded-for']}`)
    await newBrowser(shop, { headers }).signInByCode()
  }
  const { rows } = await sql<{ count: number }>`
    select count from limits where key = ${`code_try from ${headers['x-forwarded-for']}`}`.execute(shop.db)
  assert.deepEqual(rows, [{ count: 0 }])
})

test('strangers of its own network do not lock a known browser out', async () => {
  const [shop] = limited()
  const headers = { 'x-forwarded-for': newAddress() }
  const email = newMailbox()
  const owner = newBrowser(shop, { headers })
  await owner.signInByCode(email)
  await owner.call('DELETE', '/api/auth/session')
  while ((await newBrowser(shop, { headers }).askCode(newMailbox())).status === 202);
  for (let time = 0; time < 12; time++) await newBrowser(shop, { headers }).tryCode(newMailbox(), '000000')
  const known = owner.jar.value('till_known')!
  await owner.signInByCode(email)

  const others = newBrowser(shop, { headers: { 'x-forwarded-for': newAddress() } })
  await others.signInByCode()
  const [id, signature] = known.split('.') as [string, string]
  for (const forged of [
    others.jar.value('till_known')!,
    id,
    `${id}.`,
    `${id}.${'A'.repeat(43)}`,
    `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}.${signature}`,
    `${known}x`,
    '',
  ]) {
    const stranger = newBrowser(shop, { headers })
    stranger.jar.set(new URL('http://shop.test'), 'till_known', forged)
    assertProblem(await stranger.askCode(email), 429, 'rate_limited')
  }
})

test('the count of an expired limit is removed', async () => {
  const [shop] = limited()
  const email = newMailbox()
  await newBrowser(shop, { headers: { 'x-forwarded-for': newAddress() } }).askCode(email)
  const about = sql<boolean>`position(${email} in key) > 0`
  await sweepLimits(shop.db)
  assert.equal(await count(shop, 'limits', about), 2)
  await sql`update limits set until = now() - interval '2 minutes' where ${about}`.execute(shop.db)
  await sweepLimits(shop.db)
  assert.equal(await count(shop, 'limits', about), 0)
})
