import assert from 'node:assert/strict'
import http from 'node:http'
import { Webhook } from 'standardwebhooks'
import { inTransaction } from '../../src/kit/database.ts'
import { recordOrderEvents } from '../../src/orders/move.ts'
import type { Envelope } from '../../src/webhooks/envelope.ts'
import { type Browser, newBrowser } from './seller.ts'
import { type Ends, type TestShop, eventually } from './shop.ts'
import { atEnd } from './ends.ts'

export interface Received {
  id: string
  body: string
  event: Envelope
  headers: http.IncomingHttpHeaders
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
type Answer = (request: http.IncomingMessage, response: http.ServerResponse, received: Received) => void

/** The program of a seller: it keeps each message that it gets, and answers as `answer` says, by default 204. */
export async function startReceiver(
  t: Ends,
  answer: Answer = (_request, response) => void response.writeHead(204).end(),
) {
  const received: Received[] = []
  const receiver = {
    answer,
    received,
    url: '',
    seen: (type: string) => received.filter(({ event }) => event.type === type),
  }
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const one = { id: String(request.headers['webhook-id']), body, event: JSON.parse(body), headers: request.headers }
      received.push(one)
      receiver.answer(request, response, one)
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`
  atEnd(t, () => {
    server.close()
    server.closeAllConnections()
  })
  return receiver
}

/** Throws unless the delivery is signed with this secret, as the standard's own library says. */
export const verify = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

/** The shop's seller, signed in just now. */
export async function signedInSeller(shop: TestShop, email = 'ann@shop.test'): Promise<Browser> {
  const browser = newBrowser(shop)
  await browser.signInByCode(email)
  return browser
}

/** An endpoint of the signed-in seller. */
export async function newEndpoint(
  browser: Browser,
  url: string,
  events: string[] = ['*'],
): Promise<{ id: string; secret: string }> {
  const answer = await browser.call('POST', '/api/webhook-endpoints', { url, events })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

/** Waits until the receiver has got `count` events of a type. */
export const gets = (receiver: Receiver, type: string, count = 1): Promise<Received[]> =>
  eventually(
    async () => receiver.seen(type),
    (seen) => seen.length >= count,
  )

/** Many events at once, of some orders. */
export async function manyEvents(shop: TestShop, count: number): Promise<void> {
  const productId = await shop.product()
  const orders = await Promise.all(Array.from({ length: 5 }, () => shop.checkout({ productId })))
  await inTransaction(shop.db, (tx) =>
    recordOrderEvents(
      tx,
      Array.from({ length: count }, (_, n) => ({
        orderId: orders[n % 5]!.orderId,
        type: 'order.email_changed' as const,
      })),
    ),
  )
}
