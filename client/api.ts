import { type CallOptions, TillError, type TillOptions, ask, mayBeDone, newKey, readJson } from './request.ts'
import { type Api, type Bytes, KEYED } from './types.ts'

export { TillError }
export type { CallOptions, TillErrorCode, TillOptions } from './request.ts'

/** The largest page that the service gives. */
const PAGE_SIZE = 100

/** A route as the service describes it: `GET /api/orders/{orderId}`. */
export type Route = keyof Api
/** The routes that give a list page by page. */
export type ListRoute = {
  [R in Route]: Api[R]['answer'] extends { items: unknown[]; nextCursor: string | null } ? R : never
}[Route]

/** The body of the route's answer. */
export type Answer<R extends Route> = Api[R]['answer']
/** The body that the route takes. */
export type Body<R extends Route> = Api[R] extends { body: infer Taken } ? Taken : never
/** One item of the route's list. */
export type Item<R extends Route> = Answer<R> extends { items: (infer One)[] } ? One : never
/** The filters of a list. The client reads page after page by itself. */
export type Search<R extends Route> = Api[R] extends { query: infer Query } ? Omit<Query, 'cursor'> : object

type Member<Name extends 'params' | 'query' | 'headers', R extends Route> =
  Api[R] extends Record<Name, infer Given>
    ? object extends Given
      ? { [N in Name]?: Given | undefined }
      : { [N in Name]: Given }
    : object
/** The required and the optional parts of a request to the route. */
export type Request<R extends Route> = Member<'params', R> &
  Member<'query', R> &
  Member<'headers', R> &
  ('body' extends keyof Api[R] ? { body: Body<R> } : object) &
  RequestOptions

export interface RequestOptions extends CallOptions {
  /**
   * For a route that takes one. Without it the client makes one, and the same call again within an hour after a failure
   * carries the same key. Pass a key that you keep, if the repetition may come from another process.
   */
  idempotencyKey?: string | undefined
  timeoutMs?: number | undefined
}
/** The second argument is only needed where the route needs something. */
type Given<R extends Route> = object extends Request<R> ? [request?: Request<R>] : [request: Request<R>]

interface AnyRequest extends RequestOptions {
  params?: Record<string, string>
  query?: object
  headers?: Record<string, string | undefined>
  body?: unknown
}

export type TillApi = ReturnType<typeof createApi>

/** Every route of the service for buyers and sellers, typed by its own description. */
export function createApi(options: TillOptions) {
  const { request, list } = openApi(options)
  return { request, list }
}

/** The same with `send`, which also reads the answer in another way. */
export function openApi(options: TillOptions) {
  const unsure = unsureKeys()

  const send = async <Read>(
    route: string,
    given: AnyRequest,
    read: (response: Response) => Promise<Read>,
  ): Promise<Read> => {
    const { params, query, headers, body, idempotencyKey, signal, timeoutMs } = given
    const [method = '', path = ''] = route.split(' ')
    const isKeyed = KEYED.has(route)
    const bytes = isBytes(body) ? streamOf(body) : undefined
    const ours = isKeyed && idempotencyKey === undefined ? JSON.stringify([route, params, query, body]) : undefined
    const key = idempotencyKey ?? (ours && unsure.take(ours)) ?? newKey()
    try {
      return await ask(
        options,
        path.replace(/\{(\w+)\}/g, (_, name: string) => segment(params?.[name], name)),
        {
          method,
          query,
          ...(bytes ? { body: bytes } : { json: body }),
          headers: {
            ...(bytes && { 'content-type': (body as { type?: string }).type || 'application/octet-stream' }),
            ...(isKeyed && { 'idempotency-key': key }),
            ...headers,
          },
          // a stream can be read once only
          repeatable: isKeyed || (method !== 'POST' && method !== 'PATCH' && !(bytes instanceof ReadableStream)),
          timeoutMs,
          signal,
        },
        read,
      )
    } catch (error) {
      if (ours && mayBeDone(error)) unsure.put(ours, key)
      throw error
    }
  }

  /** Sends one request of any route, and resolves to the body of the answer. Throws a {@link TillError}. */
  const request = <R extends Route>(route: R, ...[given = {} as Request<R>]: Given<R>): Promise<Answer<R>> =>
    send(route, given as AnyRequest, readJson<Answer<R>>)

  /** All items of a list. The client asks for each page when the caller gets to it. */
  async function* list<R extends ListRoute>(
    route: R,
    { query, ...more }: { query?: Search<R> } & CallOptions = {},
  ): AsyncGenerator<Item<R>, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: { items: Item<R>[]; nextCursor: string | null } = await send(
        route,
        { ...more, query: { limit: PAGE_SIZE, ...query, cursor } },
        readJson<never>,
      )
      yield* page.items
      // a service that says nothing of a next page has none
      cursor = page.nextCursor ?? null
    }
  }

  return { request, list, send }
}

/** A repetition comes soon. The same call days later is a new wish. */
const UNSURE_MS = 3600_000
const MOST_UNSURE = 10_000

/** The keys of requests that failed and may have been carried out, one for each failed call. */
function unsureKeys() {
  const kept: { request: string; key: string; until: number }[] = []
  return {
    take(request: string): string | undefined {
      const at = kept.findIndex((one) => one.request === request && one.until > Date.now())
      return at < 0 ? undefined : kept.splice(at, 1)[0]!.key
    },
    put(request: string, key: string): void {
      kept.push({ request, key, until: Date.now() + UNSURE_MS })
      if (kept.length > MOST_UNSURE) kept.shift()
    },
  }
}

/** A value in an address. It is encoded. An empty one, `.` and `..` are refused, because they would lead to another route. */
function segment(value: string | undefined, name: string): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
    throw new TillError('validation_failed', `\`${name}\` is missing or not an id.`, {
      fields: [{ path: `params.${name}`, message: 'is not an id' }],
    })
  return encodeURIComponent(value)
}

const isBytes = (body: unknown): body is Bytes =>
  typeof body === 'object' &&
  body !== null &&
  (body instanceof Blob || ArrayBuffer.isView(body) || body instanceof ReadableStream || Symbol.asyncIterator in body)

/** The bodies that `fetch` takes everywhere. */
function streamOf(data: Bytes): NonNullable<RequestInit['body']> {
  if (!(Symbol.asyncIterator in data) || data instanceof ReadableStream) return data as NonNullable<RequestInit['body']>
  const chunks = data[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel(reason) {
      await chunks.return?.(reason)
    },
  })
}
