import { Stripe } from 'stripe'
import { type Dispatcher, Pool, errors } from 'undici'

/** A page of 100 charges has some 400 KB. */
const MOST_BYTES = 16 * 1024 * 1024
/** Connections that nobody uses are closed before a proxy on the way does so unseen. */
const KEEP_ALIVE_MS = 20_000

/**
 * How the official library sends its requests: by undici, in half the time that node:http takes of the processor, and limited
 * as a whole. The library's own time limit is for silence, and an answer that drips would never end.
 */
export class LimitedHttpClient extends Stripe.HttpClient {
  readonly #pool: Pool

  constructor(origin: string) {
    super()
    this.#pool = new Pool(origin, { keepAliveTimeout: KEEP_ALIVE_MS })
  }

  override getClientName(): string {
    return 'undici'
  }

  override async makeRequest(
    ...[, , path, method, headers, body, , timeout]: Parameters<Stripe.HttpClient['makeRequest']>
  ): Promise<Answer> {
    try {
      const response = await this.#pool.request({
        path,
        method: method as Dispatcher.HttpMethod,
        headers: headers as Record<string, string>,
        body: body || null,
        signal: AbortSignal.timeout(timeout),
      })
      return new Answer(response)
    } catch (error) {
      if (!(error instanceof errors.SocketError)) throw error
      // a connection that was kept open and closed by the other side: by this name the library knows to try once more
      throw Object.assign(new Error('the connection was closed', { cause: error }), { code: 'ECONNRESET' })
    }
  }
}

class Answer extends Stripe.HttpClientResponse {
  readonly #response: Dispatcher.ResponseData

  constructor(response: Dispatcher.ResponseData) {
    super(response.statusCode, response.headers as Record<string, string>)
    this.#response = response
  }

  override getRawResponse(): unknown {
    return this.#response
  }

  dispose(): void {
    void this.#response.body.dump()
  }

  /** JSON that is a bare word or number never gets to the library, which throws over it where nobody can catch it. */
  override async toJSON(): Promise<object> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of this.#response.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > MOST_BYTES) throw new SyntaxError('an answer that does not end')
      chunks.push(chunk)
    }
    const json: unknown = this._parseResponseBody(Buffer.concat(chunks).toString('utf8'))
    if (typeof json !== 'object' || json === null) throw new SyntaxError('an answer that is no object')
    return json
  }
}
