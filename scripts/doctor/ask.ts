import type { Patient } from './finding.ts'

const MOST_BYTES = 512 * 1024

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** Undefined when the text is not a JSON object. */
  json: Record<string, unknown> | undefined
}

/** Sends one HTTP request, with limits of time and length. It follows no redirect, and rejects when there is no answer. */
export async function ask({ patience }: Patient, url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, {
    ...init,
    headers: { 'user-agent': 'till-doctor', ...init.headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(patience.requestMs),
  })
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > MOST_BYTES) break
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString('utf8')
  return { status: response.status, headers: response.headers, text, json: parsed(text) }
}

/** Describes another server's answer by its status, type and redirect. It never quotes the answer. */
export function outline({ status, headers }: Answer): string {
  const to = headers.get('location')
  const target = to && URL.canParse(to) ? ` to ${new URL(to).origin}` : ''
  if (status >= 300 && status < 400) return `a redirect${target} (${status})`
  const type = headers.get('content-type')?.split(';')[0]?.trim() ?? ''
  return `${status}${/^[\w.+/-]{3,60}$/.test(type) ? ` ${type}` : ''}`
}

/** Notes how far a clock is ahead of ours, from a `Date` header or a row that was just read. */
export function noteClock({ clocks }: Patient, whose: string, time: Date | undefined): void {
  if (time && !Number.isNaN(time.getTime()))
    clocks.push({ whose, aheadSeconds: Math.round((time.getTime() - Date.now()) / 1000) })
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
