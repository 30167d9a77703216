// @ts-check
// Makes an order for a buyer and prints the link at which they pay it: TILL_PRODUCT=prod_… node invoice.mjs bob@example.com cart-1042
import { createHash } from 'node:crypto'

const { TILL_URL = 'http://127.0.0.1:4000', TILL_PRODUCT: productId, TILL_WEBHOOK_SECRET = '' } = process.env
const [email, clientReferenceId] = process.argv.slice(2)
if (!productId || !email || !clientReferenceId || !TILL_WEBHOOK_SECRET)
  throw new Error('needs TILL_PRODUCT, TILL_WEBHOOK_SECRET, an address and your own id of the purchase')

// The same purchase always gets the same order, however often the program runs. The secret keeps strangers from guessing the key.
const key = createHash('sha256').update(`${TILL_WEBHOOK_SECRET} ${clientReferenceId}`).digest('hex')
const response = await fetch(`${TILL_URL}/api/checkout`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'idempotency-key': key },
  body: JSON.stringify({ productId, email, clientReferenceId, metadata: { from: 'invoice' } }),
})
const answer = /** @type {{ payUrl: string, detail?: string }} */ (await response.json())
if (!response.ok) throw new Error(answer.detail)
process.stdout.write(`${answer.payUrl}\n`)
