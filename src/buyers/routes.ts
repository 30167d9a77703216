import type { CodeLimits } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import { canonicalEmail } from '../kit/email.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { localeOf } from '../kit/locales.ts'
import { refusing } from '../kit/schema.ts'
import { onStatement } from '../orders/paid-by.ts'
import { type BuyerBrowser, buyerBrowser } from './browser.ts'
import { type FoundOrder, findCharges } from './charges.ts'
import { type SendMailboxCode, withProvenMailbox } from './mailbox-codes.ts'
import { ChargeCodeRequest, ChargeCodeSent, ChargeFound, type ChargeOrder, ChargeVerification } from './schema.ts'
import { readStatementLine } from './statement-line.ts'

const PATH = '/api/charges'
const TAG = ['Charges']

export interface ChargeParts {
  db: Db
  secrets: readonly string[]
  limits: CodeLimits
  sendCode: SendMailboxCode
  baseUrl: string
  orderUrl: (orderId: string) => string
}

/** The charge look-up: a buyer who reads a line on a bank statement and proves the mailbox finds the order behind it. */
export function chargeRoutes(server: Server, { sendCode, baseUrl, orderUrl, ...parts }: ChargeParts): void {
  const browser: BuyerBrowser = buyerBrowser(baseUrl, 'charge')

  server.post(
    `${PATH}/code`,
    {
      schema: {
        operationId: 'requestChargeCode',
        summary: 'Send a code to a buyer’s mailbox',
        description:
          'Needs the text of a line on the bank statement, or its amount and date. The code has six digits. It works once, for ten minutes and five tries, and only in the browser that requested it. The response is the same whether the address has orders or not.',
        tags: TAG,
        body: ChargeCodeRequest,
        response: { 202: ChargeCodeSent, ...refusing('rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      readStatementLine(request.body)
      const email = canonicalEmail(request.body.email)
      const { browserHash, keep } = browser.newCodeHolder()
      const { resendAfterSeconds } = await sendCode({
        email,
        purpose: 'charge',
        browserHash,
        previousBrowserHash: browser.codeHolder(request),
        network: browser.networkOf(request),
        locale: localeOf(request.headers['accept-language']),
      })
      keep(reply)
      return reply.code(202).send({ resendAfter: resendAfterSeconds })
    },
  )

  server.post(
    `${PATH}/verify`,
    {
      schema: {
        operationId: 'findCharge',
        summary: 'Find the order behind a charge',
        description:
          'Returns the orders of the mailbox that match the line; if none matches, its recent orders. Uses the code up.',
        tags: TAG,
        body: ChargeVerification,
        response: { 200: ChargeFound, ...refusing('invalid_code', 'cookie_missing', 'rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const line = readStatementLine(request.body)
      const email = canonicalEmail(request.body.email)
      const { matched, orders, more } = await withProvenMailbox(
        parts,
        {
          email,
          purpose: 'charge',
          code: request.body.code,
          browserHash: browser.neededCodeHolder(request),
          network: browser.networkOf(request),
        },
        (tx) => findCharges(tx, email, line),
      )
      browser.forgetCode(reply)
      return { matched, orders: orders.map((order) => orderView(order, orderUrl(order.id))), more }
    },
  )
}

const orderView = (order: FoundOrder, orderUrl: string): ChargeOrder => ({
  orderId: order.id,
  orderUrl,
  status: order.state,
  ...(order.paymentReturned && { paymentReturned: true }),
  product: { name: order.productName },
  seller: { name: order.sellerName },
  amount: order.amountMinor,
  currency: order.currency,
  refundedAmount: order.refundedMinor,
  statementDescriptor: order.statementDescriptor,
  ...onStatement(order.paidBy),
  createdAt: order.createdAt.toISOString(),
  paidAt: order.paidAt?.toISOString() ?? null,
})
