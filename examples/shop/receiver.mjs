// @ts-check
// The program of a seller: it opens the members' page when Till says that an order of TILL_PRODUCT is paid. It needs Node 20 or
// newer, and nothing else.
import { createHmac, timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'

const { TILL_WEBHOOK_SECRET = '', TILL_PRODUCT = '', PORT = '5000', DATA = 'members.jsonl' } = process.env
const KEY = Buffer.from(TILL_WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64')
if (KEY.length < 24) throw new Error('TILL_WEBHOOK_SECRET is missing: whsec_…, as Till showed it.')
if (!/^prod_\w+$/.test(TILL_PRODUCT))
  throw new Error('TILL_PRODUCT is missing: prod_…, the id of the product that opens the members’ page.')

const TOLERANCE_SECONDS = 5 * 60
const BODY_BYTES = 256 * 1024
const OPEN = new Set(['paid', 'partially_refunded'])
/**
 * A member has paid for this product, and has not got all of the money back. Messages come about every product of the shop, also about
 * cheaper and free ones.
 *
 * @param {{ status: string, product: { id: string } }} order
 */
const opens = ({ status, product }) => OPEN.has(status) && product.id === TILL_PRODUCT

/** @type {Set<string>} Messages that were done: the same one can come twice. */
const done = new Set()
/** @type {Map<string, { sequence: number, isOpen: boolean }>} */
const orders = new Map()
// One line is one message and all that it did. So after a crash a message was either done, or it comes again.
const kept = fs.existsSync(DATA) ? fs.readFileSync(DATA) : Buffer.alloc(0)
/** The bytes of the whole lines. A crash or a full disk can leave a piece of a line after them. */
let size = kept.lastIndexOf('\n') + 1
for (const line of kept.toString('utf8', 0, size).split('\n').filter(Boolean)) remember(JSON.parse(line))
const file = fs.openSync(DATA, 'a')

/** @param {{ id: string, orderId?: string, sequence?: number, isOpen?: boolean }} line */
function remember({ id, orderId, sequence = 0, isOpen = false }) {
  done.add(id)
  // Messages can overtake each other: the later state of an order stays.
  if (orderId && sequence > (orders.get(orderId)?.sequence ?? 0)) orders.set(orderId, { sequence, isOpen })
}

/**
 * Standard Webhooks 1.0: the signature covers id, time and body.
 *
 * @param {http.IncomingHttpHeaders} headers
 * @param {Buffer} body
 */
function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS)) return false
  const right = createHmac('sha256', KEY).update(`${id}.${time}.`).update(body).digest()
  return String(signatures)
    .split(' ')
    .some((one) => {
      const given = Buffer.from(one.replace(/^v1,/, ''), 'base64')
      return one.startsWith('v1,') && given.length === right.length && timingSafeEqual(given, right)
    })
}

/** @param {http.IncomingHttpHeaders} headers @param {Buffer} body @returns {number} the status of the answer */
function receive(headers, body) {
  if (!isSigned(headers, body)) return 401
  const id = String(headers['webhook-id'])
  if (done.has(id)) return 204
  const { data, test } = JSON.parse(body.toString())
  // also `refund.failed`: the money did not arrive, so the order is paid as before
  const isOrder = data.order !== undefined && !test
  const line = {
    id,
    ...(isOrder && { orderId: data.order.orderId, sequence: data.sequence, isOpen: opens(data.order) }),
  }
  // First to the disk, then the answer: after a 204 Till does not send it again.
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
  fs.ftruncateSync(file, size)
  if (fs.writeSync(file, bytes) < bytes.length) throw new Error(`${DATA}: the disk took only a part of the line`)
  fs.fsyncSync(file)
  size += bytes.length
  remember(line)
  return 204
}

const server = http.createServer((request, response) => {
  const address = request.url ?? '/'
  if (!URL.canParse(address, 'http://localhost')) return void response.writeHead(400).end()
  const url = new URL(address, 'http://localhost')
  if (request.method === 'POST' && url.pathname === '/hook') {
    /** @type {Buffer[]} */
    const chunks = []
    let size = 0
    request.on('data', (/** @type {Buffer} */ chunk) => {
      size += chunk.length
      if (size > BODY_BYTES) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => {
      let status = 500
      try {
        status = receive(request.headers, Buffer.concat(chunks))
      } catch (error) {
        // Till sends the message again
        process.stderr.write(`${error}\n`)
      }
      response.writeHead(status).end()
    })
    return
  }
  const page = (/** @type {number} */ status, /** @type {string} */ text) =>
    void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(text)
  if (url.pathname === '/') return page(200, fs.readFileSync(new URL('index.html', import.meta.url), 'utf8'))
  if (url.pathname !== '/members') return page(404, 'There is nothing here.')
  // An order's id cannot be guessed, so it is the member's ticket.
  if (orders.get(url.searchParams.get('order') ?? '')?.isOpen) return page(200, '<h1>Welcome to the Quiet Club</h1>')
  return page(403, '<meta http-equiv="refresh" content="3"><p>We wait for your payment …</p>')
})
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(`http://127.0.0.1:${port}/\n`)
})
