import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeKey, programWith } from '../support/keys.ts'
import { newEndpoint, signedInSeller } from '../support/receiver.ts'
import { newMailbox } from '../support/seller.ts'
import { type TestShop, assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'

// An endpoint hears of every sale, so its owner learns of each new address, and whose it is.

const shared = sharedShop()
const URL_ONE = 'http://127.0.0.1:9/one'
const URL_TWO = 'http://127.0.0.1:9/two'
const aboutEndpoints = async (shop: TestShop, email: string) =>
  (await shop.mails(email)).filter(({ subject }) => subject.includes('endpoint'))
const told = (shop: TestShop, email: string, count: number) =>
  eventually(
    () => aboutEndpoints(shop, email),
    (mails) => mails.length >= count,
  )

test('the owner gets a mail about each new address, which says who gave it', async () => {
  const shop = shared()
  const email = newMailbox()
  const ann = await signedInSeller(shop, email)
  const { secret } = await makeKey(ann, ['webhooks:write', 'webhooks:read'], { name: 'Order <b>sync</b>' })
  const program = programWith(shop, secret)
  const { id } = await newEndpoint(ann, URL_ONE)
  const [made] = await told(shop, email, 1)
  assert.match(made!.subject, /^An endpoint was added at /)
  assert.match(made!.text, /http:\/\/127\.0\.0\.1:9\/one/)
  assert.match(made!.text, /a signed-in browser/)
  assert.match(made!.text, /If this was not you, remove the endpoint/)
  assert(made!.text.includes(`/shop/#/developers/endpoints/${id}`))

  const path = `/api/webhook-endpoints/${id}`
  for (const change of [{ description: 'Shop' }, { url: URL_ONE }, { events: ['order.paid'] }])
    assert.equal((await program.call('PATCH', path, change)).body.madeByKey, undefined)
  assertProblem(await program.call('PATCH', path, { url: 'ftp://127.0.0.1/' }), 400, 'validation_failed')
  assert.equal((await program.call('PATCH', path, { url: URL_TWO })).body.madeByKey.name, 'Order <b>sync</b>')
  const [changed] = await told(shop, email, 2)
  assert.match(changed!.subject, /^The address of an endpoint was changed at /)
  assert.match(changed!.text, /the API key “Order <b>sync<\/b>”/)
  assert(!changed!.html.includes('<b>sync'))
  assert.equal((await ann.call('PATCH', path, { url: URL_ONE })).body.madeByKey, undefined)
  assert.equal((await told(shop, email, 3)).length, 3)
})

test('the mail also goes to a mailbox that the account had before, because a thief may have moved it first', async () => {
  const shop = shared()
  const [before, email] = [newMailbox(), newMailbox()]
  const ann = await signedInSeller(shop, email)
  await sql`insert into account_events (seller_id, what, email, previous_email)
    select id, 'email_changed', ${email}, ${before} from sellers where email = ${email}`.execute(shop.db)
  await newEndpoint(ann, URL_ONE)
  for (const mailbox of [email, before]) {
    const [mail] = await told(shop, mailbox, 1)
    assert.match(mail!.subject, /^An endpoint was added at /)
  }
})

test('an endpoint that a key made stays when the key ends, and says so', async () => {
  const shop = shared()
  const ann = await signedInSeller(shop, newMailbox())
  const { id: keyId, secret } = await makeKey(ann, ['webhooks:write', 'webhooks:read'])
  const { body: made } = await programWith(shop, secret).call('POST', '/api/webhook-endpoints', { url: URL_ONE, events: ['*'] }) // oxfmt-ignore
  const key = { id: keyId, name: 'My program' }
  assert.deepEqual(made.madeByKey, { ...key, ended: false })
  const listed = async () => (await ann.call('GET', '/api/webhook-endpoints')).body.items
  await sql`update api_keys set created_at = now() - interval '3 s', rolled_at = now() - interval '3 s', expires_at = now() - interval '1 s' where id = ${keyId}`.execute(
    shop.db,
  )
  assert.deepEqual((await listed())[0].madeByKey, { ...key, ended: true })
  await sql`update api_keys set expires_at = null where id = ${keyId}`.execute(shop.db)
  assert.equal((await ann.call('DELETE', `/api/keys/${keyId}`)).status, 204)
  const [stays] = await listed()
  assert.deepEqual([stays.id, stays.status, stays.madeByKey], [made.id, 'active', { ...key, ended: true }])
  await sql`delete from api_keys where id = ${keyId}`.execute(shop.db)
  assert.deepEqual((await listed())[0].madeByKey, { id: keyId, ended: true })
  assert.equal((await ann.call('DELETE', `/api/webhook-endpoints/${made.id}`)).status, 204)
})

test('a seller gives endpoints only so many addresses in an hour, and a stolen key uses up only the count of keys', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'endpoint_address=2/3600', WEBHOOK_PRIVATE_NETWORKS: '1' } })
  const ann = await signedInSeller(shop)
  const { secret } = await makeKey(ann, ['webhooks:write'])
  const { id } = await newEndpoint(ann, URL_ONE)
  const path = `/api/webhook-endpoints/${id}`
  const thief = programWith(shop, secret)
  for (const url of [URL_TWO, URL_ONE]) assert.equal((await thief.call('PATCH', path, { url })).status, 200)
  assertProblem(await thief.call('PATCH', path, { url: URL_TWO }), 429, 'rate_limited')
  assert.equal((await ann.call('PATCH', path, { url: URL_TWO })).status, 200)
  assertProblem(await ann.call('PATCH', path, { url: URL_ONE }), 429, 'rate_limited')
  assert.equal((await ann.call('PATCH', path, { description: 'Shop' })).status, 200)
})
