import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { formatMoney } from '../../src/kit/money.ts'
import { ar } from '../../src/words/ar.ts'
import type { Catalogue } from '../../src/words/catalogues.ts'
import { de } from '../../src/words/de.ts'
import { en } from '../../src/words/en.ts'
import { fr } from '../../src/words/fr.ts'
import { signedInAnn } from '../support/keys.ts'
import { newMailbox } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop } from '../support/shop.ts'

const shared = sharedShop()

interface Sent {
  to: string
  subject: string
  text: string
  html: string
}

const mailsTo = async (email: string, count = 1): Promise<Sent[]> =>
  eventually(
    async () => (await shared().mails(email)) as Sent[],
    (mails) => mails.length >= count,
  )

const WORDS: Record<string, Catalogue> = { en, de, fr, ar }

/** An order, as a page in this language makes it. Returns the receipt. */
async function receiptOf(body: object, headers: Record<string, string> = {}): Promise<Sent & { orderId: string }> {
  const shop = shared()
  const email = newMailbox()
  const productId = await shop.product({ priceMinor: 1900, currency: 'EUR' })
  const made = await shop.call('POST', '/api/checkout', { productId, email, ...body }, headers)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal((await shop.confirm(made.body)).status, 200)
  const [mail] = await mailsTo(email)
  return { ...mail!, orderId: made.body.orderId }
}

async function refund(orderId: string): Promise<void> {
  const ann = await signedInAnn(shared())
  const { status, body } = await ann.call('POST', `/api/orders/${orderId}/refunds`, {})
  assert.equal(status, 201, JSON.stringify(body))
}

test('the receipt has the language of the order: that of the request, else the browser’s, else English', async () => {
  for (const [body, headers, locale] of [
    [{ locale: 'de-AT' }, { 'accept-language': 'fr' }, 'de'],
    [{}, { 'accept-language': 'sv, fr;q=0.9, en;q=0.5' }, 'fr'],
    [{}, {}, 'en'],
    [{ locale: 'sv' }, {}, 'en'],
  ] as const) {
    const { subject, text, html, orderId } = await receiptOf(body, headers)
    const { mail, ui } = WORDS[locale]!
    assert.ok(subject.startsWith(mail.receipt), subject)
    assert.match(html, new RegExp(`<html lang="${locale}" dir="ltr">`))
    for (const words of [mail.openFiles, mail.receiptFiles, mail.questionsTo, ui.onStatement, ui.card, ui.withdraw])
      assert.ok(text.includes(words), `${locale}: ${words}`)
    assert.ok(text.includes(formatMoney(1900, 'EUR', locale)))
    const link = new RegExp(`/order/\\?order=${orderId}${locale === 'en' ? '' : `&locale=${locale}`}#t=`)
    assert.match(text, link)
  }
})

test('a mail next month still has the language, and a right-to-left one runs that way', async () => {
  const { orderId, to, html } = await receiptOf({ locale: 'ar' })
  assert.match(html, /<html lang="ar" dir="rtl">/)
  await refund(orderId)
  const mails = await mailsTo(to, 2)
  assert.ok(mails.some(({ subject }) => subject.startsWith(ar.mail.refund)))
})

test('a repeat in another language is the same order', async () => {
  const shop = shared()
  const productId = await shop.product()
  const key = { 'idempotency-key': 'a-key-of-this-test-only' }
  const body = { productId, email: newMailbox() }
  const first = await shop.call('POST', '/api/checkout', { ...body, locale: 'de' }, key)
  const again = await shop.call('POST', '/api/checkout', { ...body, locale: 'fr' }, key)
  assert.deepEqual([first.status, again.status], [201, 201])
  assert.equal(first.body.orderId, again.body.orderId)
  const { rows } = await sql`select locale from orders where id = ${first.body.orderId}`.execute(shop.db)
  assert.deepEqual(rows, [{ locale: 'de' }])
})

test('a language that is no tag is refused, and a stored one that this release does not know is English', async () => {
  const shop = shared()
  const productId = await shop.product()
  for (const locale of ['', '<b>', 'de_AT', 'd'.repeat(50), 7])
    assertProblem(
      await shop.call('POST', '/api/checkout', { productId, email: newMailbox(), locale }),
      400,
      'validation_failed',
    )
  const { orderId, to } = await receiptOf({})
  await sql`update orders set locale = 'tlh' where id = ${orderId}`.execute(shop.db)
  await refund(orderId)
  const mails = await mailsTo(to, 2)
  assert.ok(mails.some(({ subject }) => subject.startsWith(en.mail.refund)))
})

test('a code and an acknowledgement come in the language of the page that asked', async () => {
  const shop = shared()
  const { to } = await receiptOf({})
  const german = { 'accept-language': 'de' }
  assert.equal((await shop.call('POST', '/api/library/code', { email: to }, german)).status, 202)
  const code = (await mailsTo(to, 2)).find(({ html }) => html.includes('lang="de"'))
  assert.ok(code?.text.includes(de.mail.libraryCodeTitle))
  const statement = { key: 'k'.repeat(32), name: 'Bea', contract: 'ein Buch', email: newMailbox() }
  assert.equal((await shop.call('POST', '/api/withdrawals', statement, german)).status, 201)
  const [acknowledged] = await mailsTo(statement.email)
  assert.equal(acknowledged!.subject, de.mail.withdrawal)
  assert.ok(acknowledged!.text.includes(de.withdraw.statement))
})
