import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { BrowserContext, Route } from '@playwright/test'
import type { Wire } from '../stand-ins/stripe-bank.ts'
import { startStripeServer } from '../stand-ins/stripe-server.ts'
import { type Service, startService } from './service.ts'

const file = (name: string) => readFile(path.join(import.meta.dirname, 'stand-ins', name), 'utf8')
const SCRIPT = 'https://js.stripe.com/endive/stripe.js'
export const STRIPE = ['https://js.stripe.com', 'https://api.stripe.com', 'https://hooks.stripe.com']

/** The data of a form that shows before there is a payment. */
interface Due {
  amount: number
  currency: string
  allowedPaymentMethodTypes?: string[]
  excludedPaymentMethodTypes?: string[]
}

/** The processor refuses a payment that differs from the data of its form. */
function mismatch(intent: Wire, due: Due): string | undefined {
  const list = (one: unknown) => JSON.stringify([...((one as string[] | undefined) ?? [])].sort())
  const pairs: [string, unknown, unknown][] = [
    ['amount', due.amount, intent['amount']],
    ['currency', due.currency, intent['currency']],
    ['allowed', list(due.allowedPaymentMethodTypes), list(intent['allowed_payment_method_types'])],
    ['excluded', list(due.excludedPaymentMethodTypes), list(intent['excluded_payment_method_types'])],
  ]
  const [name, told, is] = pairs.find(([, told, is]) => told !== is) ?? []
  return name && `The provided ${name} (${String(told)}) does not match the expected ${name} (${String(is)}).`
}

export type StripeStandIn = Awaited<ReturnType<typeof startStripe>>

/** A shop with payments by Stripe. A stand-in at Stripe's addresses plays its script and its banks. */
export async function startStripe(env: Record<string, string> = {}) {
  const server = await startStripeServer()
  const service: Service = await startService({
    STRIPE_SECRET_KEY: server.secretKey,
    STRIPE_PUBLISHABLE_KEY: server.secretKey.replace('sk_', 'pk_'),
    STRIPE_WEBHOOK_SECRET: server.webhookSecret,
    STRIPE_API_URL: server.url,
    ...env,
  })
  server.knobs.webhookUrl = `${service.url}/api/webhooks/stripe`
  return {
    server,
    bank: server.bank,
    ...service,
    stop: async () => {
      await service.stop()
      await server.close()
    },
  }
}

/** The stand-ins at Stripe's addresses in one browser. A test may change `faults` while it runs. */
export async function meetStripe(
  context: BrowserContext,
  { bank }: Pick<StripeStandIn, 'bank'>,
  /** The account whose payments these are. Undefined: the shop's own. */
  account?: string,
) {
  const met = {
    /** The number of requests for the script. */
    scripts: 0,
    confirms: [] as Wire[],
    faults: {
      script: undefined as 'blocked' | undefined,
      /** The script waits for this promise. */
      scriptAfter: undefined as Promise<void> | undefined,
      /** The payment is made, and its answer never arrives. */
      confirm: undefined as 'lost' | undefined,
      /** The payment is made, and its answer waits for this promise. */
      confirmAfter: undefined as Promise<void> | undefined,
    },
  }
  const intentOf = (id: string) => bank.find(bank.paymentIntents, 'payment_intent', id)
  const json = (route: Route, body: unknown, status = 200) =>
    route.fulfill({ status, json: body, headers: { 'access-control-allow-origin': '*' } })

  await context.route('https://js.stripe.com/**', async (route) => {
    const address = new URL(route.request().url())
    if (address.href === SCRIPT) {
      met.scripts++
      await met.faults.scriptAfter
      if (met.faults.script) return route.abort('blockedbyclient')
      return route.fulfill({ contentType: 'text/javascript', body: await file('stripe.js') })
    }
    if (address.pathname === '/frame.html')
      return route.fulfill({ contentType: 'text/html', body: await file('stripe-frame.html') })
    if (address.pathname === '/session') {
      const intent = bank.paymentIntents.find((one) => one['client_secret'] === route.request().postData())
      const open = intent && intent['status'].startsWith('requires_')
      return route.fulfill({ status: open ? 200 : 400, body: open ? '' : 'The PaymentIntent is in a terminal state.' })
    }
    return route.fulfill({ status: 404 })
  })

  await context.route('https://api.stripe.com/**', async (route) => {
    const [, , , id = '', what] = new URL(route.request().url()).pathname.split('/')
    const params = Object.fromEntries(new URLSearchParams(route.request().postData() ?? ''))
    // a payment of one account does not exist at another
    if (params['_stripe_account'] !== account)
      return json(route, { error: { code: 'resource_missing', message: `No such payment_intent: '${id}'` } }, 404)
    if (intentOf(id)['client_secret'] !== params['client_secret']) return json(route, { error: {} }, 401)
    if (what === 'after_challenge') return json(route, ...answerFor(intentOf(id)))
    met.confirms.push({ id, ...params })
    const wrong = params['due'] && mismatch(intentOf(id), JSON.parse(params['due']) as Due)
    if (wrong) return json(route, { error: { type: 'invalid_request_error', message: wrong } }, 400)
    const answer = confirm(id, params)
    if (met.faults.confirm === 'lost') return route.abort()
    await met.faults.confirmAfter
    return json(route, ...answer)
  })

  /** The bank's page for 3-D Secure, in a frame or in place of the shop's page. */
  await context.route('https://hooks.stripe.com/**', async (route) => {
    const { pathname, searchParams } = new URL(route.request().url())
    const id = searchParams.get('intent')!
    const back = searchParams.get('return_url')
    if (pathname === '/3ds') {
      const link = (how: string) => `/3ds/${how}?${searchParams}`
      const body = `<!doctype html><html lang="en"><title>Your bank</title><h1>Your bank</h1>
        <p><a href="${link('approve')}">Approve</a> <a href="${link('refuse')}">Refuse</a></p></html>`
      return route.fulfill({ contentType: 'text/html', body })
    }
    const approved = pathname.endsWith('/approve')
    bank.confirm(id, { method: searchParams.get('method') ?? 'card', outcome: approved ? 'succeed' : 'decline' })
    if (!back)
      return route.fulfill({ contentType: 'text/html', body: `<script>parent.postMessage('done', '*')</script>` })
    const address = new URL(back)
    address.searchParams.set('payment_intent', id)
    address.searchParams.set('payment_intent_client_secret', intentOf(id)['client_secret'])
    address.searchParams.set('redirect_status', approved ? 'succeeded' : 'failed')
    return route.fulfill({
      contentType: 'text/html',
      body: `<script>location.replace(${JSON.stringify(address.href)})</script>`,
    })
  })

  function confirm(
    id: string,
    { payment_method: method, return_url: back = '' }: Record<string, string>,
  ): [Wire, number] {
    const intent = intentOf(id)
    if (!intent['status'].startsWith('requires_')) {
      const error = { type: 'invalid_request_error', code: 'payment_intent_unexpected_state', payment_intent: intent }
      return [{ error }, 400]
    }
    switch (method) {
      case 'pm_card_declined':
        bank.confirm(id, { outcome: 'decline' })
        break
      case 'pm_debit':
        bank.confirm(id, { method: 'sepa_debit', outcome: 'processing' })
        break
      case 'pm_voucher':
        bank.confirm(id, { method: 'oxxo', outcome: 'requires_action' })
        break
      case 'pm_card_threeDSecure2Required':
      case 'pm_card_redirect':
      case 'pm_ideal': {
        bank.confirm(id, { outcome: 'requires_action' })
        const asked = { intent: id, method: method === 'pm_ideal' ? 'ideal' : 'card' }
        if (method === 'pm_card_threeDSecure2Required') {
          const url = `https://hooks.stripe.com/3ds?${new URLSearchParams(asked)}`
          return [{ ...intent, next_action: { type: 'use_stripe_sdk', use_stripe_sdk: { url } } }, 200]
        }
        const url = `https://hooks.stripe.com/3ds?${new URLSearchParams({ ...asked, return_url: back })}`
        return [{ ...intent, next_action: { type: 'redirect_to_url', redirect_to_url: { url } } }, 200]
      }
      case 'pm_card_processingError':
        return [{ error: { type: 'api_error', message: 'Something is wrong on our side.' } }, 500]
      default:
        bank.confirm(id)
    }
    return answerFor(intentOf(id))
  }

  function answerFor(intent: Wire): [Wire, number] {
    if (intent['status'] !== 'requires_payment_method') return [intent, 200]
    const message = 'Your card was declined.'
    return [{ error: { type: 'card_error', code: 'card_declined', message, payment_intent: intent } }, 402]
  }

  return met
}
