import type { OperatorPayout, Run, RunDetail } from '../../src/operator/payout-schema.ts'
import { apiBase } from '../ui/page-data.ts'
import { ApiError, type Problem, call, sellerHeader } from '../ui/api.ts'
import type { List } from '../shop/api.ts'
import { asOperator, get, request } from './api.ts'

export type { OperatorPayout, Run, RunDetail }
export type RunLine = RunDetail['lines'][number]
export type RunFile = RunDetail['files'][number]

/** The effects of a bank's statement, line by line. */
export interface ReadStatement {
  lines: {
    reference: string
    status: 'booked' | 'returned'
    amount: number
    currency: string
    outcome:
      | 'paid'
      | 'failed'
      | 'reversed'
      | 'known_before'
      | 'not_found'
      | 'amount_differs'
      | 'not_expected'
      | 'other_account'
    payoutId: string | null
    payoutAmount: number | null
  }[]
  others: number
}

/** A statement has up to 10 MB, and the file of a run with many payouts is large too. */
const FILE_PATIENCE_MS = 5 * 60_000

const path = encodeURIComponent

export const getRuns = (cursor?: string) => get<List<Run>>('payout-runs', { cursor, limit: '10' })
export const getRun = (id: string) => get<RunDetail>(`payout-runs/${path(id)}`)
export const proposeRun = () => request<RunDetail>('POST', 'payout-runs')
/** Of the sellers whom the operator saw: a run that would pay others by now is not approved. An earlier release names no selection. */
export const approveRun = ({ runId, selection }: Run) =>
  request<unknown>('POST', `payout-runs/${path(runId)}/approve`, selection ? { selection } : undefined)
export const cancelRun = (id: string) => request<unknown>('POST', `payout-runs/${path(id)}/cancel`)
export const leaveOut = ({ sellerId, currency }: RunLine, runId: string, isOut: boolean) =>
  request<unknown>(isOut ? 'PUT' : 'DELETE', `payout-runs/${path(runId)}/left-out/${path(sellerId)}/${path(currency)}`)
export const payAgain = (id: string) => request<unknown>('POST', `payouts/${path(id)}/pay-again`)
export const markSent = (id: string, currency: string) =>
  request<{ sent: number }>('POST', `payout-runs/${path(id)}/sent`, { currency })
export const getPayouts = (search: { q: string; status: string; sellerId: string }, cursor?: string) =>
  get<List<OperatorPayout>>('payouts', { ...search, cursor })
export const getPayout = async (id: string): Promise<OperatorPayout> => {
  const [payout] = (await get<List<OperatorPayout>>('payouts', { q: id })).items
  if (!payout) throw new ApiError({ code: 'payout_not_found', detail: 'There is no such payout.', status: 404 })
  return payout
}
export const markPayout = (
  id: string,
  mark: 'paid' | 'failed' | 'reversed',
  body?: { reason: string; state: OperatorPayout['status'] },
) => request<unknown>('POST', `payouts/${path(id)}/${mark}`, body)
/** The bytes as they are: the service tells the format by the content. */
export const readStatement = (file: File) =>
  asOperator(() =>
    call<ReadStatement>(
      '/api/operator/payouts/statement',
      undefined,
      { 'content-type': 'application/octet-stream' },
      {
        method: 'POST',
        credentials: 'include',
        body: file,
        signal: AbortSignal.timeout(FILE_PATIENCE_MS),
      },
    ),
  )
/** An amount that is given to a seller, or taken if it is negative. */
export type Adjustment = { amount: number; currency: string; reason: string }
/** With the same key, repeated calls book one adjustment. */
export const adjust = (sellerId: string, { key, ...body }: Adjustment & { key: string }) =>
  request<unknown>('POST', `sellers/${path(sellerId)}/adjustments`, body, { 'idempotency-key': key })

/** Makes or fetches a bank file and hands it to the browser. A plain link could not say why it is refused. */
export async function downloadFile(runId: string, { currency, format, exportedAt }: RunFile): Promise<void> {
  const address = `${apiBase}/api/operator/payout-runs/${path(runId)}/files/${path(currency)}?format=${format}`
  const { blob, name } = await asOperator(() => fetchFile(address, exportedAt ? 'GET' : 'POST'))
  const url = URL.createObjectURL(blob)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}

async function fetchFile(address: string, method: string): Promise<{ blob: Blob; name: string }> {
  const signal = AbortSignal.timeout(FILE_PATIENCE_MS)
  let response: Response
  try {
    // Only the request that makes a file changes something.
    const headers = method === 'POST' ? sellerHeader() : {}
    response = await fetch(address, { method, headers, credentials: 'include', cache: 'no-store', signal })
    const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'payouts'
    if (response.ok) return { blob: await response.blob(), name }
  } catch {
    throw new ApiError({ code: 'unreachable' })
  }
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>
  throw new ApiError({ code: 'unexpected', ...problem, status: response.status })
}
