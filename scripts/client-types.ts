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
const CLIENT = ['checkout.ts', 'seller.ts'].map((file) => path.join(ROOT, 'client', file))

interface Route {
  /** For example `GET /api/checkout/{}/status`. The braces are empty, so that a parameter can be renamed. */
  name: string
  operation: Operation
}

/** The routes that the client names. */
export async function namedRoutes(): Promise<string[]> {
  const texts = await Promise.all(CLIENT.map((file) => fs.readFile(file, 'utf8')))
  const names = texts.flatMap((text) => [...text.matchAll(/'([A-Z]+ \/api\/[^']+)'/g)].map(([, name]) => name!))
  return [...new Set(names)].sort()
}

/** The client's types: the request and the response of each of those routes, from the routes' schemas. */
export async function clientTypes({ paths, components }: Pick<Description, 'paths' | 'components'>): Promise<string> {
  const called = await namedRoutes()
  const routes = Object.entries(paths)
    .flatMap(([address, methods]) =>
      Object.entries(methods).map(([method, operation]): Route => ({ name: nameOf(method, address), operation })),
    )
    .filter(({ name }) => called.includes(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const codes = routes.flatMap(({ operation }) => codesOf(operation))
  const lines = [
    '// Written by `npm run client-types` from the schemas of the routes.',
    '',
    ...namedTypes(routes, components.schemas as Record<string, JsonSchema>),
    'export interface Api {',
    ...routes.map(({ name, operation }) => `${comment(operation.summary)}${quoted(name)}: ${typeOfRoute(operation)}`),
    '}',
    '',
    '/** Why the service refuses. */',
    `export type RefusalCode = ${[...new Set(codes)].sort().map(quoted).join(' | ')}`,
  ]
  const style = JSON.parse(await fs.readFile(path.join(ROOT, '.oxfmtrc.json'), 'utf8'))
  const { code, errors } = await format('types.ts', lines.join('\n'), style)
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'))
  return code
}

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

export const nameOf = (method: string, address: string) =>
  `${method.toUpperCase()} ${address.replaceAll(/\{\w+\}/g, '{}')}`

function typeOfRoute({ parameters = [], requestBody, responses }: Operation): string {
  const query = parameters.filter((one) => one.in === 'query')
  const inQuery: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(query.map((one) => [one.name, { ...one.schema, ...(one.description && { description: one.description }) }])), // oxfmt-ignore
    required: query.filter((one) => one.required).map((one) => one.name),
  }
  const body = requestBody && (requestBody.content['application/json']?.schema as JsonSchema | undefined)
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))
  const json = answer?.[1].content?.['application/json']?.schema as JsonSchema | undefined
  return `{
    query: ${typeOf(inQuery)}
    body: ${requestBody ? (body ? typeOf(body) : 'unknown') : 'undefined'}
    answer: ${json && json.type !== 'null' ? typeOf(json) : 'undefined'}
  }`
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
    return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'never'}>`
  return `{\n${members
    .map(([name, member]) => {
      const key = /^[a-z]\w*$/i.test(name) ? name : quoted(name)
      return `${comment(member.description)}${key}${required.includes(name) ? '' : '?'}: ${typeOf(member)}`
    })
    .join('\n')}\n}`
}

const codesOf = ({ responses }: Operation): string[] =>
  Object.values(responses).flatMap(({ content = {} }) =>
    Object.keys(content['application/problem+json']?.examples ?? {}),
  )
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
