import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR, sharedConnectShop } from '../support/connect-shop.ts'
import { newBrowser } from '../support/seller.ts'
import { assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

const all = sharedConnectShop()

const buy = (productId: string) => all().shop.call('POST', '/api/checkout', { productId, email: 'bob@example.com' })

test('nobody opens an account without a sign-in, or where none is needed', async (t) => {
  assertProblem(await all().shop.call('POST', '/api/payouts/account'), 401, 'not_signed_in')
  assertProblem(await all().shop.call('GET', '/api/payouts/account'), 401, 'not_signed_in')
  const shop = await startTestShop(t)
  const browser = newBrowser(shop)
  await browser.signInByCode()
  assertProblem(await browser.call('POST', '/api/payouts/account'), 409, 'account_not_needed')
  const { body } = await browser.call('GET', '/api/payouts/account')
  assert.deepEqual([body.state, body.blocksSales], ['none', false])
})

test('a seller sells only while the account takes payments, and reads why not in plain words', async () => {
  const { browser, productId, id } = await all().seller()
  assertProblem(await buy(productId), 409, 'shop_not_open')
  const none = await browser.call('GET', '/api/payouts/account')
  assert.deepEqual(none.body, { state: 'none', missing: [], paysOut: false, blocksSales: true, readAt: null })

  const { status, body } = await browser.call('POST', '/api/payouts/account')
  assert.equal(status, 200)
  assert.match(body.url, /^https:\/\/connect\.stripe\.com\/setup\//)
  const { account, return_url, refresh_url } = all().connect.links.at(-1)!
  assert.deepEqual([return_url, refresh_url], [refresh_url, 'http://shop.test/shop/#/money'])
  const open = (await browser.call('GET', '/api/payouts/account')).body
  assert.deepEqual(
    [open.state, open.missing, open.blocksSales],
    [
      'open',
      [
        'Your website, or what you sell',
        'The bank account to which Stripe pays',
        'The date of birth',
        'Your consent to Stripe’s terms',
      ],
      true,
    ],
  )
  assertProblem(await buy(productId), 409, 'shop_not_open')
  assertProblem(await all().shop.call('GET', `/api/products/${productId}/public`), 409, 'shop_not_open')

  all().connect.stand(account, 'in review')
  const review = await eventually(
    async () => (await browser.call('GET', '/api/payouts/account')).body,
    ({ state }) => state === 'restricted',
  )
  assert.deepEqual(review.missing, ['Nothing at the moment: Stripe is checking what you told it'])
  all().connect.stand(account, 'active')
  await all().awaits(id, false)
  assert.equal((await buy(productId)).status, 201)
  all().connect.stand(account, 'restricted')
  await all().awaits(id, true)
  assertProblem(await buy(productId), 409, 'shop_not_open')
  const restricted = (await browser.call('GET', '/api/payouts/account')).body
  assert.deepEqual(restricted.missing, ['A picture of an identity document'])
})

test('a sale is paid at the seller’s account, and the service takes exactly its fee', async () => {
  const seller = await all().selling()
  const created = await buy(seller.productId)
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const order = created.body
  assert.deepEqual([order.processor, order.account], ['stripe', seller.account])
  assert.equal(order.statementDescriptor, 'SELLER* A BOOK')
  const [intent] = seller.bank.paymentIntents
  assert.deepEqual([intent!['id'], intent!['amount'], intent!['application_fee_amount']], [intentOf(order), 1900, 38])
  assert.equal(all().server.bank.paymentIntents.length, 0)
  seller.bank.confirm(intentOf(order))
  await all().shop.until(order.orderId, ({ paid }) => paid)
  assert.deepEqual(await all().shop.transfers(order.orderId), [
    { kind: 'sale', debit: `processor:${seller.name}`, credit: `direct:${seller.id}`, amountMinor: 1900 },
    { kind: 'fee', debit: `direct:${seller.id}`, credit: 'fees', amountMinor: 38 },
  ])
  assert.deepEqual(
    all()
      .connect.fees.filter(({ account }) => account === seller.account)
      .map(({ amount }) => amount),
    [38],
  )
  assert.deepEqual(await all().differences(), [])
})

test('the seller’s lists show a sale at the own account, which is in no balance, and the operator finds it', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  const { body } = await seller.browser.call('GET', '/api/transfers')
  assert.deepEqual(
    body.items.map(({ kind, amount, isDirect, balance }: any) => [kind, amount, isDirect, balance]),
    [
      ['sale', 1900, true, undefined],
      ['fee', -38, true, undefined],
    ],
  )
  const detail = (await seller.browser.call('GET', `/api/orders/${order.orderId}`)).body
  assert.deepEqual([detail.netAmount, detail.transfers.length], [1862, 2])
  assert.deepEqual((await seller.browser.call('GET', '/api/balance')).body.items, [])
  const operator = newBrowser(all().shop)
  await operator.signInByCode(OPERATOR)
  const found = await operator.call('GET', `/api/operator/orders?q=${intentOf(order)}`)
  assert.deepEqual(found.body.items.map(({ orderId }: any) => orderId), [order.orderId]) // oxfmt-ignore
})

test('the host of the payment page is registered at the account, so that wallets show there', async () => {
  const seller = await all().selling()
  await all().readDue()
  await all().readDue()
  assert.deepEqual(seller.bank.methodDomains.map((one) => one['domain_name']), ['shop.test']) // oxfmt-ignore
})

test('an operator’s own products sell on the service’s account', async () => {
  const { productId, id } = await all().seller(OPERATOR)
  const { status, body } = await buy(productId)
  assert.deepEqual([status, body.processor, body.account], [201, 'stripe', undefined])
  const intent = all().server.bank.paymentIntents.find((one) => one['id'] === intentOf(body))
  assert.equal(intent!['application_fee_amount'], null)
  all().server.bank.confirm(intentOf(body))
  await all().shop.until(body.orderId, ({ paid }) => paid)
  const [sale] = await all().shop.transfers(body.orderId)
  assert.equal(sale!.credit, `seller:${id}`)
})

test('links to an account are limited, because the processor counts the requests of all sellers together', async (t) => {
  const { shop } = await startStripeShop(t, {
    env: { PAYOUTS: 'stripe-connect', OPERATORS: OPERATOR, LIMITS: 'payout_account=2/3600' },
  })
  const browser = newBrowser(shop)
  await browser.signInByCode()
  for (const status of [200, 200]) assert.equal((await browser.call('POST', '/api/payouts/account')).status, status)
  assertProblem(await browser.call('POST', '/api/payouts/account'), 429, 'rate_limited')
})

test('a seller gets one account, however often it is opened at once, and when the process dies before it is stored', async () => {
  const one = await all().seller()
  const at = all().connect.accounts.length
  const opened = await Promise.all(Array.from({ length: 5 }, () => one.browser.call('POST', '/api/payouts/account')))
  assert.deepEqual(
    opened.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  assert.equal(all().connect.accounts.length, at + 1)

  const other = await all().seller()
  // the account is made, and its answer never arrives
  const isMaking = ({ path, method }: { path: string; method: string }) => method === 'POST' && path === '/v1/accounts'
  all().server.fail('done then drop', { times: 2, match: isMaking })
  assertProblem(await other.browser.call('POST', '/api/payouts/account'), 503, 'account_unavailable')
  const made = all().connect.accounts.at(-1)!
  assert.equal((await other.browser.call('GET', '/api/payouts/account')).body.state, 'none')
  // Stripe remembers a key for a day, and the process was down for longer
  all().server.forgetKeys()
  await all().readDue()
  const { rows } = await sql<{ account: string }>`
    select account from connected_accounts where seller_id = ${other.id}`.execute(all().shop.db)
  assert.deepEqual(rows, [{ account: made['id'] }])
  assert.equal(all().connect.accounts.length, at + 2)
})

test('a seller hears once that the account takes no payments any more, and what Stripe needs', async () => {
  const { id, browser } = await all().selling()
  const { rows } = await sql<{ email: string; account: string }>`
    select s.email, c.account from sellers s join connected_accounts c on c.seller_id = s.id where s.id = ${id}`.execute(
    all().shop.db,
  )
  const { email, account } = rows[0]!
  const told = async (count: number) => {
    const found = await eventually(
      async () => (await all().shop.mails(email)).filter(({ subject }) => /account takes no payments/.test(subject)),
      (mails) => mails.length >= count,
    )
    assert.equal(found.length, count)
    return found
  }
  all().connect.stand(account, 'restricted')
  await all().awaits(id, true)
  const [mail] = await told(1)
  for (const part of ['not for sale', 'A picture of an identity document', '/shop/#/money'])
    assert(mail!.text.includes(part), `${part} is in ${mail!.text}`)
  // the same news again, by the job and by the page
  await all().readDue()
  await browser.call('GET', '/api/payouts/account')
  await told(1)
  all().connect.stand(account, 'active')
  await all().awaits(id, false)
  all().connect.revoke(account)
  await all().readDue()
  await all().awaits(id, true)
  const left = (await told(2)).find(({ text }) => text.includes('no access any more'))
  assert(left)
})

test('money that a restricted account has captured still settles', async () => {
  const seller = await all().selling()
  const order = await all().shop.checkout({ productId: seller.productId })
  seller.bank.confirm(intentOf(order), { outcome: 'processing' })
  await all().shop.until(order.orderId, ({ status }) => status === 'processing')
  all().connect.stand(seller.account, 'restricted')
  await all().awaits(seller.id, true)
  seller.bank.finish(intentOf(order), 'succeed')
  await all().shop.until(order.orderId, ({ paid }) => paid)
  assertProblem(await buy(seller.productId), 409, 'shop_not_open')
  assert.deepEqual(await all().differences(), [])
})
