import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import type { PaymentSnapshot } from '../../src/processors/processor.ts'
import { RECEIPT, captureOf, mailsAbout, query, sharedPair, snapshotOf, times } from '../stand-ins/processor.ts'
import { newBrowser } from '../support/seller.ts'
import { type TestShop, eventually } from '../support/shop.ts'

const shared = sharedPair()
const id = (kind: string) => `${kind}_${randomBytes(8).toString('hex')}`

interface Mail {
  subject: string
  text: string
  html: string
}

/** The mails about an order to one of the two, oldest first, once all that were promised are sent. */
async function mailsTo(shop: TestShop, order: Created, to: 'buyer' | 'seller'): Promise<Mail[]> {
  await mailsAbout(shop, order)
  const email = to === 'buyer' ? 'bob@example.com' : 'ann@shop.test'
  const found = await query<Mail>(
    shop.db,
    sql`select subject, text, html from outbox where recipient = ${email} and text like ${`%${order.orderId}%`} order by sent_at`,
  )
  // formatMoney parts a code from its amount by a space that does not break
  return found.map((one) => ({ ...one, text: one.text.replaceAll('\u00a0', ' ') }))
}

const told = async (shop: TestShop, order: Created) => ({
  buyer: (await mailsAbout(shop, order, 'buyer')).sort(),
  seller: (await mailsAbout(shop, order, 'seller')).sort(),
})

/** Sends the processor's reports of an order step by step, each step five times at two services. */
async function tell(order: Created, ...steps: Partial<PaymentSnapshot>[]): Promise<void> {
  const [shop, other] = shared()
  const payment = await snapshotOf(shop, order)
  for (const step of steps) {
    Object.assign(payment, step)
    const answers = await times(5, (i) => (i % 2 ? other : shop).notify({ payment }))
    for (const { status } of answers) assert.equal(status, 200)
    await mailsAbout(shop, order)
  }
}

test('a buyer gets a receipt for a sale, and the seller no mail from settle', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await tell(order, { state: 'captured', captures: [captureOf(order)] })
  assert.deepEqual(await told(shop, order), { buyer: [RECEIPT], seller: [] })
})

test('money after the order’s expiry: the receipt says that it counts, and the seller gets a mail', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await sql`update orders set state = 'expired' where id = ${order.orderId}`.execute(shop.db)
  await tell(order, { state: 'captured', captures: [captureOf(order)] })
  assert.deepEqual(await told(shop, order), { buyer: [RECEIPT], seller: ['Paid after it expired: A book'] })
  const [receipt] = await mailsTo(shop, order, 'buyer')
  assert.match(receipt!.text, /arrived after the order had expired, and it still counts/)
  assert.match((await mailsTo(shop, order, 'seller'))[0]!.text, /nothing to do/)
})

test('each partial refund has a mail with its own amount, however soon the next one follows', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const capture = captureOf(order)
  const part = (amountMinor: number) => ({ id: id('re'), captureId: capture.id, amountMinor })
  const refunds = [part(700), part(500), part(700)]
  // three at once: by the time a mail is written, all have gone
  await tell(order, { state: 'captured', captures: [capture] }, { refunds })
  assert.deepEqual(await told(shop, order), {
    buyer: [RECEIPT, ...Array.from({ length: 3 }, () => 'Your refund: A book')],
    seller: Array.from({ length: 3 }, () => 'Refunded: A book'),
  })
  for (const to of ['buyer', 'seller'] as const) {
    const facts = (await mailsTo(shop, order, to))
      .filter(({ subject }) => /refund/i.test(subject))
      .map(({ text }) => /Refunded now +(\S+)\nRefunded in all +(.+)/.exec(text)!.slice(1).join(' → '))
    assert.deepEqual(facts.sort(), ['$5.00 → $12.00 of $19.00', '$7.00 → $19.00 of $19.00', '$7.00 → $7.00 of $19.00'])
  }
  const mails = await mailsTo(shop, order, 'buyer')
  assert.equal(mails.filter(({ text }) => text.includes('You keep the files')).length, 0, 'it would not be true')
  assert.equal(mails.filter(({ text }) => text.includes('no longer available')).length, 1)
  for (const { text } of await mailsTo(shop, order, 'seller')) assert.match(text, /payment processor’s dashboard/)
})

test('a refund by the API, with ten simultaneous notifications of it, causes one mail to each side', async () => {
  const [shop, other] = shared()
  const order = await shop.paid()
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const { body } = await ann.call('POST', `/api/orders/${order.orderId}/refunds`, { amount: 500, reason: 'a secret' })
  await eventually(
    () => shop.sandboxPayment(order.orderId),
    ({ refunds }) => refunds.length > 0,
  )
  const payment = await shop.sandboxPayment(order.orderId)
  await times(10, (i) => (i % 2 ? other : shop).notify({ payment }))
  await shop.until(order.orderId, ({ refundedAmount }) => refundedAmount === 500)
  assert.equal(body.amount, 500)
  assert.deepEqual(await told(shop, order), {
    buyer: [RECEIPT, 'Your refund: A book'],
    seller: ['Refunded: A book'],
  })
  const [mail] = await mailsTo(shop, order, 'seller')
  assert.doesNotMatch(mail!.text, /dashboard/)
  assert.match(mail!.text, /Its share of the fee came back to you\. The buyer keeps the files/)
  assert.match((await mailsTo(shop, order, 'buyer'))[1]!.text, /You keep the files/)
  for (const { text } of await mailsTo(shop, order, 'buyer')) assert.doesNotMatch(text, /a secret/)
})

test('a failed refund is mailed to the seller, and to the buyer only after a mail that it was made', async () => {
  const [shop] = shared()
  const [unmade, bounced] = [await shop.checkout(), await shop.checkout()]
  for (const order of [unmade, bounced]) {
    const capture = captureOf(order)
    const refund = { id: id('re'), captureId: capture.id, amountMinor: 800 }
    const failed = { refunds: [{ ...refund, state: 'failed' as const }] }
    const paid = { state: 'captured' as const, captures: [capture] }
    if (order === unmade) await tell(order, paid, failed)
    else await tell(order, paid, { refunds: [refund] }, failed, { refunds: [refund] }, failed)
  }
  assert.deepEqual(await told(shop, unmade), { buyer: [RECEIPT], seller: ['A refund failed: A book'] })
  assert.deepEqual(await told(shop, bounced), {
    buyer: [RECEIPT, 'Your refund did not arrive: A book', 'Your refund: A book'],
    seller: ['A refund failed: A book', 'Refunded: A book'],
  })
  assert.match((await mailsTo(shop, unmade, 'seller'))[0]!.text, /\$8\.00/)
})

test('mails about a dispute go out when it opens and when it is decided, with what to do', async () => {
  const [shop] = shared()
  for (const [state, buyer, seller] of [
    ['won', 'Your files are back: A book', 'Dispute won: A book'],
    ['lost', 'Your payment was reversed: A book', 'Dispute lost: A book'],
  ] as const) {
    const order = await shop.checkout()
    const capture = captureOf(order)
    const dispute = { id: id('dp'), captureId: capture.id, amountMinor: 1900 }
    await tell(
      order,
      { state: 'captured', captures: [capture] },
      { disputes: [{ ...dispute, state: 'open' }] },
      { disputes: [{ ...dispute, state }] },
    )
    assert.deepEqual(await told(shop, order), {
      buyer: ['About your payment: A book', buyer, RECEIPT].sort(),
      seller: ['A payment is disputed: A book', seller].sort(),
    })
    const [opened] = await mailsTo(shop, order, 'seller')
    assert.match(opened!.text, /\$19\.00[^]*If the account at the payment processor is yours, answer in its dashboard/)
    assert.match(opened!.text, /Otherwise the operator of this service answers/)
    assert.match(opened!.text, /Buyer +bob@example\.com/)
  }
})

test('after a lost dispute each side learns its loss, and the seller what came back: at once, later, or never', async () => {
  const [shop] = shared()
  for (const [refunded, status, lostMinor, words] of [
    [
      700,
      'charged_back',
      [1200],
      /\$12\.00 stays with the buyer, and its share of the fee came back to you\. \$7\.00 that was on hold is yours again/,
    ],
    [1900, 'refunded', [0], /Nothing more was taken for it: \$19\.00 that was on hold is yours again/],
    [
      700,
      'charged_back',
      [1900],
      /\$19\.00 stays with the buyer, and its share of the fee[^]*\$7\.00 had been refunded before/,
    ],
    [1900, 'refunded', [1900], /\$19\.00 stays with the buyer\. The files[^]*\$19\.00 had been refunded before/],
    [1900, 'refunded', [1900, 0, 0], /\$19\.00 of the lost dispute is back/],
  ] as const) {
    const order = await shop.checkout()
    const capture = captureOf(order)
    const dispute = { id: id('dp'), captureId: capture.id, amountMinor: 1900 }
    await tell(
      order,
      {
        state: 'captured',
        captures: [capture],
        refunds: [{ id: id('re'), captureId: capture.id, amountMinor: refunded }],
      },
      { disputes: [{ ...dispute, state: 'open' }] },
      // the held amount ends, whatever amount the end reports
      ...lostMinor.map((minor) => ({
        disputes: [{ ...dispute, amountMinor: 1500, state: 'lost' as const, lostMinor: minor }],
      })),
    )
    const now = await shop.status(order.orderId, 'bob@example.com')
    assert.deepEqual([now.status, now.refundedAmount], [status, refunded])
    const toSeller = await mailsTo(shop, order, 'seller')
    assert.match(toSeller.at(-1)!.text, words)
    const subjects = toSeller.map(({ subject }) => subject).filter((one) => /lost/.test(one))
    assert.equal(subjects.length, new Set(lostMinor).size, 'each once')
    const lost = (await mailsTo(shop, order, 'buyer')).find(({ subject }) => /was reversed/.test(subject))
    assert.equal(lost !== undefined, status === 'charged_back')
    if (lost) assert.match(lost.text, lostMinor[0] === 1200 ? /Amount +\$12\.00/ : /Amount +\$19\.00/)
  }
})

test('a duplicate payment that went back and is lost to a bank too: its seller gets a mail about the money, and not about files', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const [capture, second] = [captureOf(order), { ...captureOf(order), id: id('ch') }]
  const about = { captureId: second.id, amountMinor: 1900 }
  await tell(
    order,
    { state: 'captured', captures: [capture, second], refunds: [{ ...about, id: id('re') }] },
    { disputes: [{ ...about, id: id('dp'), state: 'lost', lostMinor: 1900 }] },
  )
  const lost = (await mailsTo(shop, order, 'seller')).at(-1)!.text
  assert.match(
    lost,
    /\$19\.00 stays with the buyer\. It was not part of the price[^]*\$19\.00 of it had been sent back before/,
  )
  assert.doesNotMatch(lost, /files are no longer|came back to you/)
  assert.equal((await shop.status(order.orderId)).status, 'paid')
})

test('a dispute that is first reported after its end causes only the mail about the end', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const capture = captureOf(order)
  const disputes = [{ id: id('dp'), captureId: capture.id, amountMinor: 1900, state: 'lost' as const }]
  await tell(order, { state: 'captured', captures: [capture], disputes })
  assert.deepEqual(await told(shop, order), {
    buyer: ['Your payment was reversed: A book', RECEIPT].sort(),
    seller: ['Dispute lost: A book'],
  })
})

test('a wrong amount: both sides get one mail about the received amount, and the buyer one when it goes back', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const capture = captureOf(order, { amountMinor: 12_345, currency: 'KWD' })
  const refund = { id: id('re'), captureId: capture.id, amountMinor: 12_345 }
  await tell(order, { state: 'captured', captures: [capture] }, { refunds: [refund] })
  assert.deepEqual(await told(shop, order), {
    buyer: ['We’re reviewing your payment: A book', 'Your payment was sent back: A book'],
    seller: ['Please look at a payment for A book'],
  })
  for (const to of ['buyer', 'seller'] as const)
    assert.match((await mailsTo(shop, order, to))[0]!.text, /KWD 12\.345 arrived for [^]*\$19\.00/)
  assert.match((await mailsTo(shop, order, 'buyer'))[0]!.text, /If the payment is accepted, you get the files/)
  assert.match((await mailsTo(shop, order, 'seller'))[0]!.text, /The operator of this service decides/)
})

test('a second payment that cannot be sent back is the seller’s to look at', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const [first, second] = [captureOf(order), captureOf(order)]
  await tell(order, { state: 'captured', captures: [first, second] })
  const [asked] = await query<{ id: string }>(shop.db, sql`select id from refunds where order_id = ${order.orderId}`)
  const failed = { id: id('re'), captureId: second.id, amountMinor: 1900, key: asked!.id, state: 'failed' as const }
  await tell(order, { state: 'captured', captures: [first, second], refunds: [failed] })
  assert.deepEqual(await told(shop, order), { buyer: [RECEIPT], seller: ['A payment could not be sent back: A book'] })
  assert.match((await mailsTo(shop, order, 'seller'))[0]!.text, /The operator of this service sees it too/)
})

/** Whole words: an order's id can hold "nan". */
const UNREADABLE = /\b(undefined|NaN)\b/

test('no mail to a buyer names the processor, and none opens anything by itself', async () => {
  const [shop] = shared()
  const mails = await query<Mail>(
    shop.db,
    sql`select subject, text, html from outbox where recipient = 'bob@example.com'`,
  )
  assert(new Set(mails.map(({ subject }) => subject)).size >= 8, 'the tests before this one have caused each of them')
  for (const { subject, text, html } of mails) {
    const all = `${subject} ${text} ${html}`
    assert.doesNotMatch(all, /sandbox|stripe|razorpay|paypal|adyen|braintree|processor|dashboard|seller:/i)
    assert.doesNotMatch(all, UNREADABLE)
    assert.doesNotMatch(all, /api\/downloads|_secret_/)
    assert.match(text, /^Seller +Ann\nQuestions to +ann@shop\.test$/m)
  }
  const toSeller = await query<Mail>(
    shop.db,
    sql`select subject, text, html from outbox where recipient = 'ann@shop.test' and text like '%ord_%'`,
  )
  assert(new Set(toSeller.map(({ subject }) => subject)).size >= 8)
  for (const { subject, text } of toSeller) {
    assert.doesNotMatch(`${subject} ${text}`, UNREADABLE)
    // with most ways to pay sellers the account at the processor is the operator's
    assert.doesNotMatch(text, /your (payment processor|account)/, subject)
    assert.doesNotMatch(text, /\/order\/\?/)
    assert.match(text, /^Order +[0-9A-Z]{4}-[0-9A-Z]{4} \(ord_/m)
  }
})
