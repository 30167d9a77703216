import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { BUSINESS, FEE, OPERATOR, PRICE, sharedRouteShop, startRouteShop } from '../support/route-shop.ts'
import { newBrowser } from '../support/seller.ts'
import { assertProblem, eventually, startTestShop } from '../support/shop.ts'

// Sellers' linked accounts at Razorpay, and which sellers sell.

const ORDER = ['sale', 'fee', 'passed_on']
const all = sharedRouteShop()

const buy = (productId: string) => all().shop.call('POST', '/api/checkout', { productId, email: 'bob@example.com' })

test('nobody tells of an account without a sign-in, where none is needed, or in another form than Razorpay takes', async (t) => {
  assertProblem(await all().shop.call('PUT', '/api/payouts/account', BUSINESS), 401, 'not_signed_in')
  const { browser } = await all().seller()
  const made = all().route.accounts.size
  for (const [field, value] of [
    ['pan', 'ABCCE1234F'],
    ['pan', 'abcpe1234f'],
    ['businessPan', 'ABCPE1234F'],
    ['ifsc', 'HDFC1000317'],
    ['accountNumber', '12'],
    ['postalCode', '056003'],
    ['phone', 'call me'],
    ['businessType', 'cooperative'],
    ['sells', 'weapons'],
    ['acceptsTerms', false],
    ['legalName', 'A\u0000sha'],
    ['street2', ''],
  ] as const)
    assertProblem(await browser.call('PUT', '/api/payouts/account', { ...BUSINESS, [field]: value }), 400, 'validation_failed') // oxfmt-ignore
  assertProblem(await browser.call('PUT', '/api/payouts/account', {}), 400, 'validation_failed')
  assertProblem(await browser.call('POST', '/api/payouts/account'), 409, 'account_by_details')
  assert.equal(all().route.accounts.size, made)

  const shop = await startTestShop(t)
  const other = newBrowser(shop)
  await other.signInByCode()
  assertProblem(await other.call('PUT', '/api/payouts/account', BUSINESS), 409, 'account_not_needed')
})

test('a seller sells only while the linked account is activated, and reads why not in plain words', async () => {
  const { browser, productId, id, email } = await all().seller()
  assertProblem(await buy(productId), 409, 'shop_not_open')
  const none = await browser.call('GET', '/api/payouts/account')
  assert.deepEqual(none.body, { state: 'none', missing: [], paysOut: false, blocksSales: true, readAt: null })

  const { status, body } = await browser.call('PUT', '/api/payouts/account', BUSINESS)
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.state, body.missing], ['restricted', ['Nothing at the moment: Razorpay is checking what you told it']]) // oxfmt-ignore
  assertProblem(await buy(productId), 409, 'shop_not_open')
  const account = [...all().route.accounts.values()].find((one) => one.email === email)!
  assert.deepEqual([account.business_type, account.profile.category, account.legal_info], ['individual', 'media_and_entertainment', undefined]) // oxfmt-ignore
  const view = async (wanted: string) =>
    eventually(
      async () => (await browser.call('GET', '/api/payouts/account')).body,
      ({ state }) => state === wanted,
    )
  all().route.stand(account.id, 'needs_clarification', ['kyc.pan', 'individual_proof_of_address', 'surprise'])
  const open = await view('open')
  assert.deepEqual(open.missing, [
    'The PAN: Razorpay does not have it, or it does not fit the name',
    'A document that proves the address',
    'More about your business',
  ])
  // the seller corrects it: the same account
  const again = await browser.call('PUT', '/api/payouts/account', { ...BUSINESS, pan: 'ABCPE4321F' })
  assert.equal(again.status, 200, JSON.stringify(again.body))
  assert.deepEqual(again.body.missing, ['A document that proves the address', 'More about your business'])
  all().route.stand(account.id, 'activated')
  await all().awaits(id, false)
  const active = await view('active')
  assert.deepEqual([active.missing, active.paysOut, active.blocksSales], [[], true, false])
  assert.equal((await buy(productId)).status, 201)
  all().route.suspend(account.id)
  await all().awaits(id, true)
  assertProblem(await buy(productId), 409, 'shop_not_open')
  const suspended = await view('restricted')
  assert.deepEqual(suspended.missing, ['Razorpay has suspended this account. Please ask the operator of this service'])
  const mail = await eventually(
    async () => (await all().shop.mails(email)).find(({ subject }) => /takes no payments/.test(subject)),
    (found) => found !== undefined,
  )
  assert.equal(mail?.subject, 'Your Razorpay account takes no payments')
})

test('a correction has only the details that Razorpay asks for, and an account that it has locked is left alone', async () => {
  const { browser, email, id } = await all().seller()
  const put = (changed: object) => browser.call('PUT', '/api/payouts/account', { ...BUSINESS, ...changed })
  const changes = async () =>
    (await sql`select from account_events where seller_id = ${id} and what = 'payout_details_changed'`.execute(all().shop.db)).rows.length // oxfmt-ignore
  const writes = () => all().bank.requests.filter(({ method }) => method !== 'GET').length
  assert.equal((await put({})).status, 200)
  const account = [...all().route.accounts.values()].find((one) => one.email === email)!
  const product = [...all().route.products.values()].find((one) => one.account_id === account.id)!
  const asks = async (...fields: string[]) => {
    all().route.stand(account.id, 'needs_clarification', fields)
    // its notification has the account read, which must not run beside the request
    await all().bank.delivered()
    await eventually(
      async () => (await sql`select from pgboss.job where name = 'read_account' and state in ('created', 'retry', 'active')`.execute(all().shop.db)).rows.length, // oxfmt-ignore
      (waiting) => waiting === 0,
    )
  }
  const left = async (why: RegExp) => {
    const before = [writes(), await changes()]
    const refused = await put({ street1: 'Another street 1' })
    assertProblem(refused, 422, 'account_details_refused')
    assert.match(refused.body.detail, why)
    assert.deepEqual([writes(), await changes()], before, 'no mail, no change of the day, nothing at Razorpay')
  }
  await left(/is checking what you told it/)

  await asks('settlements.account_number', 'settlements.ifsc')
  const bank = await put({ accountNumber: '99900011122', street1: 'Another street 1' })
  assert.deepEqual([bank.status, bank.body.state], [200, 'restricted'])
  assert.equal(product.active_configuration.settlements.account_number, '99900011122')
  await asks('kyc.pan')
  const changed = await changes()
  assert.equal(
    (await put({ pan: 'ABCPE4321F', street1: 'Another street 1', accountNumber: '55500011122' })).body.state,
    'restricted',
  )
  assert.equal(product.active_configuration.settlements.account_number, '99900011122')
  assert.equal(await changes(), changed, 'the bank account stays, so no mail tells of another one')
  assert.equal(account.profile.addresses.registered.street1, BUSINESS.street1)
  // the name of the person: only the address in the requirement says whose name it is
  await asks('name')
  const named = await put({ contactName: 'Asha Kumari Rao', pan: 'ABCPE1111F' })
  assert.deepEqual([named.status, named.body.state], [200, 'restricted'])
  const [person] = all().route.stakeholders.get(account.id)!
  assert.deepEqual([person!.name, person!.kyc.pan], ['Asha Kumari Rao', 'ABCPE4321F'])
  assert.equal(account.contact_name, BUSINESS.contactName)
  await asks('legal_info.pan', 'profile.addresses.registered')
  const business = await put({ businessType: 'partnership', businessPan: 'ABCFE1234F', gst: '29ABCFE1234F1Z5', street1: 'Another street 1' }) // oxfmt-ignore
  assert.deepEqual([business.status, business.body.state], [200, 'restricted'])
  assert.deepEqual(account.legal_info, { pan: 'ABCFE1234F' })
  assert.equal(account.profile.addresses.registered.street1, 'Another street 1')
  await asks('individual_proof_of_address')
  await left(/cannot be sent from here.*A document that proves the address/)
  all().route.stand(account.id, 'activated')
  await left(/no change of an active account/)
})

test('the service keeps nothing of what a seller tells: not in the database, not in a mail', async () => {
  const { browser, email } = await all().seller()
  const secrets = { pan: 'ZZZPZ9876Z', accountNumber: '99887766554433', street1: 'Nowhere Lane 9' }
  const { status } = await browser.call('PUT', '/api/payouts/account', { ...BUSINESS, ...secrets })
  assert.equal(status, 200)
  const { rows } = await sql<{ name: string }>`
    select table_schema || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`.execute(all().shop.db)
  for (const { name } of rows)
    for (const secret of Object.values(secrets)) {
      const { rows: found } = await sql`select from ${sql.raw(name)} t where t::text like ${`%${secret}%`} limit 1`.execute(all().shop.db) // oxfmt-ignore
      assert.equal(found.length, 0, `${secret} is in ${name}`)
    }
  assert(!JSON.stringify(await all().shop.mails(email)).includes(secrets.pan))
})

test('the owner gets a mail before Razorpay hears of another bank account, and nobody changes it without end', async () => {
  const { browser, email, id } = await all().seller()
  await sql`
    insert into account_events (seller_id, what, email, previous_email)
    values (${id}, 'email_changed', ${email}, ${`before-${email}`})`.execute(all().shop.db)
  all().bank.break(/PATCH .*products/, 'drop')
  const lost = await browser.call('PUT', '/api/payouts/account', { ...BUSINESS, accountNumber: '5550001112229' })
  assertProblem(lost, 503, 'account_unavailable')
  for (const to of [email, `before-${email}`]) {
    const mails = await eventually(() => all().shop.mails(to), (found) => found.some(({ subject }) => subject.startsWith('New payout details'))) // oxfmt-ignore
    const { text } = mails.find(({ subject }) => subject.startsWith('New payout details'))!
    assert.match(text, /HDFC … 2229/)
    assert.match(text, /at Razorpay/)
    assert.doesNotMatch(text, /72 hours|5550001112229/)
  }
  await sql`
    insert into account_events (seller_id, what, currency)
    select ${id}, 'payout_details_changed', 'INR' from generate_series(2, 20)`.execute(all().shop.db)
  const writes = () => all().bank.requests.filter(({ method }) => method !== 'GET').length
  const made = writes()
  assertProblem(await browser.call('PUT', '/api/payouts/account', BUSINESS), 429, 'rate_limited')
  assert.equal(writes(), made)
  // nor the other details
  const account = [...all().route.accounts.values()].find((one) => one.email === email)!
  all().route.stand(account.id, 'needs_clarification', ['kyc.pan'])
  assertProblem(await browser.call('PUT', '/api/payouts/account', BUSINESS), 429, 'rate_limited')
  assert.equal(writes(), made)
})

test('details are limited also while Razorpay takes none, because it counts the requests of all sellers together', async (t) => {
  const { bank, route, seller } = await startRouteShop(t, { env: { LIMITS: 'payout_account=2/3600' } })
  const { browser, email } = await seller()
  const put = () => browser.call('PUT', '/api/payouts/account', BUSINESS)
  assert.equal((await put()).status, 200)
  const account = [...route.accounts.values()].find((one) => one.email === email)!
  assertProblem(await put(), 422, 'account_details_refused')
  const asked = () => bank.requests.filter(({ path }) => path.startsWith(`/v2/accounts/${account.id}/products`)).length
  const before = asked()
  assertProblem(await put(), 429, 'rate_limited')
  assert.equal(asked(), before)
  // the links of the other processors have a count of their own
  assertProblem(await browser.call('POST', '/api/payouts/account'), 409, 'account_by_details')
})

test('an account number that looks like the number of a card is told together with its IFSC', async () => {
  const { browser, email } = await all().seller()
  const { ifsc, accountNumber, ...business } = BUSINESS
  const put = (more: object) => browser.call('PUT', '/api/payouts/account', { ...business, ...more })
  // a number of a large Indian bank, with a right check digit by chance
  const number = '50100000000007'
  assertProblem(await put({ ifsc, accountNumber: number }), 400, 'card_number_refused')
  for (const [more, status, code] of [
    [{}, 400, 'validation_failed'],
    [{ ifsc }, 400, 'validation_failed'],
    [{ accountNumber }, 400, 'validation_failed'],
    [{ account: `${ifsc}${number}`, ifsc }, 400, 'validation_failed'],
    [{ account: `${ifsc}${number}`, ifsc, accountNumber }, 400, 'validation_failed'],
    [{ account: '' }, 400, 'validation_failed'],
    [{ account: `HDFC1000317${number}` }, 422, 'ifsc_invalid'],
    [{ account: ifsc }, 422, 'account_number_invalid'],
    [{ account: `${ifsc}1234` }, 422, 'account_number_invalid'],
    [{ account: `${ifsc}4000002500003155` }, 400, 'card_number_refused'],
  ] as const) {
    const answer = await put(more)
    assertProblem(answer, status, code)
    if (status === 400) assert.equal(answer.body.fields[0].path, 'account', JSON.stringify(more))
  }
  const products = () => [...all().route.products.values()]
  const [account, product] = [() => [...all().route.accounts.values()].find((one) => one.email === email), () => products().find((one) => one.account_id === account()?.id)] // oxfmt-ignore
  assert.equal(account(), undefined)
  const told = await put({ account: `hdfc0000317${number}` })
  assert.equal(told.status, 200, JSON.stringify(told.body))
  const { account_number: at, ifsc_code: branch } = product()!.active_configuration.settlements
  assert.deepEqual([branch, at], [ifsc, number])
  const mails = await eventually(() => all().shop.mails(email), (found) => found.some(({ subject }) => subject.startsWith('New payout details'))) // oxfmt-ignore
  assert.match(mails.find(({ subject }) => subject.startsWith('New payout details'))!.text, /HDFC … 0007/)
  // Razorpay takes numbers that are not of the form of RBI
  const other = await all().seller()
  const lettered = { ...business, account: `${ifsc}AB12345` }
  assert.equal((await other.browser.call('PUT', '/api/payouts/account', lettered)).status, 200)
})

test('what Razorpay does not take is told in its words, and the next try goes on with the same account', async () => {
  const { browser, email, id } = await all().seller()
  const refused = await browser.call('PUT', '/api/payouts/account', { ...BUSINESS, ifsc: 'XXXX0000317' })
  assertProblem(refused, 422, 'account_details_refused')
  assert.match(refused.body.detail, /Invalid IFSC Code/)
  // the account was made, and the seller reads what is missing
  const open = (await browser.call('GET', '/api/payouts/account')).body
  assert.equal(open.state, 'open')
  assert.deepEqual(open.missing, ['The bank account to which Razorpay pays: its number, its IFSC and its holder'])
  assert.equal((await browser.call('PUT', '/api/payouts/account', BUSINESS)).status, 200)
  const made = [...all().route.accounts.values()].filter((one) => one.email === email)
  assert.equal(made.length, 1)
  const { rows } = await sql<{ account: string; product: string }>`
    select account, product from connected_accounts where seller_id = ${id}`.execute(all().shop.db)
  assert.equal(rows[0]!.account, made[0]!.id)
  assert(all().route.products.has(rows[0]!.product))
})

test('a seller gets one account, however often it is sent at once, and when any answer on the way is lost', async () => {
  const one = await all().seller()
  const at = all().route.accounts.size
  const sent = await Promise.all(
    Array.from({ length: 4 }, () => one.browser.call('PUT', '/api/payouts/account', BUSINESS)),
  )
  assert(sent.every(({ status }) => status === 200 || status === 503 || status === 422), JSON.stringify(sent.map(({ body }) => body))) // oxfmt-ignore
  // one of them may have told Razorpay everything
  const next = await one.browser.call('PUT', '/api/payouts/account', BUSINESS)
  assert(next.status === 200 || /is checking what you told it/.test(next.body.detail), JSON.stringify(next.body))
  assert.equal((await one.browser.call('GET', '/api/payouts/account')).body.state, 'restricted')
  assert.equal(all().route.accounts.size, at + 1)

  for (const step of [/POST \/v2\/accounts$/, /POST .*stakeholders/, /POST .*products/, /PATCH .*products/]) {
    const other = await all().seller()
    const before = [all().route.accounts.size, all().route.products.size]
    all().bank.break(step, 'drop_after')
    assertProblem(await other.browser.call('PUT', '/api/payouts/account', BUSINESS), 503, 'account_unavailable')
    const { status, body } = await other.browser.call('PUT', '/api/payouts/account', BUSINESS)
    if (step.source.startsWith('PATCH')) assert.match(body.detail, /is checking what you told it/)
    else assert.equal(status, 200, `${step}: ${JSON.stringify(body)}`)
    assert.deepEqual(
      [all().route.accounts.size, all().route.products.size],
      [before[0]! + 1, before[1]! + 1],
      String(step),
    )
  }
})

test('an account that somebody else has made with the same mailbox is never taken over', async () => {
  const { browser, email, id } = await all().seller()
  all().route.accounts.set('acc_Somebody000000', {
    id: 'acc_Somebody000000',
    type: 'route',
    status: 'created',
    email,
    notes: [],
  })
  const refused = await browser.call('PUT', '/api/payouts/account', BUSINESS)
  assertProblem(refused, 422, 'account_details_refused')
  assert.match(refused.body.detail, /an account with this e-mail address already/)
  const { rows } = await sql`select from connected_accounts where seller_id = ${id} and account is not null`.execute(
    all().shop.db,
  )
  assert.equal(rows.length, 0)
  all().route.accounts.delete('acc_Somebody000000')
})

test('a sale goes on to the linked account without the fee, and then nothing is owed', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  const made = all().bank.orders.get(order.razorpayOrder)!
  assert.deepEqual([made.amount, made.notes.account], [PRICE, seller.account])
  const [transfer] = all().route.of(order.razorpayOrder)
  assert.deepEqual([transfer!.recipient, transfer!.amount, transfer!.currency], [seller.account, PRICE - FEE, 'INR'])
  await all().books(seller.id, 0, PRICE - FEE)
  const booked = (await all().shop.transfers(order.orderId)).toSorted(
    (a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind),
  )
  assert.deepEqual(booked, [
    { kind: 'sale', debit: 'processor:razorpay', credit: `seller:${seller.id}`, amountMinor: PRICE },
    { kind: 'fee', debit: `seller:${seller.id}`, credit: 'fees', amountMinor: FEE },
    { kind: 'passed_on', debit: `seller:${seller.id}`, credit: `direct:${seller.id}`, amountMinor: PRICE - FEE },
  ])
  assert.deepEqual(await all().differences(), [])

  const { body } = await seller.browser.call('GET', '/api/transfers')
  assert.deepEqual(body.items.map(({ kind, amount }: any) => [kind, amount]).toSorted(), [
    ['fee', -FEE],
    ['passed_on', FEE - PRICE],
    ['sale', PRICE],
  ])
  const detail = (await seller.browser.call('GET', `/api/orders/${order.orderId}`)).body
  assert.equal(detail.netAmount, PRICE - FEE)
  const [balance] = (await seller.browser.call('GET', '/api/balance')).body.items
  assert.deepEqual([balance.balance, balance.available, balance.pending, balance.payouts], [0, 0, 0, PRICE - FEE])
  const next = (await seller.browser.call('GET', '/api/payouts/next')).body
  assert.equal(next.by, 'razorpay-route')
})

test('a price of which less than a rupee would go on is refused for its amount, and one of which a rupee goes on sells', async () => {
  const seller = await all().selling(101)
  assertProblem(await buy(seller.productId), 422, 'amount_not_payable')
  const { rows } = await sql`
    select code from payment_refusals where product_id = ${seller.productId}`.execute(all().shop.db)
  assert.deepEqual(rows, [{ code: 'amount_not_payable' }])
  await all().paid(await all().selling(102))
})

test('an operator’s own products sell without a transfer', async () => {
  const seller = await all().seller(OPERATOR)
  const order = await all().paid(seller)
  assert.deepEqual(all().route.of(order.razorpayOrder), [])
  assert.equal(all().bank.orders.get(order.razorpayOrder)!.notes.account, undefined)
  assert.equal(await all().balanceOf(`seller:${seller.id}`), PRICE - FEE)
  assert.deepEqual(await all().differences(), [])
})

test('a product in another currency than rupees takes no payment', async () => {
  const seller = await all().selling()
  const productId = await all().shop.product({ sellerId: seller.id, currency: 'USD', priceMinor: 1900 })
  const { status, body } = await buy(productId)
  assert.deepEqual([status, body.clientSecret], [201, undefined])
})

test('an order whose account was suspended meanwhile cannot be begun, and one that is paid settles', async () => {
  const seller = await all().selling()
  const order = await all().shop.checkout({ productId: seller.productId })
  all().route.suspend(seller.account)
  await all().awaits(seller.id, true)
  all().bank.pay(order.clientSecret!)
  await all().shop.until(order.orderId, ({ paid }) => paid)
  await all().books(seller.id, 0, PRICE - FEE)
  assertProblem(await buy(seller.productId), 409, 'shop_not_open')
})

test('an account of another way to pay sellers does not let its seller sell', async () => {
  const { id, productId } = await all().seller()
  await sql`
    insert into connected_accounts (id, seller_id, processor, account, state)
    values ('con_00000000000000000000000001', ${id}, 'stripe', 'acct_1', 'active')`.execute(all().shop.db)
  assertProblem(await buy(productId), 409, 'shop_not_open')
})
