import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import vm from 'node:vm'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { build } from 'vite'
import { TillError } from '../../client/request.ts'
import { createSeller } from '../../client/seller.ts'
import { CLIENT_TYPES, clientTypes } from '../../scripts/client-types.ts'
import type { Description } from '../../src/pages/api/description.ts'
import { makeKey, signedInAnn } from '../support/keys.ts'
import { eventually, sharedShop, temporaryFolder } from '../support/shop.ts'

// The client as an integrator has it: packed, installed from the tarball without a network, imported by its name.

const ROOT = path.resolve(import.meta.dirname, '../..')
const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const MOST_GZIPPED_BYTES = 3 * 1024
const run = promisify(execFile)
const shared = sharedShop()
const ends: (() => unknown)[] = []
let folder = ''

const inFolder = (program: string, args: string[]) => run(program, args, { cwd: folder })
/** The npm that runs the tests, else whichever is found. */
const npm = (args: string[], cwd: string) => {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env
  if (cli?.endsWith('npm-cli.js') && node) return run(node, [cli, ...args], { cwd })
  return run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { cwd, shell: process.platform === 'win32' })
}

before(async () => {
  folder = await temporaryFolder({ after: (end) => ends.push(end) })
  const packed = await npm(['pack', '--json', '--loglevel=error', `--pack-destination=${folder}`], path.join(ROOT, 'client')) // oxfmt-ignore
  const { filename, files } = nameOf(packed.stdout)
  assert.deepEqual(
    files.map((file) => file.path).sort(),
    ['README.md', 'package.json', ...['api', 'checkout', 'request', 'seller', 'types', 'webhooks'].flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])].sort(), // oxfmt-ignore
  )
  await fs.writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  await npm(['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', `./${filename}`], folder)
})

after(async () => {
  for (const end of ends) await end()
})

/** Parses the output of `npm pack --json` below the output of earlier scripts; npm 11 and 12 write it differently. */
function nameOf(output: string): { filename: string; files: { path: string }[] } {
  const said = JSON.parse(output.slice(output.search(/^[[{]$/m))) as any
  return Array.isArray(said) ? said[0] : (Object.values(said)[0] as any)
}

const BUYER = `
  import { createTill, TillError } from 'till-client'
  import { createSeller } from 'till-client/seller'

  const [baseUrl, productId] = process.argv.slice(2)
  const till = createTill({ baseUrl })
  const product = await till.product(productId)
  const order = await till.createOrder({ productId, email: 'bob@example.com' })
  const unknown = await till.status('ord_' + '0'.repeat(26)).catch((error) => error)
  await fetch(baseUrl + '/api/sandbox/confirm', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientSecret: order.clientSecret, rail: 'card' }),
  })
  const paid = await till.waitUntilPaid(order.orderId, 'bob@example.com', { signal: AbortSignal.timeout(120_000) })
  const files = await Promise.all(paid.downloads.map(async ({ url }) => (await fetch(baseUrl + new URL(url).pathname)).text()))
  await till.sendReceipt(order.orderId, 'bob@example.com')
  const links = await till.downloads(order.orderId, 'eve@example.com')
  console.log(JSON.stringify({
    amount: [product.amount, order.amount], status: paid.status, files, links, seller: typeof createSeller,
    code: unknown instanceof TillError && unknown.code,
  }))
`

const WORKER = `
  import { createTill, TillError } from 'till-client'
  import { createSeller } from 'till-client/seller'
  import { verifyWebhook } from 'till-client/webhooks'

  const codeOf = (asked) => asked.then(() => 'nothing', (error) => error instanceof TillError ? error.code : String(error))
  export async function run(baseUrl, productId, headers, body, secret) {
    const till = createTill({ baseUrl })
    const order = await till.createOrder({ productId, email: 'bob@example.com' })
    const seller = createSeller({ baseUrl, apiKey: '' })
    async function* chunks() { yield new TextEncoder().encode('a book') }
    const { type } = await verifyWebhook(headers, body, secret)
    const slow = createTill({ baseUrl, timeoutMs: 1, retries: 0, fetch: (url, init) => new Promise((_, reject) => init.signal.addEventListener('abort', reject)) })
    return JSON.stringify({
      amount: order.amount,
      type,
      refused: await codeOf(verifyWebhook(headers, body + ' ', secret)),
      items: await codeOf(seller.products.addFile(productId, { name: 'a.txt', data: chunks(), size: 6 })),
      unreachable: await codeOf(slow.product(productId)),
    })
  }
`

/** The interfaces that all of them have: browsers, Deno, Bun, and the workers of the clouds (the minimum common API of WinterTC). */
const WEB = 'AbortController AbortSignal Blob Headers ReadableStream Response TextDecoder TextEncoder TransformStream URL URLSearchParams atob btoa clearTimeout console crypto fetch setTimeout' // oxfmt-ignore
const web = () => Object.fromEntries(WEB.split(' ').map((name) => [name, globalThis[name as keyof typeof globalThis]]))

function signedHeaders(secret: string, body: string): Record<string, string> {
  const now = new Date()
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', now, body),
  }
}

test('a script buys, waits and downloads with the installed client', async () => {
  const shop = shared()
  const productId = await shop.product()
  await fs.writeFile(path.join(folder, 'buyer.js'), BUYER)
  const { stdout } = await inFolder(process.execPath, ['buyer.js', shop.url, productId])
  assert.deepEqual(JSON.parse(stdout), {
    amount: [1900, 1900],
    status: 'paid',
    files: ['a book'],
    links: [],
    seller: 'function',
    code: 'order_not_found',
  })
})

test('a script that misuses the client does not compile, and one that uses it does', async () => {
  const head = `import { createTill, TillError } from 'till-client'\nimport { createApi } from 'till-client/api'\nimport type { WebhookMessage } from 'till-client/webhooks'\nconst till = createTill({ baseUrl: 'https://a.example' })\nconst api = createApi({ baseUrl: 'https://a.example', apiKey: 'till_live_x' })\n` // oxfmt-ignore
  const right = `
    import type { OrderStatus } from 'till-client'
    const order = await till.createOrder({ productId: 'prod_1', email: 'bob@example.com' })
    const status: OrderStatus = await till.waitUntilPaid(order.orderId, 'bob@example.com')
    export const urls: string[] = status.downloads.map(({ url }) => url)
    export const again = (error: unknown): boolean => error instanceof TillError && error.code === 'rate_limited'
    const orderId = order.orderId
    export const balances: number[] = (await api.request('GET /api/balance')).items.map(({ balance }) => balance)
    export const refund = await api.request('POST /api/orders/{orderId}/refunds', { params: { orderId }, body: { amount: 5 } })
    for await (const { email } of api.list('GET /api/orders', { query: { status: 'paid' } })) email.trim()
    import { createSeller } from 'till-client/seller'
    import { verifyWebhook } from 'till-client/webhooks'
    const seller = createSeller({ baseUrl: 'https://a.example', apiKey: 'till_live_x' })
    for await (const product of seller.products.list({ status: 'active' })) product.name.trim()
    const event = await verifyWebhook(new Headers(), '', 'whsec_x')
    export const paid: string = event.type === 'order.paid' ? event.data.order.email : event.type
    export const cents: number = event.type === 'refund.failed' ? event.data.refund.amount : 0
    for await (const { id } of seller.events('evt_1')) id.trim()
  `
  const wrong = [
    `await till.createOrder({ productId: 'prod_1', email: 'bob@example.com', price: 1 })`,
    `await till.createOrder({ productId: 'prod_1' })`,
    `export const cents: string = (await till.product('prod_1')).amount`,
    `export const gone = (await till.status('ord_1')).status === 'gone'`,
    `createTill({})`,
    `export const wrongData = (event: WebhookMessage) => event.type === 'product.published' && event.data.order`,
    `export const typo = (error: TillError) => error.code === 'rate_limitd'`,
    `await api.request('GET /api/nothing')`,
    `await api.request('GET /api/orders/{orderId}')`,
    `await api.request('GET /api/orders/{orderId}', { params: { productId: 'prod_1' } })`,
    `await api.request('POST /api/orders/{orderId}/refunds', { params: { orderId: 'ord_1' }, body: { cents: 5 } })`,
    `await api.request('GET /api/balance', { body: {} })`,
    `api.list('GET /api/balance')`,
    `api.list('GET /api/orders', { query: { status: 'payed' } })`,
  ]
  await fs.writeFile(path.join(folder, 'right.ts'), head + right)
  await fs.writeFile(path.join(folder, 'wrong.ts'), `${head}${wrong.join('\n')}\nexport { TillError }\n`)
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', '', '--lib', 'es2022,dom'] // oxfmt-ignore
  const { stdout } = await inFolder(process.execPath, [TSC, ...options, 'right.ts', 'wrong.ts']).catch((error) => error)
  const errors = [...String(stdout).matchAll(/^([^\s(]+)\((\d+),/gm)].map(([, file, line]) => `${file} ${line}`)
  assert.deepEqual([...new Set(errors)], wrong.map((_line, at) => `wrong.ts ${at + 6}`), stdout) // oxfmt-ignore
})

test('every sample of the documents compiles with the installed client', async () => {
  const names: string[] = []
  for (const document of [
    path.join(folder, 'node_modules/till-client/README.md'),
    path.join(ROOT, 'docs/integrate.md'),
  ]) {
    const text = await fs.readFile(document, 'utf8')
    // a later sample goes on with the names of the ones before it
    const samples = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
    assert(samples.length > 0, document)
    names.push(`samples-${names.length}.ts`)
    await fs.writeFile(path.join(folder, names.at(-1)!), `${samples.join('\n')}\nexport {}\n`)
  }
  const types = ['--types', 'node', '--typeRoots', path.join(ROOT, 'node_modules/@types')]
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', ...types] // oxfmt-ignore
  const { stdout } = await inFolder(process.execPath, [TSC, ...options, ...names]).catch((error) => error)
  assert.equal(stdout, '')
})

test('the checkout adds three kilobytes to a page at the most', async (t) => {
  await fs.writeFile(path.join(folder, 'page.js'), `export { createTill } from 'till-client'`)
  const entry = path.join(folder, 'page.js')
  const built = await build({ root: folder, configFile: false, logLevel: 'silent', build: { write: false, lib: { entry, formats: ['es'] } } }) // oxfmt-ignore
  const [{ output }] = built as unknown as [{ output: [{ code: string }] }]
  const bytes = gzipSync(output[0].code).length
  t.diagnostic(`till-client in a page: ${bytes} bytes gzipped`)
  assert(bytes <= MOST_GZIPPED_BYTES, `${bytes} bytes`)
})

test('the client needs nothing that only Node has: it runs where the globals are those of every worker', async () => {
  const entry = path.join(folder, 'worker.js')
  await fs.writeFile(entry, WORKER)
  const built = await build({ root: folder, configFile: false, logLevel: 'silent', build: { write: false, lib: { entry, formats: ['iife'], name: 'worker' } } }) // oxfmt-ignore
  const [{ output }] = built as unknown as [{ output: [{ code: string }] }]
  const worker = vm.createContext(web(), { codeGeneration: { strings: false, wasm: false } })
  const shop = shared()
  vm.runInContext(output[0].code, worker)
  const secret = `whsec_${Buffer.from('a secret of a test, and long enough').toString('base64')}`
  const headers = signedHeaders(secret, '{"type":"order.paid"}')
  const said = await worker['worker'].run(shop.url, await shop.product(), headers, '{"type":"order.paid"}', secret)
  assert.deepEqual(JSON.parse(said), { amount: 1900, type: 'order.paid', refused: 'invalid_signature', items: 'invalid_key', unreachable: 'timeout' }) // oxfmt-ignore
})

test('the client’s types match the routes', async () => {
  const { body } = await shared().call<Description>('GET', '/api/openapi.json')
  const written = await fs.readFile(CLIENT_TYPES, 'utf8')
  assert(written === (await clientTypes(body)), 'client/types.ts is old: npm run client-types')
})

test('a seller’s script refunds an order at the service itself, once', async () => {
  const shop = shared()
  const ann = await signedInAnn(shop)
  const { secret } = await makeKey(ann, [
    'orders:read',
    'refunds:read',
    'refunds:write',
    'products:write',
    'webhooks:read',
  ])
  const seller = createSeller({ baseUrl: shop.url, apiKey: secret })
  const { orderId } = await shop.paid()
  const idempotencyKey = 'once-and-no-more-than-once'
  const [one, again] = await Promise.all([1, 2].map(() => seller.orders.refund(orderId, { amount: 500 }, { idempotencyKey }))) // oxfmt-ignore
  assert.equal(one!.id, again!.id)
  assert.deepEqual((await seller.orders.refunds(orderId)).map(({ amount }) => amount), [500]) // oxfmt-ignore
  assert.equal(await codeOf(seller.orders.refund(orderId, { amount: 5000 })), 'refund_too_large')
  for await (const order of seller.orders.list({ status: 'partially_refunded' }))
    assert.equal((await seller.request('GET /api/orders/{orderId}', { params: { orderId: order.orderId } })).orderId, order.orderId) // oxfmt-ignore
  const happened = await eventually(
    () => Array.fromAsync(seller.events()),
    (events) => events.some(({ type }) => type === 'order.partially_refunded'),
  )
  assert.deepEqual(await Array.fromAsync(seller.events(happened.at(-1)!.id)), [])
  assert.equal((await seller.products.create({ name: 'By a program', amount: 500, currency: 'USD' })).status, 'draft')
  assert.equal(await codeOf(seller.request('GET /api/balance')), 'insufficient_scope')
  const stranger = createSeller({ baseUrl: shop.url, apiKey: `${secret.slice(0, -1)}_` })
  assert.equal(await codeOf(stranger.orders.refunds(orderId)), 'invalid_key')
})

const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => {
      assert(error instanceof TillError, String(error))
      return error.code
    },
  )
