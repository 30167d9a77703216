import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { unlinked } from '../../src/kit/mail-layout.ts'
import { LOCALES } from '../../src/kit/locales.ts'
import { BUYER_MAILS, buyerMail } from '../../src/orders/mails/buyer.ts'
import { type BuyerMail, type MailOrder, withGuardedNames } from '../../src/orders/mails/mail-data.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { codeOf } from '../../src/sellers/codes.ts'
import { trustSeller } from '../../src/sellers/trust.ts'
import { readingOf } from '../../src/words/mail-language.ts'
import { codeRow } from '../support/codes.ts'
import { startMailServer } from '../stand-ins/mail-server.ts'
import { newBrowser, newMailbox } from '../support/seller.ts'
import { bareEnvironment } from '../support/service.ts'
import { SECRET, type TestShop, assertProblem, eventually, startTestShop, temporaryFolder } from '../support/shop.ts'

const TRUST = path.join(import.meta.dirname, '../../scripts/trust.ts')
const MESSAGE = 'Claim your prize at https://evil.example/win, www.evil.example or a@evil.example'
/** The texts that mail clients turn into links: schemes, hosts and addresses, with only letters between. */
const LINKED = /https?:\/\/|www\.\w|\w@\w|evil\.example/i

const stranger = (shop: TestShop, name = 'Eve at evil.example') => ensureSeller(shop.db, { name, email: newMailbox() })
const freeProduct = (shop: TestShop, sellerId: string, name = MESSAGE) =>
  shop.product({ sellerId, name, priceMinor: 0 })

test('a stranger’s free product is no message: the subject is neutral, and nothing in the mail is a link but ours', async (t) => {
  const server = await startMailServer(t)
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url } })
  const sellerId = await stranger(shop)
  await sql`update sellers set support_email = 'help@evil.example' where id = ${sellerId}`.execute(shop.db)
  const productId = await freeProduct(shop, sellerId)
  await shop.checkout({ productId })
  const received = (count: number) =>
    eventually(
      async () => server.mails,
      ({ length }) => length === count,
    )
  const [first] = await received(1)
  assert.equal(first!.mail.subject, 'Your receipt')
  assert.equal(first!.mail.replyTo, undefined)
  assert.match(first!.mail.text!, /Claim your prize/, 'the buyer still reads what it was')
  for (const told of [first!.mail.text!, first!.mail.html!.replaceAll(/<!doctype[^]*?<body/g, '')]) {
    assert.doesNotMatch(told.replaceAll('http://shop.test', ''), LINKED)
    assert.doesNotMatch(told, /or a/, 'a name is cut before it is a letter')
  }

  await trustSeller(shop.db, sellerId, true)
  await shop.checkout({ productId })
  const [, second] = await received(2)
  assert.equal(second!.mail.subject, `Your receipt: ${MESSAGE}`)
  assert.deepEqual(second!.mail.replyTo, [{ name: 'Eve at evil.example', address: 'help@evil.example' }])
  assert.match(second!.mail.text!, /^Questions to +help@evil\.example$/m)
})

test('a buyer who has paid an untrusted seller can copy and answer the support address, and no other word becomes a link', async (t) => {
  const server = await startMailServer(t)
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url } })
  const owner = newMailbox()
  const sellerId = await ensureSeller(shop.db, { name: 'Eve at evil.example', email: owner })
  const support = `${'questions-and-answers'.repeat(3)}@help.example`
  await sql`update sellers set support_email = ${support} where id = ${sellerId}`.execute(shop.db)
  const { orderId } = await shop.paid({ productId: await shop.product({ sellerId, name: MESSAGE }) })
  const right = newMailbox()
  const seller = newBrowser(shop)
  await seller.askCode(owner)
  await seller.tryCode(owner, codeOf(SECRET, (await codeRow(shop, owner))!.id))
  assert.equal((await seller.call('POST', `/api/orders/${orderId}/email`, { email: right })).status, 202)
  const mailOf = (subject: RegExp) =>
    eventually(
      async () => server.mails.find(({ mail }) => subject.test(mail.subject ?? ''))?.mail,
      (mail) => mail !== undefined,
    )
  for (const subject of [/^Your receipt$/, /confirm your address/]) {
    const mail = (await mailOf(subject))!
    assert.match(mail.text!, new RegExp(`^Questions to +${support}$`, 'm'))
    assert(mail.html!.includes(support))
    assert.equal(mail.replyTo?.[0]?.address, support)
    assert.doesNotMatch(mail.replyTo![0]!.name, LINKED)
    const rest = mail.text!.replaceAll(support, '').replaceAll(right, '').replaceAll('http://shop.test', '')
    assert.doesNotMatch(rest, LINKED)
  }
})

test('no mail to a buyer has a stranger’s words in its subject or its title, in any language', async () => {
  const order: MailOrder = {
    id: 'ord_1',
    email: 'bob@example.com',
    productId: 'prod_1',
    productName: MESSAGE,
    seller: 'Eve of evil.example',
    sellerEmail: 'eve@evil.example',
    supportEmail: 'help@evil.example',
    isTrusted: false,
    amountMinor: 1900,
    discountMinor: 0,
    refundedMinor: 0,
    currency: 'USD',
    statementDescriptor: 'TILL EVIL.EXAMPLE',
    paidAt: new Date(0),
    imageId: 'img_1',
    isOpen: true,
    fileNames: [`${MESSAGE}.pdf`],
    fileCount: 1,
    delivered: true,
    consents: null,
    rail: 'card',
    locale: null,
    brand: { logoId: 'logo_1', accent: '#ff0000' },
    fileName: `${MESSAGE}.exe`,
    recallReason: 'It holds a virus.',
    invoices: null,
    tax: null,
    notReceived: false,
  }
  for (const reading of await Promise.all(LOCALES.map(readingOf)))
    for (const kind of Object.keys(BUYER_MAILS) as BuyerMail[]) {
      const told = buyerMail(kind, withGuardedNames(order), { kind, amountMinor: 500 }, reading)
      assert.doesNotMatch(told.subject + told.title, /prize|evil/i, kind)
      assert.doesNotMatch(JSON.stringify(told), LINKED, `${reading.locale} ${kind}`)
      assert.doesNotMatch(JSON.stringify(told), /\{\w+\}|undefined/, `${reading.locale} ${kind}`)
      const trusted = buyerMail(kind, withGuardedNames({ ...order, isTrusted: true }), { kind }, reading)
      assert(trusted.subject.includes(MESSAGE), `${kind}: a trusted seller’s buyer reads what it is about`)
    }
})

test('a space breaks texts that could be links, and other texts stay', () => {
  for (const text of ['a.example', 'https://a.example', 'a@b.example', 'a。example', 'mailto:a', 'a．b'])
    assert.match(unlinked(text), /\S\u200a\S/u, text)
  for (const text of ['Vol. 2', 'What? Yes: so', 'Töne', '']) assert.equal(unlinked(text), text)
  assert.equal(Array.from(unlinked('x'.repeat(200))).length, 60)
  assert.equal(unlinked('one\n\n two'), 'one two')
})

test('receipts of a stranger’s free product are few; the orders are as good as any, and say that no mail was sent', async (t) => {
  const limits = 'free_mail_seller=2/86400,free_mail_strangers=3/86400'
  const shop = await startTestShop(t, { env: { LIMITS: limits } })
  const order = async (productId: string, email = newMailbox()) => {
    const { orderId } = await shop.checkout({ productId, email })
    return { orderId, email, status: await shop.status(orderId, email) }
  }
  const [eve, mallory] = [await stranger(shop), await stranger(shop)]
  const ofEve = await freeProduct(shop, eve)
  const orders = []
  for (let n = 0; n < 4; n++) orders.push(await order(ofEve))
  assert.deepEqual(
    orders.map(({ status }) => [status.paid, status.downloads.length, status.receiptHeld ?? false]),
    [
      [true, 1, false],
      [true, 1, false],
      [true, 1, true],
      [true, 1, true],
    ],
  )
  // another stranger uses up the rest of the limit of all strangers
  const ofMallory = await freeProduct(shop, mallory)
  assert.equal((await order(ofMallory)).status.receiptHeld, undefined)
  assert.equal((await order(ofMallory)).status.receiptHeld, true)

  const held = orders[2]!
  const resend = () => shop.call('POST', `/api/checkout/${held.orderId}/receipt`, { email: held.email })
  assertProblem(await resend(), 429, 'rate_limited')
  assert.equal((await shop.status(held.orderId)).receiptHeld, undefined, 'which no other person should learn')

  // a receipt of a paid order is mailed, however many free orders there were
  const bought = await shop.paid({ productId: await shop.product({ sellerId: eve, name: MESSAGE }) })
  await eventually(
    () => shop.mails(),
    (mails) => mails.some(({ text }) => text.includes(bought.orderId)),
  )
  assert.equal((await shop.status(bought.orderId, 'bob@example.com')).receiptHeld, undefined)

  await trustSeller(shop.db, eve, true)
  assert.equal((await resend()).status, 202)
  await eventually(
    () => shop.mails(held.email),
    ({ length }) => length === 1,
  )
  await eventually(
    () => shop.status(held.orderId, held.email),
    (status) => status.receiptHeld === undefined,
  )
  assert.equal((await order(ofEve)).status.receiptHeld, undefined)
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from outbox`.execute(shop.db)
  assert((rows[0]?.n ?? 0) <= 6, 'two and one of strangers, the paid one, and the two of the trusted seller')
})

test('a network has one limit of mails about free orders, across all sellers and mailboxes at once', async (t) => {
  const env = { LIMITS: 'free_mail_network=5/86400', TRUST_PROXY: '1' }
  const shop = await startTestShop(t, { env })
  const productId = await freeProduct(shop, shop.sellerId, 'A gift')
  const from = (network: string) => shop.checkout({ productId, email: newMailbox() }, { 'x-forwarded-for': network })
  await Promise.all(Array.from({ length: 12 }, () => from('203.0.113.7')))
  const held = async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from orders where receipt_held_at is not null`.execute(shop.db)
    return rows[0]!.n
  }
  assert.equal(await held(), 7)
  await from('198.51.100.9')
  assert.equal(await held(), 7, 'another network has its own')
})

test('a stranger cannot have codes with their words mailed to address after address', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'free_mail_seller=2/86400,code=99/900,code_address=99/900' } })
  const browser = newBrowser(shop)
  const own = newMailbox()
  await browser.signInByCode(own)
  const { id } = (await browser.session()).body.seller
  const { orderId } = await shop.paid({ productId: await shop.product({ sellerId: id, name: MESSAGE }) })
  const ask = (email: string) => browser.call('POST', `/api/orders/${orderId}/email`, { email })
  const victims = [newMailbox(), newMailbox(), newMailbox()]
  const answers = []
  for (const email of victims) answers.push(await ask(email))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202, 429],
  )
  const [mail] = await eventually(
    () => shop.mails(victims[1]),
    ({ length }) => length === 1,
  )
  assert.doesNotMatch(mail!.subject, /prize|evil/)
  // the order is paid for, so its support address is named as it is
  const rest = [victims[1]!, own, 'http://shop.test'].reduce((text, known) => text.replaceAll(known, ''), mail!.text)
  assert.doesNotMatch(rest, LINKED)
})

test('an operator trusts a seller by a command, and ends that by another', async (t) => {
  const shop = await startTestShop(t)
  const email = newMailbox()
  const sellerId = await ensureSeller(shop.db, { name: 'Zoe', email })
  const env = { ...bareEnvironment(), DATABASE_URL: shop.databaseUrl, SECRET, DATA_DIR: await temporaryFolder(t) }
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, [TRUST, ...args], { env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
    const status = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
    return [status, output.trim()]
  }
  assert.deepEqual(await Promise.all([run('nobody@shop.test'), run(), run('a', 'b'), run('--all')].map(async (one) => (await one)[0])), [1, 2, 2, 2]) // oxfmt-ignore
  const isTrusted = async () => {
    const { rows } = await sql<{ is: boolean }>`
      select trusted_at is not null as is from sellers where id = ${sellerId}`.execute(shop.db)
    return rows[0]!.is
  }
  assert.equal(await isTrusted(), false)
  assert.deepEqual(await run(` ${email.toUpperCase()}`), [0, `Zoe <${email}> is trusted from now on.`])
  assert.equal(await isTrusted(), true)
  assert.deepEqual(await run(sellerId), [0, `Zoe <${email}> was trusted before.`])
  assert.deepEqual(await run(email, '--end'), [0, `Zoe <${email}> is not trusted from now on.`])
  assert.equal(await isTrusted(), false)
})
