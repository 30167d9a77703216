import type {
  Attention,
  FoundOrder,
  FoundSeller,
  LogEntry,
  OperatorOrder,
  Statistics,
} from '../../src/operator/schema.ts'
import { ApiError, call } from '../ui/api.ts'
import { isSigningOut } from '../ui/auth-api.ts'
import { keepView } from '../ui/way-back.ts'
import type { List } from '../shop/api.ts'
import { currentSession, drawAnew, isOtherAccount } from '../shop/page-seller.ts'

export type { Attention, FoundOrder, FoundSeller, LogEntry, OperatorOrder, Statistics }

// The operators' API as these pages use it.

export const WAY_BACK = 'till:operator-way-back'

/**
 * Does something with the session. When it has ended, the API answers `not_found`, and the page leads to the sign-in. When another
 * account has signed in since, the page is drawn anew for it.
 */
export async function asOperator<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    // side by side, so that nothing is shown, and nothing can be changed from it, before it is known for whom
    const [answer] = await Promise.all([work(), drawnFor()])
    return answer
  } catch (trouble) {
    if (isOtherAccount(trouble)) return drawAnew()
    if (trouble instanceof ApiError && (trouble.code === 'not_found' || trouble.code === 'not_signed_in')) {
      // The browser is leaving the page, so nothing more appears on it.
      if (isSigningOut) return new Promise<Answer>(() => {})
      signIn()
    }
    throw trouble
  }
}

let session: Promise<unknown> | undefined

/** Asks once who is signed in. From then on each change names this account. */
const drawnFor = (): Promise<unknown> =>
  (session ??= currentSession().catch((trouble: unknown) => {
    session = undefined
    throw trouble
  }))

/** Sends one request with the session. */
export const request = <Answer>(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  asOperator(() => call<Answer>(`/api/operator/${path}`, body, headers, { credentials: 'include', method }))

export const get = <Answer>(path: string, query: Record<string, string | undefined> = {}): Promise<Answer> => {
  const given = Object.entries(query).filter((one): one is [string, string] => Boolean(one[1]))
  const text = new URLSearchParams(given).toString()
  return request<Answer>('GET', `${path}${text && `?${text}`}`)
}

export const getStatistics = (days: string) => get<Statistics>('statistics', { days })
export const getAttention = () => get<Attention>('attention')
export const getOrders = (search: { q: string; status: string; sellerId: string }, cursor?: string) =>
  get<List<FoundOrder>>('orders', { ...search, cursor })
export const getOrder = (id: string) => get<OperatorOrder>(`orders/${encodeURIComponent(id)}`)
/** Without an amount: all that is left. With the same key, repeated calls make one refund. */
export const refundOrder = (id: string, { amount, reason, key }: { amount?: number; reason: string; key: string }) =>
  request<unknown>(
    'POST',
    `orders/${encodeURIComponent(id)}/refunds`,
    { ...(amount !== undefined && { amount }), ...(reason && { reason }) },
    { 'idempotency-key': key },
  )
export const getSellers = (q: string, standing: string, cursor?: string) =>
  get<List<FoundSeller>>('sellers', { q, standing, cursor })
export const getSeller = (id: string) => get<FoundSeller>(`sellers/${encodeURIComponent(id)}`)
export const getLog = (subject: string, cursor?: string) => get<List<LogEntry>>('log', { subject, cursor })

/** Leads to the sign-in page, and back to this view. */
function signIn(more = ''): void {
  keepView(WAY_BACK)
  location.assign(`/sign-in/?returnTo=/operator/${more}`)
}

/** Asks for a fresh sign-in, although there is a session, and leads back to this view. */
export const signInAgain = (): void => signIn('&again=1')
