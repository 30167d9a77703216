import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { tellWaiting } from '../../src/operator/waiting.ts'
import { trustSeller } from '../../src/sellers/trust.ts'
import { atEnd } from '../support/ends.ts'
import { newBrowser, newMailbox } from '../support/seller.ts'
import { type TestShop, assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'

const OPERATOR = 'ann@operator.test'
const shop = sharedShop({ env: { SIGNUP: 'approval', OPERATORS: OPERATOR } })

/** A seller who has just signed up and published a product, for `amount`. */
async function newSeller(at: TestShop, amount = 1900) {
  const browser = newBrowser(at)
  const email = newMailbox()
  const { body } = await browser.signInByCode(email)
  const product = await browser.call('POST', '/api/products', { name: 'A song', amount, currency: 'USD' })
  assert.equal(product.status, 201, JSON.stringify(product.body))
  await at.file(product.body.id)
  const published = await browser.call('PATCH', `/api/products/${product.body.id}`, { status: 'active' })
  assert.deepEqual([published.status, published.body.status], [200, 'active'], JSON.stringify(published.body))
  return { browser, email, id: body.seller.id as string, standing: body.seller.standing, productId: product.body.id }
}

const buy = (at: TestShop, productId: string, more = {}) =>
  at.call('POST', '/api/checkout', { productId, email: 'bob@example.com', ...more })
const standingOf = async ({ browser }: { browser: ReturnType<typeof newBrowser> }) =>
  (await browser.session()).body.seller.standing

for (const [what, amount, more] of [
  ['a priced', 1900, {}],
  ['a free', 0, {}],
  ['a discounted', 1900, { discountCode: 'SPRING' }],
] as const)
  test(`a new seller prepares ${what} product at once, and sells it once approved`, async () => {
    const seller = await newSeller(shop(), amount)
    assert.equal(seller.standing, 'awaiting_approval')
    if ('discountCode' in more) {
      const made = await seller.browser.call('POST', '/api/discounts', { code: 'SPRING', percentOff: 10 })
      assert.equal(made.status, 201, JSON.stringify(made.body))
    }
    assertProblem(await buy(shop(), seller.productId, more), 409, 'shop_not_open')
    assertProblem(await shop().call('GET', `/api/products/${seller.productId}/public`), 409, 'shop_not_open')
    const page = await shop().call('GET', `/pay/?product=${seller.productId}`, undefined, { accept: 'text/html' })
    assert.equal(page.status, 409)
    assert.match(page.body, /"shop_not_open"/)

    assert(await trustSeller(shop().db, seller.id, true))
    assert.equal(await standingOf(seller), 'active')
    assert.equal((await buy(shop(), seller.productId, more)).status, 201)
    await trustSeller(shop().db, seller.id, false)
    assert.equal(await standingOf(seller), 'awaiting_approval', 'the approval can be taken back')
    assertProblem(await buy(shop(), seller.productId, more), 409, 'shop_not_open')
  })

test('a draft of a seller who waits is not for sale for the usual reason', async () => {
  const { browser, productId } = await newSeller(shop())
  await browser.call('PATCH', `/api/products/${productId}`, { status: 'draft' })
  assertProblem(await buy(shop(), productId), 404, 'product_not_found')
})

for (const [what, column, code] of [
  ['waits for approval', 'trusted_at = null', 'approval_awaited'],
  ['is suspended', 'suspended_at = now()', 'seller_suspended'],
] as const)
  test(`a seller who ${what} causes no mail to others and names no site; buyers keep their files and get their money`, async () => {
    const seller = await newSeller(shop())
    await trustSeller(shop().db, seller.id, true)
    const { orderId } = await shop().paid({ productId: seller.productId })
    await sql`update sellers set ${sql.raw(column)} where id = ${seller.id}`.execute(shop().db)
    assertProblem(await buy(shop(), seller.productId), 409, 'shop_not_open')
    assertProblem(await seller.browser.call('POST', `/api/orders/${orderId}/receipt`), 403, code)
    assertProblem(await seller.browser.call('POST', `/api/orders/${orderId}/email`, { email: newMailbox() }), 403, code)
    assertProblem(await seller.browser.call('PUT', '/api/sites/shop.example'), 403, code)
    const status = await shop().status(orderId, 'bob@example.com')
    const file = status.downloads![0]!
    assert.equal((await fetch(file.url.replace('http://shop.test', shop().url))).status, 200)
    assert.equal((await seller.browser.call('POST', `/api/orders/${orderId}/refunds`, {})).status, 201)
  })

test('buyers cannot order from a locked-out seller until the operator lets the seller in again', async () => {
  const seller = await newSeller(shop())
  await trustSeller(shop().db, seller.id, true)
  const { orderId } = await shop().paid({ productId: seller.productId })
  await sql`update sellers set disabled_at = now() where id = ${seller.id}`.execute(shop().db)
  assertProblem(await buy(shop(), seller.productId), 409, 'shop_not_open')
  assertProblem(await buy(shop(), seller.productId, { currency: 'USD' }), 409, 'shop_not_open')
  assertProblem(await shop().call('GET', `/api/products/${seller.productId}/public`), 409, 'shop_not_open')
  assert.equal((await shop().status(orderId, 'bob@example.com')).downloads!.length, 1, 'buyers keep their files')
  await sql`update sellers set disabled_at = null where id = ${seller.id}`.execute(shop().db)
  assert.equal((await buy(shop(), seller.productId)).status, 201)
})

test('a payment that began before a suspension still ends as a sale', async () => {
  const seller = await newSeller(shop())
  await trustSeller(shop().db, seller.id, true)
  const order = await shop().checkout({ productId: seller.productId })
  await sql`update sellers set suspended_at = now() where id = ${seller.id}`.execute(shop().db)
  await shop().confirm(order)
  await shop().until(order.orderId, ({ paid }) => paid)
})

test('sellers from before sell without an approval, and an operator needs none, also where sign-up is closed', async (t) => {
  await shop().paid()
  const { body } = await newBrowser(shop()).signInByCode(OPERATOR)
  assert.equal(body.seller.standing, 'active')
  const closed = await startTestShop(t, { env: { SIGNUP: 'closed', OPERATORS: OPERATOR } })
  assert.equal((await newBrowser(closed).signInByCode(OPERATOR)).body.seller.email, OPERATOR)
  const open = await startTestShop(t)
  assert.equal((await newBrowser(open).signInByCode()).body.seller.standing, 'active')
})

test('the operators get one mail a day about who waits, however many instances look', async (t) => {
  const others = ['bob@operator.test', 'cat@operator.test']
  const own = await startTestShop(t, { env: { SIGNUP: 'approval', OPERATORS: others.join(',') } })
  const jobs = await startJobs({ connectionString: own.databaseUrl }, newLog('silent'))
  atEnd(t, () => jobs.stop())
  const tell = () => Promise.all(Array.from({ length: 5 }, () => tellWaiting(own.db, jobs, others)))
  const enqueued = async () => {
    const { rows } = await sql<{ to: string }>`
      select data->>'to' as to from pgboss.job where name = 'operator_mail' order by 1`.execute(own.db)
    return rows.map(({ to }) => to)
  }
  const passed = (time: string) => sql`update operator_mails set sent_at = now() - ${time}::interval`.execute(own.db)

  await tell()
  assert.deepEqual(await enqueued(), [], 'nobody waits')
  const first = await newSeller(own)
  await tell()
  assert.deepEqual(await enqueued(), others)
  await eventually(
    () => own.mails(others[0]),
    (mails) => mails.length === 1,
  )
  const [mail] = await own.mails(others[0])
  assert.equal(mail!.subject, '1 new seller waits for your approval at shop.test')
  assert.match(mail!.text, /http:\/\/shop\.test\/operator\/#\/sellers/)
  assert.doesNotMatch(mail!.text, new RegExp(first.email), 'a stranger’s address is no link')

  await newSeller(own)
  await tell()
  assert.deepEqual(await enqueued(), others, 'the day is not over')
  await passed('25 hours')
  await tell()
  assert.equal((await enqueued()).length, 4, 'somebody new has come since')
  await sql`update sellers set approval_asked_at = now() - interval '30 days' where approval_asked_at is not null`.execute(
    own.db,
  )
  await passed('25 hours')
  await tell()
  assert.equal((await enqueued()).length, 4, 'they know about these')
  await passed('8 days')
  await tell()
  assert.equal((await enqueued()).length, 6, 'a week later they are reminded')
  await sql`update sellers set trusted_at = now() where approval_asked_at is not null`.execute(own.db)
  await passed('8 days')
  await tell()
  assert.equal((await enqueued()).length, 6, 'nobody waits any more')
})
