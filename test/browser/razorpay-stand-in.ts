import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { BrowserContext } from '@playwright/test'
import { startRazorpayServer } from '../stand-ins/razorpay-server.ts'
import { ACCOUNT } from '../support/razorpay-setup.ts'
import { razorpaySettings } from '../support/razorpay-shop.ts'
import { startService } from './service.ts'

const file = (name: string) => readFile(path.join(import.meta.dirname, 'stand-ins', name), 'utf8')
export const RAZORPAY = ['checkout', 'cdn', 'api', 'lumberjack'].map((name) => `https://${name}.razorpay.com`)

export type RazorpayStandIn = Awaited<ReturnType<typeof startRazorpay>>

/** A shop with payments in rupees by Razorpay. A stand-in at Razorpay's addresses plays its window and its banks. */
export async function startRazorpay(env: Record<string, string> = {}) {
  const bank = await startRazorpayServer(ACCOUNT)
  const service = await startService({ ...razorpaySettings(bank), ...env })
  bank.webhookUrl = `${service.url}/api/webhooks/razorpay`
  return {
    bank,
    ...service,
    stop: async () => {
      await service.stop()
      await bank.close()
    },
  }
}

/** The stand-ins at Razorpay's addresses in one browser. A test may change `faults` while it runs. */
export async function meetRazorpay(context: BrowserContext, { bank }: RazorpayStandIn) {
  const met = { scripts: 0, faults: { script: undefined as 'blocked' | undefined } }
  await context.route('https://checkout.razorpay.com/v1/checkout.js', async (route) => {
    met.scripts++
    if (met.faults.script) return route.abort('blockedbyclient')
    return route.fulfill({ contentType: 'text/javascript', body: await file('razorpay.js') })
  })
  await context.route('https://cdn.razorpay.com/**', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: '' }),
  )
  await context.route('https://lumberjack.razorpay.com/**', (route) =>
    route.fulfill({ json: {}, headers: { 'access-control-allow-origin': '*' } }),
  )
  await context.route('https://api.razorpay.com/**', async (route) => {
    if (!route.request().url().endsWith('/v1/play'))
      return route.fulfill({ contentType: 'text/html', body: await file('razorpay-frame.html') })
    const { order, how } = JSON.parse(route.request().postData()!) as { order: string; how: string }
    if (bank.orders.get(order)?.status === 'paid')
      return route.fulfill({ json: { error: { code: 'BAD_REQUEST_ERROR', description: 'This order is paid.' } } })
    const method = how.startsWith('upi') ? 'upi' : how === 'failed' ? 'card' : how
    const outcome = how === 'failed' ? 'failed' : how === 'upi_later' ? 'created' : 'captured'
    const payment = bank.pay(order, { method, outcome })
    if (outcome === 'failed')
      return route.fulfill({ json: { error: { code: 'BAD_REQUEST_ERROR', description: 'Your bank said no.' } } })
    const response = { razorpay_payment_id: payment.id, razorpay_order_id: order, razorpay_signature: 'x' }
    return route.fulfill({ json: outcome === 'captured' ? { response } : {} })
  })
  return met
}
