import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { atEnd } from '../support/ends.ts'
import { newEndpoint, signedInSeller } from '../support/receiver.ts'
import { type Ends, eventually, sharedShop, temporaryFolder } from '../support/shop.ts'

// The sample shop as a seller runs it, beside the real service.

const SAMPLE = path.resolve(import.meta.dirname, '../../examples/shop')
const shared = sharedShop()
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Starts the sample's program, and returns its address. `end` ends it as a crash does. */
async function startSample(t: Ends, folder: string, { secret = SECRET, productId = 'prod_a', shell = '' } = {}) {
  const env = { TILL_WEBHOOK_SECRET: secret, TILL_PRODUCT: productId, PORT: '0', DATA: path.join(folder, 'members.jsonl') } // oxfmt-ignore
  const command = [process.execPath, path.join(SAMPLE, 'receiver.mjs')]
  const [program, ...words] = shell ? ['sh', '-c', `${shell}; exec "$@"`, 'sh', ...command] : command
  const child = spawn(program!, words, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const end = async () => {
    child.kill('SIGKILL')
    await ended
  }
  atEnd(t, end)
  for await (const line of createInterface({ input: child.stdout })) return { url: line, end }
  return assert.fail('the sample did not start')
}

const members = async (url: string, orderId: string): Promise<number> =>
  (await fetch(`${url}members?order=${orderId}`)).status
const opens = (url: string, orderId: string) => eventually(() => members(url, orderId), (status) => status === 200) // oxfmt-ignore

/** Sends a signed message about the order ord_a, and returns the status of the answer. */
async function send(
  url: string,
  { id, type, status, sequence, orderId = 'ord_a', at = new Date(), change = (text: string) => text, ...more }: { id: string; type?: string; status: string; sequence: number; orderId?: string; at?: Date; change?: (text: string) => string; test?: true }, // oxfmt-ignore
): Promise<number> {
  const order = { orderId, status, product: { id: 'prod_a' } }
  const body = JSON.stringify({ id, type: type ?? `order.${status}`, data: { order, sequence }, ...more })
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(id, at, body),
  }
  return (await fetch(`${url}hook`, { method: 'POST', headers, body: change(body) })).status
}

test('the members’ page opens when the order is paid, and closes when all the money went back', async (t) => {
  const shop = shared()
  const ann = await signedInSeller(shop)
  const folder = await temporaryFolder(t)
  // the endpoint has its secret before the program that needs it has an address
  const { id, secret } = await newEndpoint(ann, 'http://127.0.0.1:9/hook')
  const productId = await shop.product()
  const { url } = await startSample(t, folder, { secret, productId })
  assert.equal((await ann.call('PATCH', `/api/webhook-endpoints/${id}`, { url: `${url}hook` })).status, 200)

  const waiting = await shop.checkout({ productId })
  const other = await shop.paid()
  const { orderId } = await shop.paid({ productId })
  await opens(url, orderId)
  assert.equal(await members(url, waiting.orderId), 403)
  const said = () => fs.readFileSync(path.join(folder, 'members.jsonl'), 'utf8')
  await eventually(async () => said(), (text) => text.includes(other.orderId)) // oxfmt-ignore
  assert.equal(await members(url, other.orderId), 403)
  assert.equal(await members(url, 'ord_1'), 403)
  assert.equal((await ann.call('POST', `/api/orders/${orderId}/refunds`, {})).status, 201)
  await eventually(() => members(url, orderId), (status) => status === 403) // oxfmt-ignore
  const test = await ann.call('POST', `/api/webhook-endpoints/${id}/test`, { type: 'order.paid' })
  assert.equal(test.status, 202, JSON.stringify(test.body))
  await eventually(async () => said(), (text) => text.includes(test.body.eventIds[0])) // oxfmt-ignore
})

test('a message that is repeated, overtaken, changed or too old opens nothing, also after a crash', async (t) => {
  const folder = await temporaryFolder(t)
  const first = await startSample(t, folder)
  const { url } = first
  const paid = { id: 'evt_1', status: 'paid', sequence: 1 }
  assert.equal(await send(url, { ...paid, change: (text) => text.replace('ord_a', 'ord_b') }), 401)
  assert.equal(await send(url, { ...paid, at: new Date(Date.now() - 6 * 60_000) }), 401)
  assert.equal((await fetch(`${url}hook`, { method: 'POST', body: '{}' })).status, 401)
  assert.equal(await send(url, { ...paid, id: 'evt_0', test: true }), 204)
  assert.equal(await members(url, 'ord_a'), 403)

  assert.deepEqual(await Promise.all([1, 2, 3].map(() => send(url, paid))), [204, 204, 204])
  assert.equal(await members(url, 'ord_a'), 200)
  assert.equal(await send(url, { id: 'evt_3', status: 'refunded', sequence: 3 }), 204)
  assert.equal(await send(url, { id: 'evt_2', status: 'partially_refunded', sequence: 2 }), 204)
  assert.equal(await members(url, 'ord_a'), 403)
  await first.end()

  const second = await startSample(t, folder)
  assert.equal(await members(second.url, 'ord_a'), 403)
  assert.equal(await send(second.url, paid), 204)
  assert.equal(await members(second.url, 'ord_a'), 403)
  const lines = fs.readFileSync(path.join(folder, 'members.jsonl'), 'utf8').split('\n').filter(Boolean)
  assert.deepEqual(lines.map((line) => JSON.parse(line).id).sort(), ['evt_0', 'evt_1', 'evt_2', 'evt_3'])
})

test(
  'a full disk and a torn line lose no message, and the program goes on',
  { skip: process.platform === 'win32' },
  async (t) => {
    const folder = await temporaryFolder(t)
    const full = await startSample(t, folder, { shell: 'ulimit -f 1' })
    const paid = (n: number) => ({ id: `evt_${n}`, orderId: `ord_${n}`, status: 'paid', sequence: 1 })
    let taken = 0
    while ((await send(full.url, paid(taken))) === 204 && taken < 1000) taken++
    assert(taken > 0 && taken < 1000, `${taken} messages`)
    assert.equal(await send(full.url, paid(taken)), 500)
    assert.equal(await members(full.url, 'ord_0'), 200)
    await full.end()
    const data = path.join(folder, 'members.jsonl')
    if (fs.readFileSync(data, 'utf8').endsWith('\n')) fs.appendFileSync(data, '{"id":"evt_')

    const { url, end } = await startSample(t, folder)
    for (let n = 0; n < taken; n++) assert.equal(await members(url, `ord_${n}`), 200, `message ${n} of ${taken}`)
    assert.equal(await members(url, `ord_${taken}`), 403)
    assert.equal(await send(url, paid(taken)), 204)
    await end()
    const again = await startSample(t, folder)
    assert.equal(await members(again.url, `ord_${taken}`), 200)
  },
)

test('a refund that failed opens the members’ page again, and an address that is none ends nothing', async (t) => {
  const { url } = await startSample(t, await temporaryFolder(t))
  const hear = (type: string, status: string, sequence: number) => send(url, { id: `evt_${sequence}`, type, status, sequence }) // oxfmt-ignore
  assert.equal(await hear('order.paid', 'paid', 1), 204)
  assert.equal(await hear('order.refunded', 'refunded', 2), 204)
  assert.equal(await members(url, 'ord_a'), 403)
  assert.equal(await hear('refund.failed', 'paid', 3), 204)
  assert.equal(await members(url, 'ord_a'), 200)
  const { port } = new URL(url)
  const status = await new Promise((resolve) => http.get({ port, host: '127.0.0.1', path: '//' }, ({ statusCode }) => resolve(statusCode))) // oxfmt-ignore
  assert.equal(status, 400)
  assert.equal(await members(url, 'ord_a'), 200)
})

test('the sample does not start without the product that opens the members’ page', () => {
  for (const productId of ['', 'prod_…']) {
    const env = { TILL_WEBHOOK_SECRET: SECRET, TILL_PRODUCT: productId, PORT: '0' }
    const { status, stderr } = spawnSync(process.execPath, [path.join(SAMPLE, 'receiver.mjs')], { env, encoding: 'utf8', timeout: 300_000 }) // oxfmt-ignore
    assert.equal(status, 1)
    assert.match(stderr, /TILL_PRODUCT is missing: prod_…, the id of the product/)
  }
})

test('the link of an invoice pays the order of that purchase, and a repeat makes no other', async (t) => {
  const shop = shared()
  const folder = await temporaryFolder(t)
  const ann = await signedInSeller(shop)
  const productId = await shop.product()
  const run = async (...words: string[]) => {
    const env = {
      TILL_URL: shop.url,
      TILL_PRODUCT: productId,
      TILL_WEBHOOK_SECRET: SECRET,
      INVOICES: path.join(folder, 'invoices.jsonl'),
    }
    const child = spawn(process.execPath, [path.join(SAMPLE, 'invoice.mjs'), ...words], { env, stdio: ['ignore', 'pipe', 'ignore'] }) // oxfmt-ignore
    const [link] = await Array.fromAsync(createInterface({ input: child.stdout }))
    return link
  }
  assert.equal(await run('bob@example.com'), undefined)
  const link = await run('bob@example.com', 'cart-1042')
  fs.appendFileSync(path.join(folder, 'invoices.jsonl'), '{"clientRef')
  assert.equal(await run('bob@example.com', 'cart-1042'), link)
  const { searchParams, hash } = new URL(link!)
  const orderId = searchParams.get('order')!
  const opened = await shop.call('POST', `/api/checkout/${orderId}/payment`, { token: hash.slice('#p='.length) })
  assert.equal((await shop.confirm(opened.body)).status, 200)
  await shop.until(orderId, ({ paid }) => paid)
  // also after the service has forgotten the key, which it does a day after the payment
  await sql`update orders set idempotency_key = null, request_hash = null where id = ${orderId}`.execute(shop.db)
  assert.equal(await run('bob@example.com', 'cart-1042'), link)
  const found = await ann.call('GET', '/api/orders?clientReferenceId=cart-1042')
  assert.deepEqual(found.body.items.map((order: { orderId: string }) => order.orderId), [orderId]) // oxfmt-ignore

  const unpaid = await run('bob@example.com', 'cart-1043')
  await sql`update orders set state = 'expired' where id = ${new URL(unpaid!).searchParams.get('order')}`.execute(
    shop.db,
  )
  const next = await run('bob@example.com', 'cart-1043')
  assert(next && next !== unpaid, 'the first order has expired')
  assert.equal(await run('bob@example.com', 'cart-1043'), next)
})

test('the page sells by a link alone', async (t) => {
  const shop = shared()
  const { url } = await startSample(t, await temporaryFolder(t))
  const html = await (await fetch(url)).text()
  const [, href] = /<a href="http:\/\/127\.0\.0\.1:4000(\/pay\/\?product=prod_)…" data-till>/.exec(html) ?? []
  assert(href, 'the link')
  const productId = await shop.product({ name: 'A year of quiet letters' })
  const { status, body } = await shop.call<string>('GET', `${href}${productId.slice('prod_'.length)}`)
  assert.equal(status, 200)
  assert.match(body, /A year of quiet letters/)
})
