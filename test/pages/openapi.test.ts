import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import Schema from 'typebox/schema'
import type { Description, Media, Operation } from '../../src/pages/api/description.ts'
import { type JsonSchema, exampleOf } from '../../src/pages/api/examples.ts'
import { NAMES } from '../../src/pages/api/named-schemas.ts'
import { wholeSchema } from '../support/operations.ts'
import { newBrowser } from '../support/seller.ts'
import { sharedShop } from '../support/shop.ts'

const shared = sharedShop()

/** Rules for integrators and generators of clients, beyond the linter's recommended ones. */
const LINTED = {
  'parameter-description': 'error',
  'operation-parameters-unique': 'error',
  'operation-4xx-problem-details-rfc7807': 'error',
  'operation-singular-tag': 'error',
  'operation-tag-defined': 'error',
  'tag-description': 'error',
  'no-duplicated-tag-names': 'error',
  'no-unused-components': 'error',
  'component-name-unique': 'error',
  'no-invalid-schema-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-media-type-examples': 'error',
  'array-parameter-serialization': 'error',
  'paths-kebab-case': 'error',
  'no-unsafe-markdown': 'error',
} as const
/** Probes refuse with 503 only, and the identity provider's routes always redirect. */
const EXCEPTIONS = [
  'operation-4xx-response: #/paths/~1healthz/',
  'operation-4xx-response: #/paths/~1readyz/',
  'operation-2xx-response: #/paths/~1api~1auth~1idp/',
  'operation-2xx-response: #/paths/~1api~1auth~1idp~1callback/',
]

interface Route {
  method: string
  path: string
  operation: Operation
}

async function described(): Promise<{ api: Description; routes: Route[] }> {
  const { body: api } = await shared().call<Description>('GET', '/api/openapi.json')
  const routes = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  return { api, routes }
}

/** Every schema, example and reference in a document, wherever it stands. */
function* everything(value: unknown, path = '#'): Generator<{ path: string; name: string; value: unknown }> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    yield { path: `${path}/${name}`, name, value: member }
    yield* everything(member, `${path}/${name}`)
  }
}

const codesOf = ({ responses }: Operation): [string, string][] =>
  Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.keys(content['application/problem+json']?.examples ?? {}).map((code): [string, string] => [status, code]),
  )

test('no description names a payment processor', async () => {
  // two values of payouts do, and programs read them
  for (const { path, name, value } of everything((await described()).api))
    if (name === 'description' || name === 'summary')
      assert.doesNotMatch(String(value), /\bstripe\b(?!-)|\brazorpay\b(?!-)/i, path)
})

test('every schema can be compiled, also those that wait for their first request', () => {
  assert(shared().compileSchemas() > 100)
})

test('a strict linter finds nothing in the description', async () => {
  const { body } = await shared().call<Description>('GET', '/api/openapi.json')
  const config = await createConfig({ extends: ['recommended-strict'], rules: LINTED })
  const found = await lintFromString({ source: JSON.stringify(body), config })
  const said = found.map(({ ruleId, message, location }) => `${ruleId}: ${location[0]?.pointer} ${message}`)
  assert.deepEqual(said.filter((one) => !EXCEPTIONS.some((known) => one.startsWith(known))), []) // oxfmt-ignore
  assert.deepEqual(EXCEPTIONS.filter((known) => !said.some((one) => one.startsWith(known))), [], 'an exception has no use any more') // oxfmt-ignore
})

test('every refusal of every operation is a problem, and an address has one description', async () => {
  const { api, routes } = await described()
  const addresses = Object.keys(api.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'))
  assert.equal(new Set(addresses).size, addresses.length, 'two addresses differ only in the name of a parameter')
  for (const { method, path, operation } of routes)
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (!/^[45]/.test(status)) continue
      assert.deepEqual(Object.keys(content ?? {}), ['application/problem+json'], `${method} ${path} ${status}`)
      assert.deepEqual(content!['application/problem+json']!.schema, { $ref: '#/components/schemas/Problem' })
    }
})

test('schemas that several routes return have a name, and every name is used', async () => {
  const { api } = await described()
  assert.deepEqual(Object.keys(api.components.schemas!).sort(), Object.keys(NAMES).sort())
  const places = new Map<string, string[]>()
  for (const { path, value } of everything(api.paths))
    if (typeof value === 'object' && value !== null && Object.keys((value as JsonSchema).properties ?? {}).length > 4) {
      const text = JSON.stringify(value)
      places.set(text, [...(places.get(text) ?? []), path])
    }
  assert.deepEqual([...places.values()].filter((paths) => paths.length > 1), []) // oxfmt-ignore
})

test('every body and every response has an example that fits its schema', async () => {
  const { api, routes } = await described()
  for (const { method, path, operation } of routes) {
    const medias: [string, Media][] = [
      ...Object.entries(operation.requestBody?.content ?? {}),
      ...Object.entries(operation.responses).filter(([status]) => status.startsWith('2')).flatMap(([, { content = {} }]) => Object.entries(content)), // oxfmt-ignore
    ]
    for (const [type, { schema, example: one, examples = {} }] of medias.filter(
      ([type]) => type === 'application/json',
    )) {
      const all = [one, ...Object.values(examples).map((each) => ('value' in each ? each.value : undefined))]
      const example = all.find((each) => each !== undefined)
      const at = `${method} ${path} ${type}: ${JSON.stringify(example)}`
      assert(example !== undefined && (one === undefined || Object.keys(examples).length === 0), at)
      const whole = wholeSchema(api, schema) as never
      assert(Schema.Check(whole, example), `${at} ${JSON.stringify(Schema.Errors(whole, example))}`)
    }
    for (const one of operation.parameters ?? [])
      if (one.example !== undefined) assert(Schema.Check(one.schema as never, one.example), `${method} ${path} ${one.name}`) // oxfmt-ignore
  }
  for (const [code, one] of Object.entries(api.components.examples!)) {
    const { value } = one as { value: { code: string; status: number } }
    assert.equal(value.code, code)
    assert(Schema.Check(api.components.schemas!.Problem as never, value), code)
  }
})

test('a route lists the refusals it gives, under the status they have', async () => {
  const shop = shared()
  const { api, routes } = await described()
  for (const { operation } of routes)
    for (const [status, code] of codesOf(operation))
      assert.equal(String((api.components.examples as any)[code].value.status), status, code)

  const listed = (method: string, path: string) =>
    codesOf(api.paths[path]![method]!).map(([status, code]) => `${status} ${code}`)
  const order = await shop.checkout()
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const at = (address: string) => `/api/${address}`
  const unknown = `ord_${'0'.repeat(26)}`
  const { clientSecret } = order
  const asked: [string, string, string, unknown][] = [
    ['get', at('products/{productId}/public'), at('products/x/public'), undefined],
    ['post', at('checkout'), at('checkout'), {}],
    ['post', at('checkout'), at('checkout'), '{'],
    ['post', at('checkout'), at('checkout'), { productId: 'x', email: 'bob@example.com' }],
    ['get', at('checkout/{orderId}/status'), at('checkout/x/status'), undefined],
    ['get', at('checkout/{orderId}/status'), at(`checkout/${unknown}/status`), undefined],
    ['post', at('checkout/{orderId}/receipt'), at(`checkout/${unknown}/receipt`), { email: 'bob@example.com' }],
    ['get', at('downloads/{token}'), at('downloads/x'), undefined],
    ['post', at('sandbox/confirm'), at('sandbox/confirm'), { clientSecret: 'x', rail: 'card' }],
    ['post', at('sandbox/confirm'), at('sandbox/confirm'), { clientSecret, rail: 'upi' }],
    ['post', at('sandbox/confirm'), at('sandbox/confirm'), { clientSecret, rail: 'card', scenario: 'decline' }],
    ['post', at('sandbox/refund'), at('sandbox/refund'), { clientSecret }],
    ['post', at('sandbox/dispute'), at('sandbox/dispute'), { clientSecret, outcome: 'open' }],
    ['post', at('orders/{orderId}/refunds'), at(`orders/${unknown}/refunds`), {}],
    ['post', at('orders/{orderId}/refunds'), at(`orders/${order.orderId}/refunds`), {}],
    ['post', at('webhooks/{processor}'), at('webhooks/sandbox'), {}],
    ['post', at('webhooks/{processor}'), at('webhooks/nobody'), {}],
    ['post', at('auth/otp/verify'), at('auth/otp/verify'), { email: 'ann@shop.test', code: '000000' }],
    ['post', at('auth/password'), at('auth/password'), { email: 'ann@shop.test', password: 'wrong' }],
    ['put', at('auth/password'), at('auth/password'), { newPassword: 'password1234' }],
    ['post', at('auth/identities'), at('auth/identities'), {}],
  ]
  for (const [method, path, address, body] of asked) {
    const answer = await ann.call(method.toUpperCase(), address, body)
    const said = `${answer.status} ${answer.body.code}`
    assert(listed(method, path).includes(said), `${method} ${address} answered ${said}, not one of ${listed(method, path).join()}`) // oxfmt-ignore
  }
  const product = { name: 'A draft', amount: 500, currency: 'USD' }
  const { id } = (await ann.call('POST', at('products'), product)).body
  const streamed: [string, string, string][] = [
    ['post', at('products/{productId}/files'), at(`products/${id}/files?name=a.txt`)],
    ['put', at('products/{productId}/image'), at(`products/${id}/image`)],
    ['put', at('brand/logo'), at('brand/logo')],
  ]
  for (const [method, path, address] of streamed) {
    const answer = await ann.call(method.toUpperCase(), address, 'bytes', { 'content-encoding': 'gzip' })
    assert.deepEqual([answer.status, answer.body.code], [415, 'unsupported_media_type'], address)
    assert(listed(method, path).includes('415 unsupported_media_type'), path)
  }
  for (const path of ['checkout', 'checkout/{orderId}/status', 'orders', 'charges/code', 'operator/sellers'].map(at))
    for (const method of Object.keys(api.paths[path]!))
      for (const said of ['429 rate_limited', '421 misdirected_request'])
        assert(listed(method, path).includes(said), `${method} ${path} lists no ${said}`)
  const notification = listed('post', at('webhooks/{processor}'))
  assert(notification.includes('421 misdirected_request') && !notification.includes('429 rate_limited'))
  assert(listed('get', at('auth/session')).includes('401 not_signed_in'))
  assert(!listed('get', at('checkout/{orderId}/status')).includes('401 not_signed_in'))
  assert(listed('delete', at('auth/session')).includes('403 origin_not_allowed'))
  assert(!listed('post', at('checkout')).includes('403 origin_not_allowed'))
})

test('docs/checkout.md has every refusal of the buyers’ routes, under its status', async () => {
  const text = fs.readFileSync(path.resolve(import.meta.dirname, '../../docs/checkout.md'), 'utf8')
  const rows = text.slice(text.indexOf('## Errors')).matchAll(/^\|((?: `\w+`,?)+) \|((?: \d+,?)+) \|/gm)
  const listed = new Set(
    [...rows].flatMap(([, codes = '', statuses = '']) => {
      const [all, each] = [codes.match(/\w+/g)!, statuses.match(/\d+/g)!]
      return all.map((code, at) => `${each[at] ?? each.at(-1)} ${code}`)
    }),
  )
  const tags = new Set(['Checkout', 'Sandbox', 'Charges', 'Library', 'Withdrawals', 'Invoices'])
  const ofBuyers = (await described()).routes.filter(
    ({ path, operation }) => operation.security === undefined && tags.has(operation.tags![0]!) && path !== '/api/outbox', // oxfmt-ignore
  )
  assert(ofBuyers.length > 20)
  const given = new Set(ofBuyers.flatMap(({ operation }) => codesOf(operation).map((one) => one.join(' '))))
  assert.deepEqual([...given].filter((one) => !listed.has(one)).sort(), [])
})

test('an example is made where a schema gives none, and never one that the schema refuses', () => {
  const text = { type: 'string' }
  assert.deepEqual(exampleOf({ ...text, examples: ['mine'] }, '', true, 'email'), 'mine')
  assert.equal(exampleOf({ ...text, pattern: '^dsc_[0-9a-z]{26}$' }, 'x', true, 'id'), 'dsc_01m7ykh6z4jeg0288a8xtt7qep')
  assert.match(String(exampleOf(text, 'products', true, 'id')), /^prod_/)
  // a name that means something else here
  assert.equal(exampleOf({ type: 'integer', minimum: 3 }, '', true, 'email'), 3)
  assert.equal(exampleOf({ ...text, maxLength: 2 }, '', true, 'currency'), 'te')
  assert.equal(exampleOf({ anyOf: [text, { type: 'null' }] }, '', true, 'paidAt'), '2026-11-21T08:28:29.147Z')
  const properties = { email: text, code: text }
  const both = { type: 'object', properties }
  assert.deepEqual(exampleOf({ ...both, required: ['email'] }, '', false), { email: 'bob@example.com' })
  assert.deepEqual(exampleOf(both, '', false), { email: 'bob@example.com' })
  assert.deepEqual(Object.keys(exampleOf(both, '', true) as object), ['email', 'code'])
})
