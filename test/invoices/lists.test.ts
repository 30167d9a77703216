import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueInvoices } from '../../src/invoices/issue.ts'
import { inTransaction } from '../../src/kit/database.ts'
import { codeOf } from '../../src/sellers/codes.ts'
import { deliverUntil, says, startMailServer } from '../stand-ins/mail-server.ts'
import { codeRow } from '../support/codes.ts'
import { PROFILE, documents, paidOrder, refunded, withInvoices } from '../support/invoices.ts'
import { newBrowser } from '../support/seller.ts'
import { SECRET, assertProblem, eventually, startTestShop } from '../support/shop.ts'

interface Mail {
  subject: string
  text: string
}

test('a buyer finds the documents in the status, the receipt and the mail about a refund, each as PDF', async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const orderId = await paidOrder(shop, await shop.product(), { locale: 'de' })
  const listed = async () => (await shop.status(orderId, 'bob@example.com')).invoices!
  const [invoice] = await listed()
  assert.deepEqual([invoice!.kind, invoice!.amount, invoice!.currency], ['invoice', 1900, 'USD'])
  // without the order's address nobody learns of them
  assert.equal((await shop.status(orderId)).invoices, undefined)
  assert.equal((await shop.status(orderId, 'eve@example.com')).invoices, undefined)
  const pdf = await fetch(invoice!.url.replace('http://shop.test', shop.url))
  assert.equal(pdf.status, 200)
  assert.equal(pdf.headers.get('content-type'), 'application/pdf')
  assert.equal(pdf.headers.get('cache-control'), 'no-store')
  assert.equal(pdf.headers.get('content-disposition'), `inline; filename="${invoice!.number}.pdf"`)
  assert.match(Buffer.from(await pdf.arrayBuffer()).toString('latin1'), /^%PDF-1\.7/)

  const mails = async () => (await shop.call<Mail[]>('GET', '/api/outbox?to=bob@example.com')).body
  const mailWith = async (number: string) =>
    (await eventually(mails, (all) => all.some(({ text }) => text.includes(number)))).find(({ text }) => text.includes(number))! // oxfmt-ignore
  assert.ok((await mailWith(invoice!.number)).text.includes(`Rechnung ${invoice!.number} (PDF): ${invoice!.url}`))
  await refunded(shop, ann, orderId, 500)
  const credit = (await listed()).at(-1)!
  assert.equal(credit.kind, 'credit_note')
  assert.ok((await mailWith(credit.number)).text.includes(credit.url))
})

test('documents of one transaction are listed in the order of their numbers, and from the newest page by page', async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const orderId = await paidOrder(shop, await shop.product())
  const back = [1, 2, 3, 4, 5, 6].map((n) => ({
    orderId,
    reason: 'refund' as const,
    amountMinor: n,
    cause: `test:${n}`,
  }))
  await inTransaction(shop.db, (tx) => issueInvoices(tx, back))
  const listed = (await shop.status(orderId, 'bob@example.com')).invoices!
  assert.deepEqual(
    listed.map(({ kind, amount }) => [kind, amount]),
    [['invoice', 1900], ...back.map(({ amountMinor }) => ['credit_note', amountMinor])],
  )
  const numbers = listed.map(({ number }) => number)
  assert.deepEqual(numbers.slice(1), numbers.slice(1).toSorted())
  const pages: string[][] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body }: any = await ann.call('GET', `/api/invoices?limit=2${cursor && `&cursor=${cursor}`}`)
    pages.push(body.items.map(({ number }: any) => number))
    cursor = body.nextCursor
  }
  assert.deepEqual(pages.flat(), numbers.toReversed())
})

test('two refunds whose mails come late have the link of their own credit note each', async (t) => {
  let isAway = false
  const server = await startMailServer(t, {
    onConnect: (_, done) => done(isAway ? says(421, 'back soon') : null),
  })
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url } })
  const ann = newBrowser(shop)
  await ann.askCode('ann@shop.test')
  await ann.tryCode('ann@shop.test', codeOf(SECRET, (await codeRow(shop, 'ann@shop.test'))!.id))
  assert.equal((await ann.call('PUT', '/api/invoice-profile', PROFILE)).status, 200)
  const orderId = await paidOrder(shop, await shop.product())
  const toBuyer = async () => server.mails.filter(({ to }) => to.includes('bob@example.com')).map(({ mail }) => mail)
  await eventually(toBuyer, (mails) => mails.length === 1)
  isAway = true
  await refunded(shop, ann, orderId, 500)
  await refunded(shop, ann, orderId, 700)
  isAway = false
  const late = (await deliverUntil(shop, toBuyer, (mails) => mails.length === 3)).slice(1)
  const credits = (await documents(shop, orderId)).filter(({ kind }) => kind === 'credit_note')
  assert.deepEqual(
    late.map(({ text }) => credits.filter(({ number }) => text!.includes(number)).map(({ amountMinor }) => amountMinor)).sort(), // oxfmt-ignore
    [[500], [700]],
  )
  for (const { text } of late) {
    const { number, amountMinor } = credits.find((one) => text!.includes(one.number))!
    assert(text!.includes(`$${amountMinor / 100}.00`), `${number}: ${text}`)
  }
})

test('a seller lists only own documents, in pages and as CSV', async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const productId = await shop.product()
  const orders = [await paidOrder(shop, productId), await paidOrder(shop, productId), await paidOrder(shop, productId)]
  await refunded(shop, ann, orders[0]!)
  const first = (await ann.call('GET', '/api/invoices?limit=3')).body
  assert.deepEqual(
    first.items.map(({ kind }: any) => kind),
    ['credit_note', 'invoice', 'invoice', 'invoice'].slice(0, 3),
  )
  const second = (await ann.call('GET', `/api/invoices?limit=3&cursor=${first.nextCursor}`)).body
  assert.deepEqual([second.items.length, second.nextCursor], [1, null])
  assert.equal((await ann.call('GET', '/api/invoices?kind=credit_note')).body.items.length, 1)
  assert.equal((await ann.call('GET', '/api/invoices?year=2020')).body.items.length, 0)
  const csv = await ann.call<string>('GET', '/api/invoices?format=csv')
  const lines = csv.body.trim().split('\r\n')
  assert.equal(lines.length, 5)
  assert.match(lines[0]!, /number,kind,reason,issued_at,refers_to,order_id,currency,amount,tax/)
  assert.match(lines[1]!, /-C000001,credit_note,refund,.*,USD,19\.00,/)

  const carol = newBrowser(shop)
  await carol.signInByCode('carol@shop.test')
  assert.deepEqual((await carol.call('GET', '/api/invoices')).body, { items: [], nextCursor: null })
  assertProblem(await shop.call('GET', '/api/invoices'), 401, 'not_signed_in')
  for (const query of ['cursor=nonsense', 'limit=0', 'kind=bill', 'year=26', 'orderId=1'])
    assertProblem(await ann.call('GET', `/api/invoices?${query}`), 400, 'validation_failed')
})

test('a document opens by its own link alone', async (t) => {
  const shop = await startTestShop(t)
  await withInvoices(shop)
  const [one, other] = [await paidOrder(shop, await shop.product()), await paidOrder(shop, await shop.product())]
  const urlOf = async (orderId: string) => new URL((await shop.status(orderId, 'bob@example.com')).invoices![0]!.url)
  const [mine, theirs] = [await urlOf(one), await urlOf(other)]
  assertProblem(await shop.call('GET', `${mine.pathname}${theirs.search}`), 404, 'invoice_not_found')
  assertProblem(await shop.call('GET', mine.pathname), 400, 'validation_failed')
  for (const query of ['?token=', '?token=abc', `?token=${'x'.repeat(43)}`])
    assertProblem(await shop.call('GET', mine.pathname + query), 404, 'invoice_not_found')
  const [document] = await documents(shop, one)
  assert.ok(mine.pathname.includes(document!.id))
})

test('a network opens so many documents and not more, and each of them is the same bytes again', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'invoice=3/3600' } })
  await withInvoices(shop)
  const orderId = await paidOrder(shop, await shop.product())
  const { pathname, search } = new URL((await shop.status(orderId, 'bob@example.com')).invoices![0]!.url)
  const open = () => fetch(shop.url + pathname + search)
  const [first, again] = [await open(), await open()]
  assert.deepEqual([first.status, again.status, again.headers.get('ratelimit-remaining')], [200, 200, '1'])
  assert.deepEqual(await first.bytes(), await again.bytes())
  // a guess counts too
  assertProblem(await shop.call('GET', `${pathname}?token=${'x'.repeat(43)}`), 404, 'invoice_not_found')
  const beyond = await shop.call('GET', pathname + search)
  assertProblem(beyond, 429, 'rate_limited')
})
