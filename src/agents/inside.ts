import type { FastifyRequest } from 'fastify'
import assert from 'node:assert/strict'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { type Description, type Operation, describeApi } from '../pages/api/description.ts'
import type { JsonSchema } from '../pages/api/examples.ts'

/** A route with its place. */
export interface KnownRoute extends Operation {
  method: string
  path: string
}

export interface Inner {
  status: number
  /** The answer is a problem (RFC 9457). */
  isRefused: boolean
  etag: string | undefined
  body: Record<string, unknown>
}

export type Arguments = Readonly<Record<string, unknown>>

/** The routes as the server itself calls them: with all checks, limits and refusals that a request from outside meets. */
export interface Inside {
  route(operationId: string): KnownRoute
  /**
   * Makes one request in the name of the caller, with the caller's own proof in `headers`. Refuses `shutting_down` when the service ends:
   * then no request was made.
   */
  call(
    request: FastifyRequest,
    asked: { method: string; path: string; body?: unknown; headers: Record<string, string | undefined> },
  ): Promise<Inner>
}

export function insideOf(server: Server, baseUrl: string): Inside {
  let routes: Map<string, KnownRoute> | undefined
  // with the first request, when all routes are registered
  const known = () => (routes ??= byOperationId(describeApi(server)))
  return {
    route(operationId) {
      const route = known().get(operationId)
      assert(route, `there is no route ${operationId}`)
      return route
    },
    async call(request, { method, path, body, headers }) {
      const named = Object.entries(headers).filter((one): one is [string, string] => one[1] !== undefined)
      const answer = await server
        .inject({
          method: method as 'GET',
          url: path,
          headers: { host: new URL(baseUrl).host, accept: 'application/json', ...Object.fromEntries(named) },
          ...(body !== undefined && { payload: body as object }),
          remoteAddress: request.ip,
        })
        .catch(refuseWhenClosed)
      const text = answer.payload
      return {
        status: answer.statusCode,
        isRefused: answer.headers['content-type']?.startsWith('application/problem+json') === true,
        etag: answer.headers.etag,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      }
    },
  }
}

/** A server that closes ends the requests that it has, and takes no more, also not from itself. */
function refuseWhenClosed(error: unknown): never {
  if ((error as { code?: unknown }).code !== 'FST_ERR_REOPENED_CLOSE_SERVER') throw error
  throw new Refusal('shutting_down', 'The service is ending. Nothing was done.', { retryAfterSeconds: 5 })
}

const byOperationId = ({ paths }: Description): Map<string, KnownRoute> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, KnownRoute] => [
        operation.operationId,
        { ...operation, method: method.toUpperCase(), path },
      ]),
    ),
  )

const bodyOf = ({ requestBody }: KnownRoute): JsonSchema | undefined =>
  requestBody?.content['application/json']?.schema as JsonSchema | undefined

/** The arguments of a tool: the values that the route takes in its address, its query and its body, side by side. */
export function inputSchema(route: KnownRoute, without: readonly string[] = []): JsonSchema & { type: 'object' } {
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  const add = (name: string, schema: JsonSchema, must: boolean): void => {
    if (without.includes(name)) return
    assert(!(name in properties), `${route.operationId} takes two members with the name ${name}`)
    properties[name] = schema
    if (must) required.push(name)
  }
  for (const { in: place, name, schema, description, required: must } of route.parameters ?? [])
    if (place !== 'header') add(name, { ...schema, ...(description && { description }) }, must === true)
  const body = bodyOf(route)
  for (const [name, schema] of Object.entries(body?.properties ?? {}))
    add(name, schema, body?.required?.includes(name) === true)
  return { type: 'object', properties, required, additionalProperties: false }
}

/** The request that the arguments of a tool mean. Refuses `validation_failed` when an id is missing. */
export function requestOf(route: KnownRoute, given: Arguments): { method: string; path: string; body?: unknown } {
  const inPath = (name: string): string => {
    const value = given[name]
    // others than `.` and `..` are quoted, and those would lead to another route
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw wrongArgument(name, 'is not an id')
    return encodeURIComponent(value)
  }
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPath(name))
  const query = new URLSearchParams()
  for (const { in: place, name } of route.parameters ?? [])
    if (place === 'query' && given[name] !== undefined) query.set(name, String(given[name]))
  const body = bodyOf(route)
  const inBody = Object.entries(given).filter(([name]) => Object.hasOwn(body?.properties ?? {}, name))
  return {
    method: route.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    ...(body && { body: Object.fromEntries(inBody) }),
  }
}

export const wrongArgument = (path: string, message: string): Refusal =>
  new Refusal('validation_failed', `The argument \`${path}\` ${message}.`, { fields: [{ path, message }] })
