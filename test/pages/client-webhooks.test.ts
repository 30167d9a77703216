import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { TillError } from '../../client/request.ts'
import { verifyWebhook } from '../../client/webhooks.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const NOW = new Date('2026-11-23T12:00:00Z')
const BODY = JSON.stringify({
  id: 'evt_1',
  type: 'order.paid',
  timestamp: NOW.toISOString(),
  data: { orderId: 'ord_1' },
})

/** A message as a sender makes it that follows the standard: its own library signs. */
function signed(secret: string, { body = BODY, at = NOW, id = 'evt_1' } = {}) {
  const signature = new Webhook(secret).sign(id, at, body)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  }
}

const codeOf = (verified: Promise<unknown>): Promise<string> =>
  verified.then(
    () => 'accepted',
    (error: unknown) => (error instanceof TillError ? error.code : String(error)),
  )
const check = (headers: object, body: string | Uint8Array, secret: string | string[], now = NOW) =>
  codeOf(verifyWebhook(headers as Record<string, string>, body, secret, { now }))

test('the published example of the standard is accepted', async () => {
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const body = '{"test": 2432232314}'
  const now = new Date(1614265330_000)
  const said = await verifyWebhook(headers, body, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', { now })
  assert.deepEqual(said, { test: 2432232314 })
})

test('a message with anything changed, missing or from elsewhere is refused', async () => {
  const secret = newSecret()
  const right = signed(secret)
  assert.equal(await check(right, BODY, secret), 'accepted')
  const others: [string, object, string][] = [
    ['another body', right, BODY.replace('ord_1', 'ord_2')],
    ['a body written again', right, JSON.stringify(JSON.parse(BODY), null, 1)],
    ['another id', { ...right, 'webhook-id': 'evt_2' }, BODY],
    ['another time', { ...right, 'webhook-timestamp': String(NOW.getTime() / 1000 + 1) }, BODY],
    ['another version of signature', { ...right, 'webhook-signature': right['webhook-signature'].replace('v1,', 'v1a,') }, BODY], // oxfmt-ignore
    ['no version', { ...right, 'webhook-signature': right['webhook-signature'].slice(3) }, BODY],
    ['a shorter signature', { ...right, 'webhook-signature': 'v1,AAAA' }, BODY],
    ['an empty signature', { ...right, 'webhook-signature': 'v1,' }, BODY],
    ['what is not Base64', { ...right, 'webhook-signature': 'v1,ü~' }, BODY],
    ['two values of one header', { ...right, 'webhook-id': ['evt_1', 'evt_1'] }, BODY],
    ['another secret', signed(newSecret()), BODY],
    ['no headers', {}, BODY],
  ]
  for (const name of Object.keys(right)) others.push([`no ${name}`, { ...right, [name]: undefined }, BODY])
  for (const [what, headers, body] of others)
    assert.equal(await check(headers, body, secret), 'invalid_signature', what)
})

test('a copy of an old message is refused after five minutes, and one of the future before', async () => {
  const secret = newSecret()
  const at = (seconds: number) => check(signed(secret, { at: new Date(NOW.getTime() + seconds * 1000) }), BODY, secret)
  assert.deepEqual(await Promise.all([-301, -300, 300, 301].map(at)), ['message_too_old', 'accepted', 'accepted', 'message_too_old']) // oxfmt-ignore
  const words = { ...signed(secret), 'webhook-timestamp': '1e9' }
  assert.equal(await check(words, BODY, secret), 'invalid_signature')
})

test('while a secret is rotated, either signature fits either secret', async () => {
  const [old, fresh, foreign] = [newSecret(), newSecret(), newSecret()]
  const both = {
    ...signed(old),
    'webhook-signature': `v1a,AAAA ${signed(old)['webhook-signature']} ${signed(fresh)['webhook-signature']}`,
  }
  for (const secrets of [[old], [fresh], [old, fresh], [foreign, fresh]])
    assert.equal(await check(both, BODY, secrets), 'accepted')
  assert.equal(await check(signed(fresh), BODY, [old, fresh]), 'accepted')
  assert.equal(await check(both, BODY, foreign), 'invalid_signature')
  assert.equal(await check(both, BODY, []), 'invalid_signature')
})

test('a secret that is none is the program’s fault, and not the message’s', async () => {
  for (const secret of ['', 'whsec_', 'whsec_ü'])
    await assert.rejects(() => verifyWebhook(signed(newSecret()), BODY, secret, { now: NOW }), TypeError)
})

test('headers and bodies are taken as fetch, Node and frameworks have them', async () => {
  const secret = newSecret()
  const headers = signed(secret)
  const bytes = new TextEncoder().encode(BODY)
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
  for (const given of [headers, upper, new Headers(headers)])
    for (const body of [BODY, bytes, Buffer.from(BODY), bytes.buffer]) {
      const message = await verifyWebhook(given, body, secret, { now: NOW })
      assert.deepEqual([message.type, message.data], ['order.paid', { orderId: 'ord_1' }])
    }
})

test('whatever the standard’s library signs is accepted here, and not with one byte more', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 24, maxLength: 64 }),
      fc.stringMatching(/^[\x21-\x2d\x2f-\x7e]{1,40}$/),
      fc.jsonValue(),
      async (key, id, value) => {
        const secret = `whsec_${Buffer.from(key).toString('base64')}`
        const body = JSON.stringify(value)
        const headers = signed(secret, { body, id })
        assert.deepEqual(await verifyWebhook<unknown>(headers, body, secret, { now: NOW }), JSON.parse(body))
        assert.equal(await check(headers, `${body} `, secret), 'invalid_signature')
      },
    ),
    { numRuns: 200 },
  )
})
