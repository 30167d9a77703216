import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

// Speaks the part of Stripe's API that checkouts and notifications need, and answers after five milliseconds, so that the bench
// measures the service. Payments named `…paid…` were paid. It ends with its parent.

const ANSWER_MS = 5
const CREATED = Math.floor(Date.now() / 1000)
let made = 0

const intent = (id: string, { amount = 1900, currency = 'usd', metadata = {}, paid = false }) => ({
  id,
  object: 'payment_intent',
  amount,
  currency,
  status: paid ? 'succeeded' : 'requires_payment_method',
  livemode: false,
  metadata,
  latest_charge: paid ? id.replace('pi_', 'ch_') : null,
  client_secret: `${id}_secret_bench`,
})

const charge = (id: string) => ({
  id: id.replace('pi_', 'ch_'),
  object: 'charge',
  amount_captured: 1900,
  amount_refunded: 0,
  currency: 'usd',
  status: 'succeeded',
  captured: true,
  disputed: false,
  created: CREATED,
  payment_intent: id,
  payment_method_details: { type: 'card', card: { funding: 'credit', wallet: null } },
})

function answerTo(method: string, url: URL, body: string): object | undefined {
  const [, id] = /^\/v1\/payment_intents\/(pi_\w+)$/.exec(url.pathname) ?? []
  if (method === 'GET' && id) return intent(id, { paid: id.includes('paid') })
  if (method === 'GET' && url.pathname === '/v1/charges')
    return { object: 'list', has_more: false, data: [charge(url.searchParams.get('payment_intent')!)] }
  if (method === 'GET' && url.pathname === '/v1/refunds') return { object: 'list', has_more: false, data: [] }
  if (method !== 'POST' || url.pathname !== '/v1/payment_intents') return undefined
  const form = new URLSearchParams(body)
  const metadata = { order_id: form.get('metadata[order_id]'), attempt_id: form.get('metadata[attempt_id]') }
  const amount = Number(form.get('amount'))
  return intent(`pi_bench${++made}`, { amount, currency: form.get('currency')!, metadata })
}

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
process.once('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
