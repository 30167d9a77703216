import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { LOCALES } from '../../src/kit/locales.ts'
import { ASKED } from '../../src/orders/consents/texts.ts'
import { query, times } from '../stand-ins/processor.ts'
import { newBrowser, newMailbox } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop } from '../support/shop.ts'

// The consents that a seller in the EU asks buyers for before the order, and the order's record of them.

const shared = sharedShop()

/** The texts of the first version. A text is never edited: another wording needs another id, and these hashes stay. */
const HASHES: Record<string, string> = {
  'immediate-1 en': 'f6bb05c3e63eb5af7dfe58ae510b4f36e2335b8513bc239bef3214cbb90f4245',
  'immediate-1 de': '7984a3cb725ed1f6900a1646a44cdffaeb5bda42d4526e245cdda40ebd5a5df3',
  'immediate-1 fr': 'eb59767626cb8c7fc9334d37cb2e15a5596becb9a8bc5afcbd485310de2d6de9',
  'immediate-1 es': '450807f80bc5fffa85dabe98913ec504765bdc396738161d6d6e05ce37332f73',
  'immediate-1 it': '7267a3a1644e2bdcace2cc880b9faf84c6f9a0cdf9dc67222a6629548e72f555',
  'immediate-1 pt-BR': '735d4c16a4574879a5cdb9aecece3adfef221cd509bf7adf5d9d8e41dbe76aae',
  'immediate-1 nl': 'd5980195d1c3ff5df5960519bb4e9fae7b9c274570909e8e29dd6b13db559be1',
  'immediate-1 pl': '7c6548a142b41919f7da20712aff52b648c697fa5989042703047ac1e641991d',
  'immediate-1 tr': 'fde941e67ec634214b1b7b9446e42847783ce979cad53351b37c1e2eb67ead79',
  'immediate-1 ja': '2cf6ca93d7aa9e6b4d0c109b46d7451252351e2a8e5ad8dfb789a91709651b98',
  'immediate-1 ko': 'd2e5034840b50b6d2ee4a213ba251473917e597b8a70fc3c43b2fe18a070fcec',
  'immediate-1 zh-Hans': '2acfdf0fd8299173b24581a7bd4430c7162243b8c7f45aabb5e28a848a279dd8',
  'immediate-1 hi': 'bf506f682d5f06aab31d5806d151d56e79caad3ead993eda387b0ab88a95463d',
  'immediate-1 id': 'aae6821cc55bb3f2a8d269019a247e3d82d7b05267203df49efc88e4fb7859d9',
  'immediate-1 ar': '03d11c2e5dc0ffa8d4acc73870c19066f39e6d0df64a26660efa48cba2a0c08e',
  'immediate-1 he': '86e1883379df2bfa6549cfc19daddd7bd0fc423304583604bc135a475b2a5a06',
  'loss-1 en': '35f02ddbe5a64ef9818c514a4fafac62afe9e1c9ce6ef01475017a6646a57fac',
  'loss-1 de': '9949efed3b94735b95e849d22a508df7aa9191dd30ccd26ca3987f8266b11a38',
  'loss-1 fr': 'ec09f23419299c3ce48800c6629f601ae006d9eb7c2f50104aeb62b9d43a1e0f',
  'loss-1 es': '0a3c0331e3797f2a30dc0393ba29af3cb994a2a1361e66b163c7e91d8062ca7a',
  'loss-1 it': '7322f5bbddf5eb31e1132c182da878430395696c4623f636a5221a7ecf2d0866',
  'loss-1 pt-BR': 'd3eba4bddbc7f12721da451349b1ab7bbaf4bdd24354c598c3c22c54f17d6a63',
  'loss-1 nl': 'bd1ab8859b5bfca1e2472cc951a61680e6ae59984eece7f448940cefceaffbe0',
  'loss-1 pl': '29e0e861411cc6344d814bb4816e6fbd4ad9de3ae00aec48f82ce5852b833900',
  'loss-1 tr': '3533fc4bb4a0d05b978480a1e38a10cd4a3de3ea7081caecba6625ef6c6e863c',
  'loss-1 ja': 'f78e4b828636ecd5d26b8aeb3f6ab436822b129ea72ac3cad74f5f0b40ebd94c',
  'loss-1 ko': '6cb6d60c129ce8d3807bbfd66ed98d0f8d6924eefa711f12382b49ae07fe5f2e',
  'loss-1 zh-Hans': '5ee1eeb568225a5bdcc85d27a97f5b6d0de1f0262af6351ece7eca3092c646ac',
  'loss-1 hi': '48aaa2150c83ce8d3f661f7147bcc8ba496c91d59c98ea823f62bd2ee94f6287',
  'loss-1 id': '67cf47a3f2d93a784f43d7a85be500435f54426d83c8b64a4d1c641f262c29b2',
  'loss-1 ar': '072e2611ddb0ce9525b5a3a9498add7f3a48e195c4bc86eb00f5dbb8255ada3d',
  'loss-1 he': '61cf912e4b2edbe78ae2dcbf50f553a27b8f3753bccf67f3c3e94754e4702577',
}

async function newSeller(asksConsent = true) {
  const ann = newBrowser(shared())
  const { body } = await ann.signInByCode(newMailbox())
  const sellerId = body.seller.id as string
  if (asksConsent) assert.equal((await ann.call('PATCH', '/api/brand', { asksConsent })).body.asksConsent, true)
  return { ann, sellerId, product: (more = {}) => shared().product({ sellerId, ...more }) }
}

const given = (locale = 'en') => ASKED.map(({ id }) => ({ textId: id, locale }))
const order = (productId: string, more: object = {}, headers: Record<string, string> = {}) =>
  shared().call('POST', '/api/checkout', { productId, email: 'bob@example.com', ...more }, headers)
const kept = (orderId: string) =>
  query<{ textId: string; locale: string; sha256: string }>(
    shared().db,
    sql`select text_id as "textId", locale, encode(sha256, 'hex') as sha256 from order_consents where order_id = ${orderId} order by 1`,
  )
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

test('every statement has a text in each language, and no text has changed since it was first asked', () => {
  for (const { id, texts } of ASKED) {
    assert.deepEqual(Object.keys(texts), [...LOCALES], id)
    for (const [locale, text] of Object.entries(texts)) assert.equal(hashOf(text), HASHES[`${id} ${locale}`], `${id} ${locale}`) // oxfmt-ignore
  }
})

test('where the seller asks, an order without consent is refused, and one with it keeps text, hash, language and time', async () => {
  const { ann, product } = await newSeller()
  const productId = await product()
  const view = async (language: string) =>
    (await shared().call('GET', `/api/products/${productId}/public`, undefined, { 'accept-language': language })).body.consents // oxfmt-ignore
  assert.deepEqual(await view('de-AT,en;q=0.5'), ASKED.map(({ id, texts }) => ({ textId: id, locale: 'de', text: texts.de }))) // oxfmt-ignore
  assert.deepEqual((await view('xx'))[0].locale, 'en')
  for (const more of [
    {},
    { consents: [] },
    { consents: given().slice(1) },
    { consents: [...given().slice(1), { textId: 'other-1', locale: 'en' }] },
  ])
    // oxfmt-ignore
    assertProblem(await order(productId, more), 422, 'consent_required')
  const before = Date.now()
  const { status, body } = await order(productId, { consents: given('de') })
  assert.equal(status, 201)
  const texts = ASKED.map(({ id, texts }) => ({ textId: id, locale: 'de', sha256: hashOf(texts.de) }))
  assert.deepEqual(await kept(body.orderId), texts)
  const { consents } = (await ann.call('GET', `/api/orders/${body.orderId}`)).body
  assert.deepEqual(consents.map(({ at: _, text: __, ...one }: { at: string; text: string }) => one), texts) // oxfmt-ignore
  assert(Math.abs(Date.parse(consents[0].at) - before) < 60_000)
  await assert.rejects(sql`update order_consents set locale = 'en' where order_id = ${body.orderId}`.execute(shared().db)) // oxfmt-ignore
  await assert.rejects(sql`delete from order_consents where order_id = ${body.orderId}`.execute(shared().db))
})

test('the receipt repeats what the buyer agreed to', async () => {
  const { product } = await newSeller()
  const email = newMailbox()
  const { body } = await order(await product(), { email, consents: given() })
  assert.equal((await shared().confirm(body)).status, 200)
  const [receipt] = await eventually(
    async () => (await shared().mails(email)).filter(({ subject }) => /receipt/i.test(subject)),
    (mails) => mails.length > 0,
  )
  for (const { texts } of ASKED) assert(receipt!.text.includes(texts.en), receipt!.text)
  assert.match(
    receipt!.text,
    /\(\w+ \d+, \d{4}, \d+:\d\d:\d\d\s[AP]M\s+UTC\)/,
    'the time is written as the other times',
  )
})

test('a chosen price and a code need the consent as well, and a free product needs none', async () => {
  const { ann, product } = await newSeller()
  const open = await product({ payWhatYouWant: true })
  assertProblem(await order(open, { chosenAmount: 5000 }), 422, 'consent_required')
  assert.equal((await order(open, { chosenAmount: 5000, consents: given() })).status, 201)
  const productId = await product()
  await ann.call('POST', '/api/discounts', { code: 'CONSENT', percentOff: 10 })
  assertProblem(await order(productId, { discountCode: 'CONSENT' }), 422, 'consent_required')
  const reduced = await order(productId, { discountCode: 'CONSENT', consents: given() })
  assert.equal(reduced.status, 201)
  assert.equal((await kept(reduced.body.orderId)).length, ASKED.length)
  const free = await product({ priceMinor: 0 })
  assert.equal((await shared().call('GET', `/api/products/${free}/public`)).body.consents, undefined)
  assert.equal((await order(free)).status, 201)
})

test('ten requests with one key make one order with its consents once, and a second one with the key gets the same', async () => {
  const { product } = await newSeller()
  const productId = await product()
  const key = { 'idempotency-key': `consent-${productId}` }
  const answers = await times(10, () => order(productId, { consents: given() }, key))
  assert.equal(new Set(answers.map(({ body }) => body.orderId)).size, 1)
  assert.equal((await kept(answers[0]!.body.orderId)).length, ASKED.length)
})

test('where the seller does not ask, nothing is asked, and what a buyer agreed to is kept all the same', async () => {
  const { ann, product } = await newSeller(false)
  const productId = await product()
  assert.equal((await shared().call('GET', `/api/products/${productId}/public`)).body.consents, undefined)
  assert.equal((await order(productId)).status, 201)
  // the seller has switched it off while the page was open
  const { body } = await order(productId, { consents: given() })
  assert.equal((await kept(body.orderId)).length, ASKED.length)
  assert.equal((await ann.call('GET', '/api/brand')).body.asksConsent, false)
  await ann.call('PATCH', '/api/brand', { asksConsent: true })
  assertProblem(await order(productId), 422, 'consent_required')
  await ann.call('PATCH', '/api/brand', { asksConsent: false })
  assert.equal((await order(productId)).status, 201)
})

test('consents that cannot be read are refused', async () => {
  const { product } = await newSeller()
  const productId = await product()
  for (const consents of [
    'yes',
    {},
    [{}],
    [{ textId: 'immediate-1' }],
    [{ textId: 'immediate-1', locale: 'xx' }],
    [{ textId: 'Immediate 1', locale: 'en' }],
    Array.from({ length: 11 }, () => given()[0]),
  ])
    assertProblem(await order(productId, { consents }), 400, 'validation_failed')
})
