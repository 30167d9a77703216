import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from '@playwright/test'
import { newEmail } from './buyer.ts'
import { BASE_URL, expect } from './fixtures.ts'

export interface Receiver {
  url: string
  /** Its answer from now on. */
  status: number
  answer: string
  received: { headers: Record<string, string>; body: string }[]
  close: () => void
}

/** The program of a seller, on this machine. */
export async function startReceiver(): Promise<Receiver> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      receiver.received.push({ headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(receiver.status, { 'content-type': 'text/plain' }).end(receiver.answer)
    })
  })
  const receiver: Receiver = {
    url: '',
    status: 200,
    answer: 'thank you',
    received: [],
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}

async function ask<Answer>(context: BrowserContext, method: string, path: string, data: object): Promise<Answer> {
  const answer = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: BASE_URL } })
  expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()) as Answer
}

/** A product of the signed-in seller, on sale. */
export async function publish(context: BrowserContext): Promise<string> {
  const { id } = await ask<{ id: string }>(context, 'POST', 'products', {
    name: 'The Quiet Shop',
    amount: 1900,
    currency: 'USD',
  })
  const headers = { origin: BASE_URL, 'content-type': 'application/pdf' }
  const added = await context.request.post(`/api/products/${id}/files?name=book.pdf`, { data: 'a book', headers })
  expect(added.status()).toBe(201)
  await ask(context, 'PATCH', `products/${id}`, { status: 'active' })
  return id
}

/** Pays for a product as a buyer's page does. Returns the order's number. */
export async function sell(page: Page, productId: string): Promise<string> {
  const email = newEmail()
  const made = await page.request.post('/api/checkout', { data: { productId, email } })
  const { orderId, clientSecret } = (await made.json()) as { orderId: string; clientSecret: string }
  const data = { clientSecret, rail: 'card', scenario: 'success' }
  expect((await page.request.post('/api/sandbox/confirm', { data })).status()).toBe(200)
  return orderId
}
