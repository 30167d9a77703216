import { STATUS_CODES } from 'node:http'
import { PROBLEM_CODES, type ProblemCode, Refusal, isProblemCode, problemOf, statusOf } from '../../kit/errors.ts'
import type { Server } from '../../kit/http.ts'
import { NO_SUCH } from '../../kit/refusals.ts'
import { Problem } from '../../kit/schema.ts'
import { type JsonSchema, exampleOf } from './examples.ts'

export interface Media {
  schema?: JsonSchema | { $ref: string }
  example?: unknown
  examples?: Record<string, { $ref: string } | { value: unknown }>
}
export interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  security?: object[]
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: JsonSchema; example?: unknown }[] // oxfmt-ignore
  requestBody?: { content: Record<string, Media> }
  'x-unmetered'?: boolean
  'x-any-origin'?: boolean
  'x-bytes'?: boolean
  responses: Record<string, { description?: string; headers?: object; content?: Record<string, Media> }>
}
export interface Description {
  info: { title: string; description?: string }
  tags?: { name: string; description?: string }[]
  components: Record<string, Record<string, unknown>>
  paths: Record<string, Record<string, Operation>>
}

/** The statuses with a Retry-After header. */
const RETRY_LATER = new Set([429, 503])
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } }
const KEY_CODES: ProblemCode[] = ['invalid_key', 'key_expired', 'key_revoked', 'insufficient_scope', 'key_bound_to_products', 'rate_limited'] // oxfmt-ignore
const UNSAFE = /^(?:post|put|patch|delete)$/

/**
 * Describes all routes. It adds the parts that routes have in common, so that no route repeats them: shared refusals, their media type,
 * and examples.
 */
export function describeApi(server: Server): Description {
  // the library caches its object, and a second call must not find our additions in it
  const description = structuredClone(server.swagger()) as unknown as Description
  const listed = new Set<ProblemCode>()
  for (const [path, methods] of Object.entries(description.paths)) {
    const around = path.split('/').findLast((part) => part && !part.startsWith('{') && part !== 'public') ?? ''
    for (const [method, operation] of Object.entries(methods)) {
      // the library adds `-head` to a HEAD route, in case a GET route has the same name
      operation.operationId = operation.operationId.replace(/-head$/, '')
      addBytes(operation, method)
      describeIds(operation)
      addExamples(operation, around)
      const codes = refusalsOf(operation, UNSAFE.test(method) && !operation['x-any-origin'])
      for (const code of codes) listed.add(code)
      operation.responses = withRefusals(operation, codes)
      for (const name of ['x-unmetered', 'x-any-origin', 'x-bytes'] as const) delete operation[name]
    }
  }
  addTags(description)
  description.components.schemas = { Problem: problemSchema() }
  description.components.examples = Object.fromEntries([...listed].sort().map((code) => [code, problemExample(code)]))
  return description
}

/** Lists tags that only routes name after the described ones. */
function addTags({ tags = [], paths }: Description): void {
  const used = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((one) => one.tags ?? []))
  for (const name of new Set(used)) if (!tags.some((tag) => tag.name === name)) tags.push({ name })
}

/** A streamed body has no schema of its own. */
function addBytes(operation: Operation, method: string): void {
  if (operation['x-bytes'] && (method === 'post' || method === 'put' || method === 'patch'))
    operation.requestBody ??= { content: { 'application/octet-stream': { schema: {} } } }
}

/** An id in an address needs no words of its own at each route. */
function describeIds({ parameters = [] }: Operation): void {
  for (const one of parameters)
    if (one.in === 'path' && one.name.endsWith('Id')) one.description ??= `The id of the ${one.name.slice(0, -2)}.`
}

function addExamples({ parameters = [], requestBody, responses }: Operation, around: string): void {
  for (const one of parameters) {
    const example = exampleOf(one.schema, around, false, one.name === 'idempotency-key' ? 'idempotencyKey' : one.name)
    if (one.in !== 'query' || one.required) one.example = example
  }
  const body = requestBody?.content['application/json']
  addExample(body, around, false)
  for (const [status, answer] of Object.entries(responses)) {
    const json = answer.content?.['application/json']
    if (status.startsWith('2')) addExample(json, around, true)
    if (answer.description === 'Default Response') answer.description = `${STATUS_CODES[status] ?? 'The answer'}.`
  }
}

/** Adds an example, unless the library has taken one from the schema. */
function addExample(media: Media | undefined, around: string, whole: boolean): void {
  if (media?.schema && !media.examples) media.example ??= exampleOf(media.schema as JsonSchema, around, whole)
}

/** The refusals that the route names in its responses or its description, and those that all such routes have. */
function refusalsOf(operation: Operation, isOurPagesOnly: boolean): ProblemCode[] {
  const { description = '', parameters = [], requestBody, security, responses, tags = [] } = operation
  const own = Object.values(responses).flatMap(({ content = {} }) =>
    Object.values(content).flatMap(
      ({ schema }) => (schema as { 'x-codes'?: ProblemCode[] } | undefined)?.['x-codes'] ?? [],
    ),
  )
  const named = [...description.matchAll(/`(\w+)`/g)].map(([, word]) => word!).filter(isProblemCode)
  const kinds: [boolean | undefined, ProblemCode[]][] = [
    ['4XX' in responses, ['card_number_refused', 'misdirected_request']],
    ['4XX' in responses && !operation['x-unmetered'], ['rate_limited']],
    ['4XX' in responses && (parameters.length > 0 || requestBody !== undefined), ['validation_failed']],
    [requestBody?.content['application/json'] !== undefined, ['malformed_body', 'unsupported_media_type', 'body_too_large']], // oxfmt-ignore
    [tags.includes('Operator'), ['not_found', 'other_account']],
    [security !== undefined, ['key_and_session']],
    [hasWay(security, 'session'), ['not_signed_in', 'session_conflict', 'other_account']],
    [hasWay(security, 'session') && !hasWay(security, 'apiKey'), ['key_not_accepted']],
    [hasWay(security, 'apiKey'), KEY_CODES],
    [isOurPagesOnly, ['origin_not_allowed']],
    ['5XX' in responses, ['internal_error', 'database_unavailable']],
  ]
  const ids = parameters.flatMap(({ in: place, name }) => (place === 'path' ? (NO_SUCH[name] ?? []) : []))
  return [...new Set([...own, ...named, ...ids, ...kinds.flatMap(([is, codes]) => (is ? codes : []))])]
}

const hasWay = (security: object[] | undefined, way: string): boolean => security?.some((one) => way in one) === true

function withRefusals({ responses }: Operation, codes: readonly ProblemCode[]): Operation['responses'] {
  const schema = { $ref: '#/components/schemas/Problem' }
  const answers = Object.entries(responses).map(([status, answer]): [string, Operation['responses'][string]] =>
    /^[45]/.test(status)
      ? [status, { ...answer, content: { 'application/problem+json': { schema } } }]
      : [status, answer],
  )
  const statuses = [...new Set(codes.map(statusOf))].sort((a, b) => a - b)
  const refused = statuses.map((status): [string, Operation['responses'][string]] => {
    const mine = codes.filter((code) => statusOf(code) === status)
    const examples = Object.fromEntries(mine.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
    return [
      String(status),
      {
        description: mine.map((code) => `\`${code}\``).join(', '),
        ...(RETRY_LATER.has(status) && { headers: RETRY_AFTER }),
        content: { 'application/problem+json': { schema, examples } },
      },
    ]
  })
  return Object.fromEntries([...answers, ...refused])
}

/** Not an enum: a later version adds codes, and a client that holds the list to be complete would break. */
function problemSchema(): object {
  const { properties } = Problem
  const code = { ...properties.code, 'x-extensible-enum': [...PROBLEM_CODES].sort() }
  return { ...Problem, properties: { ...properties, code } }
}

function problemExample(code: ProblemCode): object {
  const fields = code === 'validation_failed' ? [{ path: 'body.email', message: 'must match the pattern of an address' }] : undefined // oxfmt-ignore
  const problem = problemOf(new Refusal(code, '', { ...(fields && { fields }) }), 'aY1vR0uJmQ2sT7xW')
  return { summary: problem.title, value: { ...problem, detail: `${problem.title}.` } }
}
