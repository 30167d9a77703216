import { Stripe } from 'stripe'
import { errors } from 'undici'
import { type HttpAnswer, httpClient } from '../http.ts'

/**
 * Lets the official library send its requests by our HTTP client. The time limit covers the whole request. The library's own limit
 * covers only silence, so a slow trickle of an answer would never end.
 */
export class LimitedHttpClient extends Stripe.HttpClient {
  readonly #send: ReturnType<typeof httpClient>

  constructor(origin: string) {
    super()
    this.#send = httpClient(origin)
  }

  override getClientName(): string {
    return 'undici'
  }

  override async makeRequest(
    ...[, , path, method, headers, body, , timeout]: Parameters<Stripe.HttpClient['makeRequest']>
  ): Promise<Answer> {
    const signal = AbortSignal.timeout(timeout)
    try {
      return new Answer(await this.#send({ path, method, headers: headers as Record<string, string>, body, signal }))
    } catch (error) {
      if (!(error instanceof errors.SocketError)) throw error
      // Stripe closed a connection that we kept open. The library tries again when it sees this code.
      throw Object.assign(new Error('the connection was closed', { cause: error }), { code: 'ECONNRESET' })
    }
  }
}

class Answer extends Stripe.HttpClientResponse {
  readonly #answer: HttpAnswer

  constructor(answer: HttpAnswer) {
    super(answer.status, answer.headers)
    this.#answer = answer
  }

  override getRawResponse(): unknown {
    return this.#answer
  }

  /** Rejects JSON that is a bare word or number: the library would throw on it where no caller can catch the error. */
  override async toJSON(): Promise<object> {
    const json: unknown = this._parseResponseBody(await this.#answer.text())
    if (typeof json !== 'object' || json === null) throw new SyntaxError('the answer is not an object')
    return json
  }
}
