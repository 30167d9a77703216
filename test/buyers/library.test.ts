import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { newSigner } from '../../src/kit/signing.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { askChargeCode, liveCode, mailedCode, pastOrder } from '../support/buyer.ts'
import { type Browser, cookiesOf, newBrowser, newGuesser, newMailbox, wrongCode } from '../support/seller.ts'
import { type Answer, SECRET, type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { watchWork } from '../support/work.ts'

const work = watchWork()
const ends: (() => unknown)[] = []
let shop: TestShop
before(async () => {
  shop = await startTestShop({ after: (end) => ends.push(end) })
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

const ask = (browser: Browser, email: unknown) => browser.call('POST', '/api/library/code', { email })
const verify = (browser: Browser, email: unknown, code: unknown) =>
  browser.call('POST', '/api/library/verify', { email, code })
const library = (browser: Browser, query = ''): Promise<Answer> => browser.call('GET', `/api/library${query}`)

/** A browser whose library is open. */
async function opened(email: string): Promise<Browser> {
  const browser = newBrowser(shop)
  await ask(browser, email)
  const { status, body } = await verify(browser, email, await liveCode(shop, email, browser))
  assert.equal(status, 200, JSON.stringify(body))
  return browser
}

test('without a code the response is the same, whether the address has orders or not', async () => {
  const [buyer, stranger] = [newMailbox(), newMailbox()]
  await pastOrder(shop, buyer)
  assertProblem(await library(newBrowser(shop)), 401, 'not_signed_in')
  const told = ({ status, body, headers }: Answer) => [
    status,
    body,
    [...headers.keys()].sort(),
    cookiesOf(headers).map(({ name, attributes }) => [name, attributes]),
  ]
  const [one, other] = [newBrowser(shop), newBrowser(shop)]
  const answers = [await ask(one, ` ${buyer.toUpperCase()} `), await ask(other, stranger)]
  assert.deepEqual(told(answers[0]!), told(answers[1]!))
  assert.deepEqual(answers[0]!.body, { resendAfter: 30 })
  const [cookie] = cookiesOf(answers[0]!.headers)
  assert.deepEqual(cookie!.attributes, { httponly: true, path: '/', samesite: 'Strict', 'max-age': '600' })
  const mails = await eventually(
    () => shop.mails(stranger),
    ({ length }) => length > 0,
  )
  assert.match(mails[0]!.subject, /^Nothing was bought/)
  assert.doesNotMatch(mails[0]!.text, /\d{6}|bank statement/)
  const [right, wrong] = [await liveCode(shop, buyer), wrongCode(await liveCode(shop, stranger))]
  const said = ({ status, body: { requestId: _, ...body } }: Answer) => ({ status, ...body })
  assert.deepEqual(said(await verify(one, buyer, wrongCode(right))), said(await verify(other, stranger, wrong)))
  assertProblem(await library(one), 401, 'not_signed_in')
  for (const [side, email] of Object.entries({ buyer, stranger }))
    assert.equal((await ask(newBrowser(shop, { headers: work.headers(side) }), email)).status, 202)
  assert(work.of('buyer').length > 0)
  assert.deepEqual(work.of('stranger'), work.of('buyer'))
})

test('wrong bodies and codes open nothing, nor does a code for something else, or another browser’s', async () => {
  const email = newMailbox()
  await pastOrder(shop, email)
  const browser = newBrowser(shop)
  for (const bad of [undefined, null, 7, '', 'bob', 'a@b.c\u0000'])
    assertProblem(await ask(browser, bad), 400, 'validation_failed')
  for (const code of [undefined, 123456, '12345', 'abcdef'])
    assertProblem(await verify(browser, email, code), 400, 'validation_failed')
  // each code with its own cookie, at the other's door, under the name of either
  const withTokenOf = async (token: string | undefined, path: string, code: string) => {
    assert(token)
    const cookie = `till_library_code=${token}; till_charge_code=${token}`
    return newBrowser(shop).call('POST', path, { email, code, descriptor: 'TILL' }, { cookie })
  }
  const charge = newBrowser(shop)
  await askChargeCode(charge, email)
  const chargeCode = await liveCode(shop, email, charge)
  const chargeToken = charge.jar.value('till_charge_code')
  assertProblem(await withTokenOf(chargeToken, '/api/library/verify', chargeCode), 401, 'invalid_code')
  await ask(browser, email)
  const code = await liveCode(shop, email, browser)
  const libraryToken = browser.jar.value('till_library_code')
  assertProblem(await withTokenOf(libraryToken, '/api/charges/verify', code), 401, 'invalid_code')
  assertProblem(await verify(newBrowser(shop), email, code), 401, 'cookie_missing')
  assertProblem(await verify(newGuesser(shop, { cookie: 'till_library_code' }), email, code), 401, 'invalid_code')
  assertProblem(await verify(browser, newMailbox(), code), 401, 'invalid_code')
  for (let time = 0; time < 5; time++) assertProblem(await verify(browser, email, wrongCode(code)), 401, 'invalid_code')
  assertProblem(await verify(browser, email, code), 401, 'invalid_code')
  assertProblem(await library(browser), 401, 'not_signed_in')
})

test('the right code opens all that was bought, of every seller, with links that work', async () => {
  const email = newMailbox()
  const zoe = newMailbox()
  const sellerId = await ensureSeller(shop.db, { name: 'Zoe', email: zoe })
  const productId = await shop.product({ sellerId, name: 'Novel', imageUrl: '/novel.png', priceMinor: 700 })
  const bought = await shop.checkout({ productId, email })
  await shop.confirm(bought)
  await eventually(
    () => shop.status(bought.orderId, email),
    ({ paid }) => paid,
  )
  const older = await pastOrder(shop, email, { name: 'Poems', currency: 'EUR' })
  const refunded = await pastOrder(shop, email, { created: '2026-01-01T00:00:00Z' })
  await sql`update orders set state = 'refunded', refunded_minor = amount_minor where id = ${refunded}`.execute(shop.db)
  await shop.checkout({ email })
  await pastOrder(shop, newMailbox())

  const browser = newBrowser(shop)
  await ask(browser, email)
  const answer = await verify(browser, email, await mailedCode(shop, email))
  assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'no-store'])
  const { items, ...rest } = answer.body
  assert.deepEqual(rest, { email, nextCursor: null })
  assert.deepEqual(
    items.map(({ orderId, status }: any) => [orderId, status]),
    [[bought.orderId, 'paid'], [older, 'paid'], [refunded, 'refunded']],
  ) // oxfmt-ignore
  const { downloads, createdAt, paidAt, ...first } = items[0]
  assert.deepEqual(first, {
    orderId: bought.orderId,
    orderUrl: `http://shop.test/order/?order=${bought.orderId}`,
    status: 'paid',
    product: { id: productId, name: 'Novel', imageUrl: '/novel.png' },
    seller: { name: 'Zoe', supportEmail: zoe },
    amount: 700,
    currency: 'USD',
  })
  assert(createdAt <= paidAt)
  assert.equal((await shop.call('GET', new URL(downloads[0].url).pathname)).body, 'a book')
  assert.deepEqual(items[2].downloads, [])

  const pass = cookiesOf(answer.headers).find(({ name }) => name === 'till_library')!
  assert.deepEqual(pass.attributes, { httponly: true, path: '/', samesite: 'Strict', 'max-age': '3600' })
  const again = await library(browser)
  assert.deepEqual([again.status, again.body.items.length], [200, 3])
  const closed = await browser.call('DELETE', '/api/library')
  assert.equal(closed.status, 204)
  assertProblem(await library(browser), 401, 'not_signed_in')
  assert.equal((await browser.call('DELETE', '/api/library')).status, 204)
})

test('the pages of a library hold each order once, and take no cursor or limit that is none', async () => {
  const email = newMailbox()
  const made = await Promise.all(
    Array.from({ length: 5 }, (_, n) => pastOrder(shop, email, { created: `2026-03-${10 + (n >> 1)}T12:00:00Z` })),
  )
  const browser = await opened(email)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const { body }: Answer = await library(browser, `?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
    assert(body.items.length <= 2)
    seen.push(...body.items.map(({ orderId }: any) => orderId))
    cursor = body.nextCursor
  } while (cursor)
  assert.deepEqual(seen.toSorted(), made.toSorted())
  for (const query of ['?limit=0', '?limit=101', '?cursor=x', '?cursor='])
    assertProblem(await library(browser, query), 400, 'validation_failed')
})

test('a pass that was changed, is over, or was signed for something else, opens nothing', async () => {
  const email = newMailbox()
  await pastOrder(shop, email)
  const browser = await opened(email)
  const [address = '', end = '', signature = ''] = browser.jar.value('till_library')!.split('.')
  const other = Buffer.from('victim@example.com').toString('base64url')
  const signed = (purpose: string, claim: string) => `${claim}.${newSigner([SECRET], purpose).sign(claim)}`
  const withPass = (pass: string) => shop.call('GET', '/api/library', undefined, { cookie: `till_library=${pass}` })
  assert.equal((await withPass(`${address}.${end}.${signature}`)).status, 200)
  for (const pass of [
    '',
    '..',
    `${other}.${end}.${signature}`,
    `${address}.${Number(end) + 1}.${signature}`,
    `${address}.${end}.${signature}.x`,
    `${address}.${end}`,
    signed('library', `${address}.${Math.floor(Date.now() / 1000) - 1}`),
    signed('library', `${address}.x`),
    signed('download', `${address}.${end}`),
  ])
    // oxfmt-ignore
    assertProblem(await withPass(pass), 401, 'not_signed_in')
})

test('no other site’s page can use the cookie or read the response', async () => {
  const email = newMailbox()
  await pastOrder(shop, email)
  const browser = await opened(email)
  const { headers } = await browser.call('GET', '/api/library', undefined, { origin: 'https://evil.test' })
  assert.equal(headers.get('access-control-allow-origin'), 'http://shop.test')
  assert.equal(headers.get('access-control-allow-credentials'), 'true')
  for (const [method, path, body] of [
    ['POST', '/api/library/code', { email }],
    ['POST', '/api/library/verify', { email, code: '123456' }],
    ['DELETE', '/api/library', undefined],
  ] as const)
    assertProblem(await browser.call(method, path, body, { origin: 'https://evil.test' }), 403, 'origin_not_allowed')
})
