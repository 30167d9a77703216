import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { makeKey, programWith } from '../support/keys.ts'
import { type Browser, newBrowser } from '../support/seller.ts'
import { newUploader } from '../support/uploads.ts'
import { assertProblem, eventually, sharedShop } from '../support/shop.ts'
import { OPERATOR, logOf, operatorOf, sellerOf } from './support.ts'

const shop = sharedShop({ env: { OPERATORS: OPERATOR, SIGNUP: 'approval' } })
let ann: Browser
before(async () => {
  ann = await operatorOf(shop())
})

const call = (method: string, sellerId: string, what: string, body?: unknown) =>
  ann.call(method, `/api/operator/sellers/${sellerId}${what}`, body)
const seller = async (sellerId: string) => (await call('GET', sellerId, '')).body
const buys = async (productId: string) =>
  (await shop().call('POST', '/api/checkout', { productId, email: 'bob@example.com' })).status
const actions = async (subject: string) => (await logOf(ann, subject)).map(({ action }) => action)
const subjectsOf = async (email: string) => (await shop().mails(email)).map(({ subject }) => subject)
/** Ten requests at once, of which exactly one changes something. */
async function once(method: string, sellerId: string, what: string, body?: unknown): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(method, sellerId, what, body)))
  for (const { status, body: answer } of answers) assert.equal(status, 200, JSON.stringify(answer))
  assert.equal(answers.filter(({ body: answer }) => answer.changed).length, 1)
}

test('approval, suspension and their ends each happen once, are mailed to the seller, and are in the log', async () => {
  const { sellerId, email, productId } = await sellerOf(shop())
  assert.deepEqual([(await seller(sellerId)).standing, await buys(productId)], ['awaiting_approval', 409])
  await once('PUT', sellerId, '/approval')
  assert.deepEqual([(await seller(sellerId)).standing, await buys(productId)], ['active', 201])
  await once('PUT', sellerId, '/suspension')
  assert.deepEqual([(await seller(sellerId)).standing, await buys(productId)], ['suspended', 409])
  await once('DELETE', sellerId, '/suspension')
  assert.deepEqual([(await seller(sellerId)).standing, await buys(productId)], ['active', 201])
  await once('DELETE', sellerId, '/approval')
  assert.deepEqual([(await seller(sellerId)).standing, await buys(productId)], ['awaiting_approval', 409])
  assert.deepEqual(await actions(sellerId), [
    'seller_approval_ended',
    'seller_resumed',
    'seller_suspended',
    'seller_approved',
  ])
  await eventually(
    () => subjectsOf(email),
    (subjects) => subjects.filter((one) => one.startsWith('Your shop at')).length === 3,
  )
  assert.deepEqual((await subjectsOf(email)).filter((one) => one.startsWith('Your shop')).toSorted(), [
    'Your shop at shop.test is open',
    'Your shop at shop.test is open again',
    'Your shop at shop.test is suspended',
  ])
})

test('the mails say that a shop is open only when it is, and the list says what is missing', async () => {
  const { sellerId, email, productId } = await sellerOf(shop())
  // as the service notes it where sellers need an account of their own at the processor
  const awaits = (is: boolean) =>
    sql`update sellers set awaits_account = ${is} where id = ${sellerId}`.execute(shop().db)
  const mailed = async (count: number) =>
    (
      await eventually(
        async () => (await shop().mails(email)).filter(({ subject }) => /shop at/.test(subject)),
        (mails) => mails.length === count,
      )
    ).map(({ subject }) => subject)
  await awaits(true)
  await once('PUT', sellerId, '/approval')
  const { standing, awaitsAccount } = await seller(sellerId)
  assert.deepEqual([standing, awaitsAccount, await buys(productId)], ['active', true, 409])
  assert.deepEqual(await mailed(1), ['Your shop at shop.test is approved'])
  const mail = (await shop().mails(email)).find(({ subject }) => subject.endsWith('approved'))
  assert.match(mail!.text, /once the account/)
  assert.doesNotMatch(mail!.text, /from now on/)

  await once('PUT', sellerId, '/suspension')
  await once('DELETE', sellerId, '/approval')
  await once('PUT', sellerId, '/approval')
  await once('DELETE', sellerId, '/approval')
  await once('DELETE', sellerId, '/suspension')
  const told = (await mailed(3)).toSorted()
  const ended = 'The suspension of your shop at shop.test has ended'
  assert.deepEqual(told, [ended, 'Your shop at shop.test is approved', 'Your shop at shop.test is suspended'])
  const last = (await shop().mails(email)).find(({ subject }) => subject === ended)
  assert.match(last!.text, /once the operator approves/)

  await awaits(false)
  await once('PUT', sellerId, '/approval')
  assert.equal(await buys(productId), 201)
  assert((await mailed(4)).includes('Your shop at shop.test is open'))
})

test('a quota of the seller’s own counts at once, also none, and can be taken back', async () => {
  const uploader = await newUploader(shop())
  const { sellerId } = uploader
  const begin = () => uploader.begin(100)
  assert.equal((await begin()).status, 201)
  const { usedBytes } = await seller(sellerId)
  await once('PUT', sellerId, '/quota', { quotaBytes: usedBytes + 50 })
  assertProblem(await begin(), 413, 'quota_exceeded')
  await once('PUT', sellerId, '/quota', { quotaBytes: 0 })
  assert.equal((await begin()).status, 201)
  await once('PUT', sellerId, '/quota', { quotaBytes: null })
  assert.equal((await seller(sellerId)).quotaBytes, null)
  for (const body of [{}, { quotaBytes: -1 }, { quotaBytes: 1.5 }, { quotaBytes: '1' }, { quotaBytes: 2e15 }])
    assertProblem(await call('PUT', sellerId, '/quota', body), 400, 'validation_failed')
  assertProblem(await call('PUT', sellerId, '/quota', '{'), 400, 'malformed_body')
  assert.equal((await actions(sellerId)).length, 3)
})

test('a seller who is locked out is shown so, whatever the standing', async () => {
  const { sellerId } = await sellerOf(shop())
  const before = await seller(sellerId)
  assert.equal(before.lockedOutAt, null)
  await sql`update sellers set disabled_at = '2026-11-28T12:00:00Z' where id = ${sellerId}`.execute(shop().db)
  const { standing, lockedOutAt } = await seller(sellerId)
  assert.deepEqual([standing, lockedOutAt], [before.standing, '2026-11-28T12:00:00.000Z'])
})

test('a seller is signed out everywhere, and can sign in again', async () => {
  const { browser, sellerId, email } = await sellerOf(shop())
  const other = newBrowser(shop())
  await other.signInByCode(email)
  const { body } = await call('DELETE', sellerId, '/sessions')
  assert.equal(body.changed, true)
  assert.deepEqual([await browser.isSignedIn(), await other.isSignedIn()], [false, false])
  assert.equal((await call('DELETE', sellerId, '/sessions')).body.changed, false)
  await other.signInByCode(email)
  assert.equal(await other.isSignedIn(), true)
  const [entry] = await logOf(ann, sellerId)
  assert.deepEqual(entry!.detail, { sessions: 2 })
})

test('all API keys of a seller end at once, and the seller sees which', async () => {
  const { browser, sellerId } = await sellerOf(shop())
  const keys = [await makeKey(browser, ['orders:read'], { name: 'One' }), await makeKey(browser, ['keys:write'])]
  assert.equal((await call('DELETE', sellerId, '/keys')).body.changed, true)
  assert.equal((await call('DELETE', sellerId, '/keys')).body.changed, false)
  for (const { secret } of keys)
    assertProblem(await programWith(shop(), secret).call('GET', '/api/orders'), 401, 'key_revoked')
  assert.equal(await browser.isSignedIn(), true)
  const [entry] = await logOf(ann, sellerId)
  assert.deepEqual(entry!.detail, { keys: 2 })
  const { body } = await browser.call('GET', '/api/auth/history')
  assert.equal(body.items.filter(({ what }: { what: string }) => what === 'key_revoked').length, 2)
})

test('an operator’s own key opens nothing of the operators, alone and beside the session', async () => {
  const { secret, id } = await makeKey(ann, ['orders:read', 'keys:read'])
  const program = programWith(shop(), secret)
  assert.equal((await program.call('GET', '/api/orders')).status, 200)
  assertProblem(await program.call('GET', '/api/operator/sellers'), 404, 'not_found')
  const both = { authorization: `Bearer ${secret}` }
  assertProblem(await ann.call('GET', '/api/operator/sellers', undefined, both), 404, 'not_found')
  assert.equal((await ann.call('GET', '/api/operator/sellers')).status, 200)
  await ann.call('DELETE', `/api/keys/${id}`)
})

test('sellers are found by id, and by the beginning of an address or a name', async () => {
  const { browser, sellerId, email } = await sellerOf(shop())
  await browser.call('PATCH', '/api/auth/seller', { name: '50% off_shop' })
  const find = async (query: Record<string, string>) =>
    (await ann.call('GET', `/api/operator/sellers?${new URLSearchParams(query)}`)).body.items.map(
      (one: { sellerId: string }) => one.sellerId,
    )
  for (const q of [sellerId, email.toUpperCase(), email.slice(0, 9), '50% OFF_', ` ${email} `])
    assert.deepEqual(await find({ q }), [sellerId], q)
  for (const q of [newId('sel'), '50_', '%off', '\\', "';--"]) assert.deepEqual(await find({ q }), [], q)
  assert((await find({ standing: 'awaiting_approval', limit: '100' })).includes(sellerId))
  assert(!(await find({ standing: 'suspended', limit: '100' })).includes(sellerId))
  assertProblem(await ann.call('GET', '/api/operator/sellers?standing=gone'), 400, 'validation_failed')
  assertProblem(await ann.call('GET', '/api/operator/sellers?cursor=x'), 400, 'validation_failed')
})

test('an unknown seller is not found', async () => {
  for (const [method, what, body] of [
    ['GET', '', undefined],
    ['PUT', '/approval', undefined],
    ['DELETE', '/approval', undefined],
    ['PUT', '/suspension', undefined],
    ['DELETE', '/suspension', undefined],
    ['DELETE', '/sessions', undefined],
    ['DELETE', '/keys', undefined],
    ['PUT', '/quota', { quotaBytes: 1 }],
  ] as const) {
    assertProblem(await call(method, newId('sel'), what, body), 404, 'seller_not_found')
    assertProblem(await call(method, 'sel_1', what, body), 404, 'seller_not_found')
  }
})

test('a recalled file is gone for its buyers, once, with the reason in the log', async () => {
  const { sellerId, productId } = await sellerOf(shop())
  await call('PUT', sellerId, '/approval')
  const { orderId } = await shop().paid({ productId })
  const { rows } = await sql<{ id: string }>`select id from files where product_id = ${productId}`.execute(shop().db)
  const fileId = rows[0]!.id
  const recall = (body: unknown, id = fileId) => ann.call('POST', `/api/operator/files/${id}/recall`, body)
  assertProblem(await recall({ reason: '' }), 400, 'validation_failed')
  assertProblem(await recall({ reason: 'two\nlines' }), 400, 'validation_failed')
  assertProblem(await recall({ reason: 'x' }, newId('file')), 404, 'file_not_found')
  assertProblem(await recall({ reason: 'x' }, 'file_1'), 404, 'file_not_found')
  const answers = await Promise.all(Array.from({ length: 5 }, () => recall({ reason: 'It holds a virus.' })))
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200]) // oxfmt-ignore
  assert.equal(answers.filter(({ body }) => !body.already).length, 1)
  assert.deepEqual((await shop().status(orderId, 'bob@example.com')).downloads, [])
  const [entry, ...more] = await logOf(ann, fileId)
  assert.deepEqual([entry!.action, entry!.detail['reason'], more], ['file_recalled', 'It holds a virus.', []])
})

test('the log is append-only, has pages, and can be exported as CSV', async () => {
  const { sellerId } = await sellerOf(shop())
  await call('PUT', sellerId, '/approval')
  await call('PUT', sellerId, '/suspension')
  for (const change of [
    sql`update operator_actions set actor = 'x'`,
    sql`delete from operator_actions`,
    sql`truncate operator_actions`,
  ])
    // oxfmt-ignore
    await assert.rejects(change.execute(shop().db), /append-only/)
  const first = (await ann.call('GET', `/api/operator/log?subject=${sellerId}&limit=1`)).body
  const second = (await ann.call('GET', `/api/operator/log?subject=${sellerId}&limit=1&cursor=${first.nextCursor}`))
    .body
  assert.deepEqual([first.items[0].action, second.items[0].action, second.nextCursor], ['seller_suspended', 'seller_approved', null]) // oxfmt-ignore
  const csv = await ann.call('GET', `/api/operator/log?subject=${sellerId}&format=csv`)
  assert.match(csv.headers.get('content-type')!, /^text\/csv/)
  const lines = csv.body.trim().split('\r\n')
  assert.equal(lines.length, 3)
  assert.match(lines[0], /id,at,actor,action,subject,detail$/)
  assert.match(lines[1], new RegExp(`,${OPERATOR},seller_suspended,${sellerId},`))
  assertProblem(await ann.call('GET', '/api/operator/log?cursor=MA'), 400, 'validation_failed')
  assertProblem(await ann.call('GET', '/api/operator/log?format=xls'), 400, 'validation_failed')
})
