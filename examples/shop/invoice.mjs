// @ts-check
// Makes an order for a buyer and prints the link at which they pay it: TILL_PRODUCT=prod_… node invoice.mjs bob@example.com cart-1042
import { createHash } from 'node:crypto'
import fs from 'node:fs'

const {
  TILL_URL = 'http://127.0.0.1:4000',
  TILL_PRODUCT: productId,
  TILL_WEBHOOK_SECRET = '',
  INVOICES = 'invoices.jsonl',
} = process.env
const [email, clientReferenceId] = process.argv.slice(2)
if (!productId || !email || !clientReferenceId || !TILL_WEBHOOK_SECRET)
  throw new Error('needs TILL_PRODUCT, TILL_WEBHOOK_SECRET, an address and your own id of the order')

/** @typedef {{ clientReferenceId: string, email: string, orderId: string, payUrl: string }} Invoice */
/** @param {string} path @param {RequestInit} [init] @returns {Promise<any>} */
async function call(path, init) {
  const response = await fetch(TILL_URL + path, init)
  const answer = /** @type {any} */ (await response.json())
  if (!response.ok) throw new Error(answer.detail)
  return answer
}

// A purchase keeps its order, so that the buyer pays once. It gets another order only when the last one has expired.
const kept = fs.existsSync(INVOICES) ? fs.readFileSync(INVOICES) : Buffer.alloc(0)
/** The bytes of the whole lines. A crash or a full disk can leave a piece of a line after them. */
const size = kept.lastIndexOf('\n') + 1
const lines = kept.toString('utf8', 0, size).split('\n').filter(Boolean)
/** @type {Invoice[]} */
const invoices = lines
  .map((line) => JSON.parse(line))
  .filter((/** @type {Invoice} */ one) => one.clientReferenceId === clientReferenceId)
let invoice = invoices.at(-1)
if (invoice) {
  const query = new URLSearchParams({ email: invoice.email, sync: '1' })
  const { status } = await call(`/api/checkout/${invoice.orderId}/status?${query}`)
  if (status === 'expired') invoice = undefined
}
if (!invoice) {
  // If the program ends before it has written the line, the key finds the same order. The secret keeps strangers from guessing the key.
  const key = createHash('sha256')
    .update(`${TILL_WEBHOOK_SECRET} ${clientReferenceId} ${invoices.length}`)
    .digest('hex')
  const { orderId, payUrl } = await call('/api/checkout', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ productId, email, clientReferenceId, metadata: { from: 'invoice' } }),
  })
  invoice = { clientReferenceId, email, orderId, payUrl }
  if (size < kept.length) fs.truncateSync(INVOICES, size)
  fs.appendFileSync(INVOICES, `${JSON.stringify(invoice)}\n`)
}
process.stdout.write(`${invoice.payUrl}\n`)
