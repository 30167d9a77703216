import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { codeFrom, codeRow, of, told } from '../support/codes.ts'
import { count, newBrowser, newMailbox, sharedPair, wrongCode } from '../support/seller.ts'
import { assertProblem, eventually } from '../support/shop.ts'

const shared = sharedPair()

test('an account moves to another mailbox after that one is proven, and the old one gets a mail', async () => {
  const [shop, second] = shared()
  const [older, newer] = [newMailbox(), newMailbox()]
  const browser = newBrowser(shop)
  const { seller } = (await browser.signInByCode(older)).body
  const [otherTab, otherPlace] = [browser.through(second), newBrowser(second)]
  await otherPlace.signInByCode(older)
  const asked = await browser.call('POST', '/api/auth/email', { email: newer.toUpperCase() })
  assert.deepEqual([asked.status, asked.body], [202, { resendAfter: 30 }])
  const code = await codeFrom(shop, newer)
  assert.equal((await browser.session()).body.seller.email, older, 'nothing has changed yet')
  assertProblem(await browser.call('GET', '/api/auth/otp'), 404, 'code_not_found')
  const verify = (given: string) => otherTab.call('POST', '/api/auth/email/verify', { code: given })
  assertProblem(await verify(wrongCode(code)), 401, 'invalid_code')
  assertProblem(await browser.tryCode(newer, code), 401, 'invalid_code')
  const moved = await verify(code)
  assert.deepEqual([moved.status, moved.body.seller], [200, { ...seller, email: newer }])
  assertProblem(await verify(code), 401, 'invalid_code')
  assert.equal((await browser.session()).body.seller.email, newer)
  assertProblem(await otherPlace.session(), 401, 'not_signed_in')

  const [notice] = await eventually(
    () => shop.mails(older),
    (mails) => mails[0]?.subject.endsWith('was changed') === true,
  )
  assert(!(notice!.text + notice!.html).includes(newer), 'the old mailbox may belong to another person by now')
  assert.equal((await newBrowser(shop).signInByCode(newer)).body.seller.id, seller.id)
  assert.notEqual((await newBrowser(shop).signInByCode(older)).body.seller.id, seller.id)
})

test('a move to another mailbox is finished in the session and the browser that began it', async () => {
  const [shop] = shared()
  const [email, newer] = [newMailbox(), newMailbox()]
  const [browser, sameSeller, stranger] = [newBrowser(shop), newBrowser(shop), newBrowser(shop)]
  await browser.signInByCode(email)
  await sameSeller.signInByCode(email)
  await stranger.signInByCode()
  assertProblem(await newBrowser(shop).call('POST', '/api/auth/email', { email: newer }), 401, 'not_signed_in')
  await browser.call('POST', '/api/auth/email', { email: newer })
  const code = await codeFrom(shop, newer)
  const holder = browser.jar.value('till_code')!
  const base = new URL('http://shop.test')
  const verify = (one: typeof browser) => one.call('POST', '/api/auth/email/verify', { code })
  assertProblem(await verify(newBrowser(shop)), 401, 'not_signed_in')
  for (const one of [sameSeller, stranger]) {
    assertProblem(await verify(one), 401, 'invalid_code')
    one.jar.set(base, 'till_code', holder)
    assertProblem(await verify(one), 401, 'invalid_code')
  }
  assert.equal((await codeRow(shop, newer))!.wrongTries, 0)
  browser.jar.forget('till_code')
  assertProblem(await verify(browser), 401, 'invalid_code')
  browser.jar.set(base, 'till_code', holder)
  assert.equal((await verify(browser)).status, 200)
})

test('a code to sign in moves no account', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const [email, newer] = [newMailbox(), newMailbox()]
  await browser.signInByCode(email)
  await browser.askCode(newer)
  const code = await browser.codeFor(newer)
  assertProblem(await browser.call('POST', '/api/auth/email/verify', { code }), 401, 'invalid_code')
  assert.equal((await browser.session()).body.seller.email, email)
})

test('a session older than ten minutes moves no account', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const { seller } = (await browser.signInByCode()).body
  const newer = newMailbox()
  const age = (minutes: number) =>
    sql`update sessions set created_at = now() - make_interval(mins => ${minutes}) where seller_id = ${seller.id}`.execute(
      shop.db,
    )
  await age(11)
  assertProblem(await browser.call('POST', '/api/auth/email', { email: newer }), 403, 'recent_sign_in_required')
  assert.equal(await count(shop, 'mailbox_codes', of(newer)), 0)
  await age(9)
  assert.equal((await browser.call('POST', '/api/auth/email', { email: newer })).status, 202)
})

test('a mailbox that has an account cannot be taken by another one, and only its owner learns it', async () => {
  const [shop] = shared()
  const [email, taken] = [newMailbox(), newMailbox()]
  const [browser, owner] = [newBrowser(shop), newBrowser(shop)]
  await owner.signInByCode(taken)
  await browser.signInByCode(email)
  const free = await browser.call('POST', '/api/auth/email', { email: newMailbox() })
  assert.deepEqual(told(await browser.call('POST', '/api/auth/email', { email: taken })), told(free))
  const code = await codeFrom(shop, taken)
  assertProblem(await browser.call('POST', '/api/auth/email/verify', { code: wrongCode(code) }), 401, 'invalid_code')
  assertProblem(await browser.call('POST', '/api/auth/email/verify', { code }), 409, 'email_taken')
  assert.equal((await browser.session()).body.seller.email, email)
  assert.equal((await owner.session()).body.seller.email, taken)
})

test('two accounts that move to one mailbox at once: one gets it', async () => {
  const [shop, second] = shared()
  const browsers = [newBrowser(shop), newBrowser(second)] as const
  const target = newMailbox()
  for (const browser of browsers) await browser.signInByCode()
  await Promise.all(browsers.map((browser) => browser.call('POST', '/api/auth/email', { email: target })))
  const code = await codeFrom(shop, target)
  const answers = await Promise.all(browsers.map((browser) => browser.call('POST', '/api/auth/email/verify', { code })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401])
  assert.equal(await count(shop, 'sellers', of(target)), 1)
})
