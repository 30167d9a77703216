import { createHmac } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

// Speaks the part of Stripe's API that checkouts and notifications need, and answers after five milliseconds, so that the bench
// measures the service. Payments named `…paid…` are paid. A buyer pays another one by `POST /pay/{id}`, and the service at the port
// that our parent names gets the notification. We end with our parent.

const webhookSecret = process.argv[2]!
const ANSWER_MS = 5
const NOTIFICATIONS_AT_ONCE = 64
const CREATED = Math.floor(Date.now() / 1000)
let made = 0

interface Payment {
  amount: number
  currency: string
  metadata: object
  paid: boolean
}

const payments = new Map<string, Payment>()

const paymentOf = (id: string): Payment =>
  payments.get(id) ?? { amount: 1900, currency: 'usd', metadata: {}, paid: id.includes('paid') }

const chargeIdOf = (id: string): string => id.replace('pi_', 'ch_')

const intent = (id: string) => {
  const { amount, currency, metadata, paid } = paymentOf(id)
  return {
    id,
    object: 'payment_intent',
    amount,
    currency,
    status: paid ? 'succeeded' : 'requires_payment_method',
    livemode: false,
    metadata,
    latest_charge: paid ? chargeIdOf(id) : null,
    client_secret: `${id}_secret_bench`,
  }
}

const charge = (id: string) => {
  const { amount, currency } = paymentOf(id)
  return {
    id: chargeIdOf(id),
    object: 'charge',
    amount_captured: amount,
    amount_refunded: 0,
    currency,
    status: 'succeeded',
    captured: true,
    disputed: false,
    created: CREATED,
    payment_intent: id,
    payment_method_details: { type: 'card', card: { funding: 'credit', wallet: null } },
  }
}

const list = (data: object[]) => ({ object: 'list', has_more: false, data })

function answerTo(method: string, url: URL, body: string): object | undefined {
  const [, id] = /^\/v1\/payment_intents\/(pi_\w+)$/.exec(url.pathname) ?? []
  if (method === 'GET' && id) return intent(id)
  if (method === 'GET' && url.pathname === '/v1/charges') {
    const of = url.searchParams.get('payment_intent')!
    return list(paymentOf(of).paid ? [charge(of)] : [])
  }
  if (method === 'GET' && url.pathname === '/v1/refunds') return list([])
  const [, paid] = /^\/pay\/(pi_\w+)$/.exec(url.pathname) ?? []
  if (method === 'POST' && paid) return pay(paid)
  if (method !== 'POST' || url.pathname !== '/v1/payment_intents') return undefined
  const form = new URLSearchParams(body)
  const started = `pi_bench${process.pid}x${++made}`
  payments.set(started, {
    amount: Number(form.get('amount')),
    currency: form.get('currency')!,
    metadata: { order_id: form.get('metadata[order_id]'), attempt_id: form.get('metadata[attempt_id]') },
    paid: false,
  })
  return intent(started)
}

let service: { port: number; agent: http.Agent } | undefined
process.on('message', (port: number) => {
  service = { port, agent: new http.Agent({ keepAlive: true, maxSockets: NOTIFICATIONS_AT_ONCE }) }
})

function pay(id: string): object {
  payments.get(id)!.paid = true
  void notify(id)
  return intent(id)
}

/** Sends the notification until the service answers 200. */
async function notify(id: string): Promise<void> {
  const time = Math.floor(Date.now() / 1000)
  const event = { id: `evt_${id}`, object: 'event', type: 'payment_intent.succeeded', livemode: false, created: time }
  const body = JSON.stringify({ ...event, data: { object: intent(id) } })
  for (; (await post(body, time)) !== 200; await sleep(1000));
}

const post = (body: string, time: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const mac = createHmac('sha256', webhookSecret).update(`${time}.${body}`).digest('hex')
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'stripe-signature': `t=${time},v1=${mac}`,
    }
    const options = { ...service, host: '127.0.0.1', method: 'POST', path: '/api/webhooks/stripe', headers }
    http
      .request(options, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode!))
      })
      .on('error', reject)
      .end(body)
  })

const server = http.createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', async () => {
    const answer = answerTo(request.method!, new URL(request.url!, 'http://bench'), Buffer.concat(chunks).toString())
    const text = JSON.stringify(answer ?? { error: { type: 'invalid_request_error', message: 'not here' } })
    await sleep(ANSWER_MS)
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json', 'content-length': text.length })
    response.end(text)
  })
})
// buyers keep their connections while others buy
server.keepAliveTimeout = 120_000
process.once('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
