import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { checkoutRoutes } from '../../src/checkout/routes.ts'
import type { Created } from '../../src/checkout/schema.ts'
import { newServer } from '../../src/kit/http.ts'
import type { Jobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { formatMoney } from '../../src/kit/money.ts'
import { orderMaker } from '../../src/orders/create.ts'
import { orderFinder } from '../../src/orders/find.ts'
import { RAILS } from '../../src/processors/rails.ts'
import { attemptKeeper, firstAttempts } from '../../src/payments/attempts/attempts.ts'
import { startPayment } from '../../src/payments/attempts/start.ts'
import type { Processor, StartPayment } from '../../src/processors/processor.ts'
import { ProcessorUnavailable } from '../../src/processors/refusals.ts'
import { atEnd } from '../support/ends.ts'
import { count } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop, startTestShop, type TestShop } from '../support/shop.ts'

const shared = sharedShop()

const buyer = () => `${randomUUID()}@example.com`

async function pricedAt(shop: TestShop, productId: string, priceMinor: number): Promise<void> {
  await sql`update products set price_minor = ${priceMinor} where id = ${productId}`.execute(shop.db)
}

test('an order has its price, its statement descriptor, and all that its payment needs', async () => {
  const shop = shared()
  const productId = await shop.product()
  const answer = await shop.call<Created>('POST', '/api/checkout', { productId, email: 'bob@example.com' })
  assert.equal(answer.status, 201)
  const { orderId, clientSecret, statusToken, payUrl: _link, returnToken: _back, ...rest } = answer.body
  assert.match(statusToken, /^[\w-]{43}$/)
  assert.match(orderId, /^ord_[0-9a-hjkmnp-tv-z]{26}$/)
  assert.match(clientSecret!, /^sbx_pi_/)
  assert.deepEqual(rest, {
    amount: 1900,
    currency: 'USD',
    statementDescriptor: 'TILL* A BOOK',
    status: 'pending',
    publishableKey: 'pk_sandbox',
    processor: 'sandbox',
  })
  assert.equal(answer.headers.get('location'), `http://shop.test/api/checkout/${orderId}/status`)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
})

test('a product for sale shows its price, its seller and the ways to pay, and nothing else', async () => {
  const shop = shared()
  const rupees = await shop.product({ currency: 'INR', priceMinor: 49_900, imageUrl: 'https://shop.test/cover.png' })
  const { body } = await shop.call('GET', `/api/products/${rupees}/public`)
  assert.deepEqual(body, {
    id: rupees,
    name: 'A book',
    description: 'About books.',
    amount: 49_900,
    currency: 'INR',
    prices: [
      {
        currency: 'INR',
        amount: 49_900,
        rails: ['card', 'upi', 'bank_transfer', 'wallet', 'debit', 'apple_pay', 'google_pay'],
        payments: { live: true, processor: 'sandbox' },
      },
    ],
    imageUrl: 'https://shop.test/cover.png',
    free: false,
    payWhatYouWant: false,
    seller: { name: 'Ann' },
    rails: ['card', 'upi', 'bank_transfer', 'wallet', 'debit', 'apple_pay', 'google_pay'],
    payments: { live: true, processor: 'sandbox' },
    statementDescriptor: 'TILL* A BOOK',
  })
  const dollars = await shop.call('GET', `/api/products/${await shop.product()}/public`)
  assert.deepEqual(dollars.body.rails, ['card', 'wallet', 'debit', 'bank_transfer', 'apple_pay', 'google_pay'])
  assert(!('imageUrl' in dollars.body))
})

test('a price, fee, state or id sent by the buyer has no effect', async () => {
  const shop = shared()
  const productId = await shop.product()
  const email = buyer()
  const forged = {
    price: 1,
    amount: 1,
    amountMinor: 1,
    amount_minor: 1,
    prices: [{ currency: 'USD', amount: 1 }],
    fee: 0,
    feeMinor: 0,
    status: 'paid',
    state: 'paid',
    paid: true,
    orderId: 'ord_00000000000000000000000000',
    id: 'ord_00000000000000000000000000',
    sellerId: 'sel_00000000000000000000000000',
    statementDescriptor: 'MY OWN WORDS',
    constructor: { prototype: { amount: 1 } },
  }
  const answer = await shop.call<Created>('POST', '/api/checkout', { productId, email, ...forged })
  assert.equal(answer.status, 201)
  const { rows } = await sql`
    select id, seller_id, amount_minor, currency, fee_minor, state, statement_descriptor from orders where email = ${email}`.execute(
    shop.db,
  )
  assert.deepEqual(rows, [
    {
      id: answer.body.orderId,
      seller_id: shop.sellerId,
      amount_minor: 1900,
      currency: 'USD',
      fee_minor: 38,
      state: 'pending',
      statement_descriptor: 'TILL* A BOOK',
    },
  ])
  assert.notEqual(answer.body.orderId, forged.orderId)
  assert.equal(
    ((await shop.sandboxPayment(answer.body.orderId)) as unknown as { amountMinor: number }).amountMinor,
    1900,
  )
})

test('a product that is not for sale makes no order', async () => {
  const shop = shared()
  const draft = await shop.product({ status: 'draft' })
  const archived = await shop.product()
  await sql`update products set status = 'archived' where id = ${archived}`.execute(shop.db)
  const before = await count(shop, 'orders')
  const { orderId } = await shop.checkout()
  const notForSale = [
    'prod_00000000000000000000000000',
    draft,
    archived,
    orderId,
    archived.toUpperCase(),
    ` ${draft}`,
    'prod_',
    'prod_\0',
    "' or '1'='1",
    "prod_x'; drop table orders; --",
    '{prod_00000000000000000000000000}',
    '../../etc/passwd',
    '💥',
  ]
  for (const productId of notForSale) {
    assertProblem(await shop.call('POST', '/api/checkout', { productId, email: buyer() }), 404, 'product_not_found')
    const view = await shop.call('GET', `/api/products/${encodeURIComponent(productId)}/public`)
    assertProblem(view, 404, 'product_not_found')
  }
  for (const productId of ['', '\ud800', 'p'.repeat(101), 'p'.repeat(10_000), null, 1, true, [draft], { id: draft }]) {
    const answer = await shop.call('POST', '/api/checkout', { productId, email: buyer() })
    assertProblem(answer, 400, 'validation_failed')
    assert.deepEqual([...new Set(answer.body.fields.map(({ path }: { path: string }) => path))], ['productId'])
  }
  assert.equal(await count(shop, 'orders'), before + 1, 'the one that was for sale')
})

test('an address that mail cannot reach, or that could reach two, is refused before any order', async () => {
  const shop = shared()
  const productId = await shop.product()
  const before = await count(shop, 'orders')
  const addresses = [
    '', ' ', 'bob', 'bob@', '@example.com', 'bob@example', 'bob@@example.com', 'bob@example..com', 'bob@-example.com',
    'bob@example.com, eve@example.com', 'bob@example.com;eve@example.com', 'bob@example.com\r\nBcc: eve@example.com',
    'bob@example.com\n', '\tbob@example.com', 'bob\0@example.com', '"bob eve"@example.com', 'Bob <bob@example.com>', 'bob@[127.0.0.1]',
    'bob@127.0.0.1', 'bob(eve)@example.com', 'bob@exаmple.com', 'böb@example.com', 'bob@example.com@eve.example',
    `${'b'.repeat(65)}@example.com`, `bob@${'e'.repeat(64)}.com`, `bob@${'e.'.repeat(130)}com`, `${'b'.repeat(60_000)}@example.com`,
    null, 1, true, ['bob@example.com'], { address: 'bob@example.com' },
  ] // oxfmt-ignore
  for (const email of addresses) {
    const answer = await shop.call('POST', '/api/checkout', { productId, email })
    assertProblem(answer, 400, 'validation_failed')
    assert.deepEqual([...new Set(answer.body.fields.map(({ path }: { path: string }) => path))], ['email'])
    if (typeof email === 'string' && email.includes('eve')) assert.doesNotMatch(JSON.stringify(answer.body), /eve/)
  }
  assert.equal(await count(shop, 'orders'), before)
})

test('all that is missing is named at once', async () => {
  const answer = await shared().call('POST', '/api/checkout', {})
  assertProblem(answer, 400, 'validation_failed')
  assert.deepEqual(answer.body.fields.map(({ path }: { path: string }) => path).sort(), ['email', 'productId'])
})

test('an order keeps the price of its creation', async () => {
  const shop = shared()
  const productId = await shop.product()
  const order = await shop.checkout({ productId })
  await pricedAt(shop, productId, 990_000)
  assert.equal((await shop.confirm(order)).status, 200)
  const status = await shop.until(order.orderId, ({ paid }) => paid)
  assert.equal(status.amount, 1900)
  assert.deepEqual(
    (await shop.sandboxPayment(order.orderId)).captures.map(({ amountMinor }) => amountMinor),
    [1900],
  )
  assert.equal((await shop.checkout({ productId })).amount, 990_000)
})

test('a price that changes while orders come in is either the old one or the new one, and the payment agrees', async () => {
  const shop = shared()
  const productId = await shop.product()
  const orders = (
    await Promise.all([
      ...Array.from({ length: 20 }, () => shop.checkout({ productId })),
      pricedAt(shop, productId, 2500),
      ...Array.from({ length: 20 }, () => shop.checkout({ productId })),
    ])
  ).filter((order) => order !== undefined)
  for (const order of orders) {
    assert([1900, 2500].includes(order.amount), String(order.amount))
    const payment = (await shop.sandboxPayment(order.orderId)) as unknown as { amountMinor: number }
    assert.equal(payment.amountMinor, order.amount)
  }
})

for (const { priceMinor, currency, fee, shown } of [
  { priceMinor: 1, currency: 'USD', fee: 0, shown: '$0.01' },
  { priceMinor: 25, currency: 'EUR', fee: 0, shown: '€0.25' },
  { priceMinor: 75, currency: 'EUR', fee: 2, shown: '€0.75' },
  { priceMinor: 500, currency: 'JPY', fee: 10, shown: '¥500' },
  { priceMinor: 12_345, currency: 'KWD', fee: 247, shown: 'KWD 12.345' },
  { priceMinor: 999_999_999_999, currency: 'USD', fee: 20_000_000_000, shown: '$9,999,999,999.99' },
]) {
  test(`${shown} is taken, booked and written as ${shown}`, async () => {
    const shop = shared()
    const email = buyer()
    const order = await shop.paid({ productId: await shop.product({ priceMinor, currency }), email })
    assert.deepEqual([order.amount, order.currency], [priceMinor, currency])
    const { captures } = await shop.sandboxPayment(order.orderId)
    assert.deepEqual([captures[0]!.amountMinor, captures[0]!.currency], [priceMinor, currency])
    const seller = `seller:${shop.sellerId}`
    assert.deepEqual(await shop.transfers(order.orderId), [
      { kind: 'sale', debit: 'processor:sandbox', credit: seller, amountMinor: priceMinor },
      ...(fee > 0 ? [{ kind: 'fee', debit: seller, credit: 'fees', amountMinor: fee }] : []),
    ])
    const [mail] = await eventually(
      () => shop.mails(email),
      (mails) => mails.length > 0,
    )
    const spaced = (text: string) => text.replace(/\s/g, ' ')
    assert(spaced(mail!.text).includes(shown), mail!.text)
    assert.equal(spaced(formatMoney(priceMinor, currency)), shown)
  })
}

test('an order is paid once, however often and from however many tabs the buyer pays', async () => {
  const shop = shared()
  const order = await shop.checkout()
  const answers = await Promise.all(Array.from({ length: 10 }, () => shop.confirm(order)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 200))
    assertProblem(answer, 409, 'payment_already_captured')
  await shop.until(order.orderId, ({ paid }) => paid)
  assertProblem(await shop.confirm(order), 409, 'payment_already_captured')
  assert.equal((await shop.transfers(order.orderId)).filter(({ kind }) => kind === 'sale').length, 1)
})

test('every one of the seven rails is paid for the same 2 % and ends in the same state', async () => {
  const shop = shared()
  const productId = await shop.product({ currency: 'INR', priceMinor: 49_900 })
  const seller = `seller:${shop.sellerId}`
  await Promise.all(
    RAILS.map(async (rail) => {
      const order = await shop.checkout({ productId })
      const answer = await shop.confirm(order, 'success', rail)
      assert.deepEqual(answer.body, { status: 'captured' }, rail)
      const status = await shop.until(order.orderId, ({ paid }) => paid)
      assert.deepEqual([status.status, status.rail, status.downloads.length], ['paid', rail, 1])
      assert.deepEqual(await shop.transfers(order.orderId), [
        { kind: 'sale', debit: 'processor:sandbox', credit: seller, amountMinor: 49_900 },
        { kind: 'fee', debit: seller, credit: 'fees', amountMinor: 998 },
      ])
    }),
  )
})

test('UPI is offered only for rupees', async () => {
  const shop = shared()
  const order = await shop.checkout()
  assertProblem(await shop.confirm(order, 'success', 'upi'), 400, 'rail_not_offered')
  assert.equal((await shop.status(order.orderId)).status, 'pending')
})

test('a client that tries stolen cards is stopped after the tenth', async () => {
  const shop = shared()
  const order = await shop.checkout()
  for (let at = 0; at < 10; at++) assertProblem(await shop.confirm(order, 'decline'), 402, 'payment_declined')
  assertProblem(await shop.confirm(order), 409, 'payment_closed')
  assert.equal((await shop.status(order.orderId)).status, 'pending')
})

test('a declined buyer tries again and is charged once', async () => {
  const shop = shared()
  const order = await shop.checkout()
  assertProblem(await shop.confirm(order, 'decline'), 402, 'payment_declined')
  await shop.until(order.orderId, ({ timeline }) => timeline!.length === 2)
  assert.equal((await shop.confirm(order)).status, 200)
  const { timeline } = await shop.until(order.orderId, ({ paid }) => paid)
  assert.deepEqual(
    timeline!.map(({ what }) => what),
    ['created', 'payment_declined', 'paid'],
  )
})

test('a client secret that was not given pays nothing', async () => {
  const shop = shared()
  const { clientSecret } = await shop.checkout()
  const { clientSecret: other } = await shop.checkout()
  const [id, signature] = clientSecret!.split('_secret_') as [string, string]
  const forged = [
    id,
    `${id}_secret_`,
    `${other!.split('_secret_')[0]}_secret_${signature}`,
    `${clientSecret}A`,
    'x',
    '\0',
  ]
  for (const one of forged) {
    for (const action of ['confirm', 'refund', 'dispute']) {
      const body = { clientSecret: one, rail: 'card', outcome: 'open' }
      assertProblem(await shop.call('POST', `/api/sandbox/${action}`, body), 404, 'payment_not_found')
    }
  }
})

test('without live card payments the response omits the fields that start a payment', async (t) => {
  const shop = await startTestShop(t, { env: { PROCESSORS: 'none' } })
  const productId = await shop.product()
  const {
    orderId,
    statusToken: _token,
    payUrl: _link,
    returnToken: _back,
    ...order
  } = await shop.checkout({ productId })
  assert.deepEqual(order, { amount: 1900, currency: 'USD', statementDescriptor: 'TILL* A BOOK', status: 'pending' })
  const { body: product } = await shop.call('GET', `/api/products/${productId}/public`)
  assert.deepEqual([product.rails, product.payments], [[], { live: false }])
  const status = await shop.status(orderId, 'bob@example.com', true)
  assert.deepEqual([status.status, status.synced], ['pending', false])
  const paying = { clientSecret: 'sbx_pi_1_secret_1', rail: 'card' }
  assertProblem(await shop.call('POST', '/api/sandbox/confirm', paying), 404, 'not_found')
  assertProblem(await shop.call('POST', '/api/webhooks/sandbox', {}), 404, 'not_found')
})

for (const begun of ['when it starts', 'with the order'] as const)
  test(`while the processor is down no buyer is charged or stranded: 503, and the same click works later (the payment begins ${begun})`, async (t) => {
    const shop = shared()
    const asked: StartPayment[] = []
    let isAway = true
    const processor: Processor = {
      name: 'sometimes',
      rails: () => ['card'],
      async startPayment(payment) {
        asked.push(payment)
        if (isAway) throw new ProcessorUnavailable('no answer in time')
        return { processorPaymentId: `p_${payment.key}`, clientSecret: `secret_${payment.key}`, publishableKey: 'pk' }
      },
      fetchPayment: () => Promise.reject(new ProcessorUnavailable('away')),
      cancelPayment: () => Promise.reject(new ProcessorUnavailable('away')),
      refund: () => Promise.reject(new ProcessorUnavailable('away')),
      signature: { header: 'x', form: /^x$/ },
      verifyEvent: () => undefined,
    }
    const server = await newServer({
      log: newLog('silent'),
      trustProxy: false,
      hosts: { addresses: [], anyAddress: false },
      appUrl: 'http://shop.test',
      sessionCookie: 'till_session',
    })
    atEnd(t, () => server.close())
    const parts = { db: shop.db, jobs: {} as Jobs, processors: new Map([[processor.name, processor]]) }
    const attempts = attemptKeeper(shop.db)
    const settle = () => assert.fail('nothing to settle')
    const starting = { ...parts, attempts, settle, log: newLog('silent') }
    checkoutRoutes(server, {
      ...parts,
      payments: {
        start: (preferred, order) => startPayment(starting, preferred, order),
        sync: () => assert.fail('nothing to sync'),
        readSettled: () => assert.fail('nothing to wait for'),
      },
      createOrder: orderMaker(shop.db, {} as Jobs, {
        statementPrefix: 'TILL',
        ttlHours: 24,
        paymentsLive: true,
        checkTaxId: () => assert.fail('no tax id'),
        freeMail: {},
        ...(begun === 'with the order' && { firstAttempts: attemptsOf(processor.name) }),
      }),
      findOrder: orderFinder(shop.db),
      links: {
        baseUrl: '',
        statusUrl: (id) => id,
        downloadUrl: (id) => id,
        invoiceUrl: (id) => id,
        payUrl: (id) => id,
      },
      passes: { tokenFor: () => '', passOf: () => undefined },
      statusTokens: { tokenFor: () => '', isGood: () => false },
      countryOf: () => undefined,
      baseUrl: 'http://shop.test',
      rule: { statementPrefix: 'TILL' },
      checkTaxId: () => assert.fail('no tax id'),
      limits: {},
      asksVies: false,
    })
    const email = buyer()
    const payload = { productId: await shop.product(), email }
    const click = () =>
      server.inject({
        method: 'POST',
        url: '/api/checkout',
        payload,
        headers: { 'idempotency-key': 'one-click-of-a-buyer' },
      })

    for (let at = 0; at < 3; at++) {
      const refused = await click()
      assert.equal(refused.statusCode, 503)
      assert.equal(refused.json().code, 'processor_unavailable')
      assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
      assert(!('orderId' in refused.json()), 'no half order is shown')
    }
    const view = await server.inject(`/api/products/${payload.productId}/public`)
    assert.equal(view.statusCode, 200, 'requests without the processor still work')

    isAway = false
    const made = await click()
    assert.equal(made.statusCode, 201)
    const { rows } = await sql<{ id: string; payments: number }>`
    select o.id, count(p.id)::int as payments from orders o join payments p on p.order_id = o.id
    where o.email = ${email} group by o.id`.execute(shop.db)
    assert.deepEqual(rows, [{ id: made.json().orderId, payments: 1 }])
    assert.deepEqual(
      new Set(asked.map(({ key }) => key)).size,
      1,
      'the processor saw one idempotency key, so one payment',
    )
    assert.deepEqual(
      new Set(asked.map(({ amountMinor, currency }) => `${amountMinor} ${currency}`)),
      new Set(['1900 USD']),
    )
  })

/** Begins attempts for orders in dollars, as a service does that has had one. */
function attemptsOf(processor: string) {
  const attempts = firstAttempts((currency) => (currency === 'USD' ? processor : undefined))
  for (const currency of ['USD', 'EUR']) attempts.noteCurrency(currency)
  return attempts
}

test('an order is made together with its payment attempt, and without one in a currency that no processor takes', async () => {
  const shop = shared()
  const create = orderMaker(shop.db, {} as Jobs, {
    statementPrefix: 'TILL',
    ttlHours: 24,
    paymentsLive: true,
    checkTaxId: () => assert.fail('no tax id'),
    freeMail: {},
    firstAttempts: attemptsOf('sandbox'),
  })
  const dollars = await shop.product()
  const euros = await shop.product({ currency: 'EUR' })
  const wanted = [dollars, euros, dollars].map((productId) => ({ productId, email: buyer() }))
  const orders = await Promise.all(wanted.map((order) => create(order)))
  const { rows } = await sql<{ orderId: string; id: string; processor: string; state: string }>`
    select order_id as "orderId", id, processor, state from payments
    where order_id = any(${orders.map(({ id }) => id)}::text[])`.execute(shop.db)
  const of = (at: number) => rows.filter(({ orderId }) => orderId === orders[at]!.id)
  for (const at of [0, 2]) {
    const { id, processor, state } = of(at)[0]!
    assert.deepEqual([of(at).length, state, orders[at]!.attempt], [1, 'starting', { id, processor }])
    // a request for the live attempt gets this one
    const asked = { orderId: orders[at]!.id, processor: 'another' }
    assert.equal((await attemptKeeper(shop.db).liveFor(asked))!.id, id)
  }
  assert.deepEqual([of(1), orders[1]!.attempt], [[], null])
})
