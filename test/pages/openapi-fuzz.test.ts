import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import Schema from 'typebox/schema'
import type { Description, Operation } from '../../src/pages/api/description.ts'
import type { JsonSchema } from '../../src/pages/api/examples.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { wholeSchema } from '../support/operations.ts'
import { type Browser, newBrowser } from '../support/seller.ts'
import { type Answer, sharedShop } from '../support/shop.ts'

// Requests made from the API's own description, right and wrong, by chance. Every answer must stand in the description:
// the status, the media type, the shape of the body, and the code of a refusal.

const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
const REQUESTS_EACH = 15
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

interface Route {
  method: string
  path: string
  operation: Operation
}
interface Request {
  address: string
  body: string | undefined
  headers: Record<string, string | undefined>
}

const shared = sharedShop({ env: { OPERATORS: 'ann@shop.test' } })
let api: Description
let routes: Route[]
let ann: Browser
/** Ids of things that exist, by the name of the parameter. */
let known: Record<string, string>

/** The description, a signed-in seller who is an operator too, and one thing of each kind. The first test makes them. */
async function prepare(): Promise<void> {
  if (api) return
  const shop = shared()
  api = (await shop.call<Description>('GET', '/api/openapi.json')).body
  routes = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const productId = await shop.product()
  const { orderId } = await shop.paid({ productId })
  const { files } = (await ann.call('GET', `/api/products/${productId}`)).body
  const { body: endpoint } = await ann.call('POST', '/api/webhook-endpoints', {
    url: 'http://127.0.0.1:9/',
    events: ['*'],
  })
  const { body: test } = await ann.call('POST', `/api/webhook-endpoints/${endpoint.id}/test`, {})
  const { body: discount } = await ann.call('POST', '/api/discounts', { code: 'SPRING', percentOff: 20 })
  known = {
    productId,
    orderId,
    fileId: files[0].id,
    discountId: discount.id,
    endpointId: endpoint.id,
    eventId: test.eventIds[0],
    processor: 'sandbox',
    sellerId: await ensureSeller(shop.db, { name: 'Bob', email: 'bob@shop.test' }),
  }
}

test(`every response to any request is in the description (seed ${SEED})`, async () => {
  await prepare()
  const problems: string[] = []
  for (const route of routes) {
    if (!(await ann.isSignedIn())) await ann.signInByCode('ann@shop.test')
    const requests = fc.sample(requestsFor(route), { seed: SEED, numRuns: REQUESTS_EACH })
    for (const { address, body, headers } of requests) {
      const answer = await ann.call(route.method.toUpperCase(), address, body, headers)
      const problem = problemOf(route, answer)
      if (problem)
        problems.push(`${route.method} ${route.path}: ${problem}\n    ${address} ${body?.slice(0, 300) ?? ''}`)
    }
  }
  assert.equal(
    problems.length,
    0,
    `${problems.length} answers are not in the description:\n${[...new Set(problems)].slice(0, 40).join('\n')}`,
  )
})

test('a method that the description does not list is refused, and says which ones there are', async () => {
  await prepare()
  const shop = shared()
  // the operators' routes answer nobody else: test/operator/hidden.test.ts tries them with every method
  const open = Object.entries(api.paths).filter(([path]) => !path.startsWith('/api/operator/'))
  for (const [path, methods] of open) {
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? 'x')
    for (const method of [...METHODS, 'propfind', 'search', 'query', 'lock'].filter((one) => !(one in methods))) {
      const answer = await shop.call(method.toUpperCase(), address)
      assert.equal(answer.status, 405, `${method} ${address} answered ${answer.status}`)
      const allowed = answer.headers.get('allow')?.toLowerCase().split(', ') ?? []
      const listed = Object.keys(methods)
      assert.deepEqual(listed.filter((one) => !allowed.includes(one)), [], `${path} allows ${allowed.join()}`) // oxfmt-ignore
      assert.deepEqual(allowed.filter((one) => !listed.includes(one) && one !== 'head' && one !== 'options'), [], `${path} lists ${listed.join()}`) // oxfmt-ignore
    }
  }
})

/** The parts of the response that the description of its route does not have. */
function problemOf({ method, operation }: Route, { status, body, headers }: Answer): string | undefined {
  const listed = operation.responses[status] ?? operation.responses[`${String(status)[0]}XX`]
  if (!listed) return `answered ${status} (${body?.code ?? ''}), which is not listed`
  const type = headers.get('content-type')?.split(';')[0]
  const content = listed.content ?? {}
  // an answer to HEAD has no body
  if (type === undefined || method === 'head') return undefined
  const media = content[type] ?? content['*/*']
  if (!media)
    return Object.keys(content).length > 0 ? `${status} came as ${type}, not ${Object.keys(content).join()}` : undefined
  if (type === 'application/problem+json') {
    const codes = Object.keys(media.examples ?? {})
    return codes.includes(body.code) ? undefined : `${status} with the code ${body.code}, not one of ${codes.join()}`
  }
  if (type !== 'application/json' || !media.schema) return undefined
  const schema = wholeSchema(api, media.schema) as never
  if (Schema.Check(schema, body)) return undefined
  return `${status} with another body: ${JSON.stringify(Schema.Errors(schema, body)).slice(0, 500)}`
}

/** Requests of a route: mostly as its description asks, with something wrong in it now and then. */
function requestsFor({ path, operation }: Route): fc.Arbitrary<Request> {
  const parameters = operation.parameters ?? []
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const inPath = fc.record(Object.fromEntries(names.map((name) => [name, pathValue(name)])))
  const query = parameters.filter((one) => one.in === 'query')
  const inQuery = fc.record(Object.fromEntries(query.map((one) => [one.name, mostly(valueOf(one.schema), text)])), {
    requiredKeys: query.filter((one) => one.required).map((one) => one.name),
  })
  const extra = parameters.filter((one) => one.in === 'header')
  const inHeader = fc.record(
    Object.fromEntries(extra.map((one) => [one.name, mostly(valueOf(one.schema), headerText)])),
    {
      requiredKeys: [],
    },
  )
  return fc.record({ inPath, inQuery, inHeader, body: bodyOf(operation), session: often }).map((made) => {
    const question = new URLSearchParams(
      Object.entries(made.inQuery).map(([name, value]): [string, string] => [name, asText(value)]),
    )
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(made.inPath[name]!))
    const headers = Object.fromEntries(
      Object.entries(made.inHeader).map(([name, value]) => [name, asHeader(asText(value))]),
    )
    return {
      address: question.size > 0 ? `${address}?${question}` : address,
      body: made.body?.text,
      headers: {
        ...headers,
        ...(made.body && { 'content-type': made.body.type }),
        // without a session the answer is another
        ...(!made.session && { cookie: '' }),
      },
    }
  })
}

function bodyOf({ requestBody }: Operation): fc.Arbitrary<{ type: string; text: string } | undefined> {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (!type) return fc.constant(undefined)
  const schema = wholeSchema(api, media?.schema ?? {}) as JsonSchema
  const right = valueOf(schema).map((value) => JSON.stringify(value))
  const wrong = fc.oneof(fc.json(), fc.string(), fc.constant('{'), fc.constant(''))
  return fc.record({
    type: mostly(fc.constant(type), fc.constantFrom('text/plain', 'application/xml')),
    text: mostly(right, wrong),
  })
}

const often = fc.integer({ min: 0, max: 9 }).map((n) => n > 0)
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('0', '-1', 'null', '1e309', '\u0000'),
)
const headerText = fc.stringMatching(/^[\x21-\x7e]{0,300}$/)
const mostly = <T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: wrong })
/** An object by chance can have a `toString` that is no function. */
const asText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))
/** A header that can be sent at all. */
const asHeader = (value: string): string => value.replaceAll(/[^\x20-\x7e]/g, '').trim()

const pathValue = (name: string): fc.Arbitrary<string> => {
  const id = known[name]
  const others = fc
    .oneof(text, fc.constantFrom('x', `ord_${'0'.repeat(26)}`, `prod_${'0'.repeat(26)}`))
    .filter((one) => one !== '' && one !== '.' && one !== '..')
  return id === undefined
    ? others
    : fc.oneof({ weight: 4, arbitrary: fc.constant(id) }, { weight: 1, arbitrary: others })
}

/** Values that a schema allows, and one in seven of them replaced by another. */
function valueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valueOf))
  switch (schema.type) {
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, one]) => [
            name,
            mostly(member(name, one), fc.jsonValue()),
          ]),
        ),
        { requiredKeys: schema.required ?? [] },
      )
    case 'array':
      return fc.array(valueOf(schema.items ?? {}), { maxLength: schema.maxItems ?? 3 })
    case 'integer':
    case 'number':
      return fc.integer({ min: schema.minimum ?? -1000, max: (schema.minimum ?? 0) + 100_000 })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return stringOf(schema)
    default:
      return fc.jsonValue()
  }
}

/** Some fields need a value that fits the existing data. */
function member(name: string, schema: JsonSchema): fc.Arbitrary<unknown> {
  const fits = name === 'email' ? 'bob@example.com' : known[name]
  return fits === undefined ? valueOf(schema) : mostly(fc.constant<unknown>(fits), valueOf(schema))
}

function stringOf({ pattern, minLength = 0, maxLength = 60 }: JsonSchema): fc.Arbitrary<string> {
  if (pattern !== undefined) {
    try {
      return fc.stringMatching(new RegExp(pattern, 'u'))
    } catch {
      // the library makes no texts for patterns that look ahead
    }
  }
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 60) })
}
