// npm run client-types    writes client/types.ts from the service's OpenAPI description
import fs from 'node:fs/promises'
import path from 'node:path'
import { format } from 'oxfmt'
import type { Description, Operation } from '../src/pages/api/description.ts'
import type { JsonSchema } from '../src/pages/api/examples.ts'
import { globalSetup, globalTeardown } from '../test/support/global.ts'
import { startTestShop } from '../test/support/shop.ts'

const ROOT = path.resolve(import.meta.dirname, '..')
export const CLIENT_TYPES = path.join(ROOT, 'client', 'types.ts')
/** For our own pages, whose cookies and origin no other program has, and for the operator. */
const NOT_OURS = new Set(['Agents', 'Sign-in', 'Library', 'Charges', 'Operator', 'Operation'])
/** They speak tus, which has clients of its own. */
const UPLOADS = / \/api\/uploads\b/
const KEY = 'idempotency-key'

interface Route {
  /** For example `GET /api/checkout/{orderId}/status`. */
  name: string
  operation: Operation
}

/** The client's types: the request and the response of each route for buyers and sellers, from the routes' schemas. */
export async function clientTypes({ paths, components }: Pick<Description, 'paths' | 'components'>): Promise<string> {
  const routes = Object.entries(paths)
    .flatMap(([address, methods]) =>
      Object.entries(methods).map(([method, operation]): Route => ({
        name: `${method.toUpperCase()} ${address}`,
        operation,
      })),
    )
    .filter(
      ({ name, operation }) =>
        !UPLOADS.test(name) && !operation.tags?.some((tag) => NOT_OURS.has(tag)) && isRead(operation),
    ) // oxfmt-ignore
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const keyed = routes.filter(({ operation }) => operation.parameters?.some(({ name }) => name === KEY))
  const problem = components.schemas!['Problem'] as { properties: { code: { 'x-extensible-enum': string[] } } }
  const lines = [
    '// Written by `npm run client-types` from the schemas of the routes.',
    '',
    ...namedTypes(routes, components.schemas as Record<string, JsonSchema>),
    '/** A body that the client sends as it is. Only Node takes iterables itself, so the client makes a stream of them. */',
    'export type Bytes = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>',
    '',
    'export interface Api {',
    ...routes.map(({ name, operation }) => `${comment(operation.summary)}${quoted(name)}: ${typeOfRoute(operation)}`),
    '}',
    '',
    '/** The routes that make one thing for one idempotency key, however often the request comes. */',
    `export const KEYED: ReadonlySet<string> = new Set([${keyed.map(({ name }) => quoted(name)).join(', ')}])`,
    '',
    '/** Why the service refuses. */',
    `export type RefusalCode = ${problem.properties.code['x-extensible-enum'].map(quoted).join(' | ')}`,
  ]
  const style = JSON.parse(await fs.readFile(path.join(ROOT, '.oxfmtrc.json'), 'utf8'))
  const { code, errors } = await format('types.ts', lines.join('\n'), style)
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'))
  return code
}

/** Whether the client reads the answer. Files and pictures have links of their own. */
const isRead = ({ responses }: Operation): boolean =>
  Object.entries(responses).some(
    ([status, { content }]) => status.startsWith('2') && (!content || 'application/json' in content),
  )

/** An interface for each named schema that these routes use, directly or in another. */
function namedTypes(routes: readonly Route[], schemas: Record<string, JsonSchema>): string[] {
  const used = new Set<string>()
  const collect = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name === 'Problem' || used.has(name!)) continue
      used.add(name!)
      collect(schemas[name!])
    }
  }
  for (const { operation } of routes) collect(operation)
  return [...used].sort().flatMap((name) => [`export interface ${name} ${typeOf(schemas[name]!)}`, ''])
}

function typeOfRoute({ parameters = [], requestBody, responses }: Operation): string {
  const given = (name: string, place: string): string => {
    const mine = parameters.filter((one) => one.in === place && one.name !== KEY)
    if (mine.length === 0) return ''
    const properties = mine.map((one) => [one.name, { ...one.schema, ...(one.description && { description: one.description }) }]) // oxfmt-ignore
    const required = mine.filter((one) => one.required).map((one) => one.name)
    return `${name}: ${typeOf({ type: 'object', properties: Object.fromEntries(properties), required })}`
  }
  const body = requestBody?.content['application/json']?.schema as JsonSchema | undefined
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))
  const json = answer?.[1].content?.['application/json']?.schema as JsonSchema | undefined
  const members = [
    given('params', 'path'),
    given('query', 'query'),
    given('headers', 'header'),
    requestBody ? `body: ${body ? typeOf(body) : 'Bytes'}` : '',
    `answer: ${json && json.type !== 'null' ? typeOf(json) : 'undefined'}`,
  ]
  return `{ ${members.filter(Boolean).join('\n')} }`
}

function typeOf(schema: JsonSchema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)!
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.type === 'array') return `(${typeOf(schema.items ?? {})})[]`
  if (schema.type === 'object') return typeOfObject(schema)
  return { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }[schema.type ?? ''] ?? 'unknown' // oxfmt-ignore
}

function typeOfObject({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const members = Object.entries(properties)
  if (members.length === 0)
    return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : additionalProperties === true ? 'unknown' : 'never'}>`
  return `{\n${members
    .map(([name, member]) => {
      const key = /^[a-z]\w*$/i.test(name) ? name : quoted(name)
      return `${comment(member.description)}${key}${required.includes(name) ? '' : '?'}: ${typeOf(member)}`
    })
    .join('\n')}\n}`
}

const literal = (value: unknown): string => (typeof value === 'string' ? quoted(value) : String(value))
const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
const comment = (text: string | undefined): string => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '')

if (import.meta.main) {
  const ends: (() => unknown)[] = [globalTeardown]
  try {
    await globalSetup()
    const shop = await startTestShop({ after: (end) => ends.push(end) })
    const { body } = await shop.call<Description>('GET', '/api/openapi.json')
    await fs.writeFile(CLIENT_TYPES, await clientTypes(body))
    console.log(`${path.relative(ROOT, CLIENT_TYPES)} is written.`)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}
