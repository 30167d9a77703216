import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const READ_BUFFER_BYTES = 64 * 1024
const HEADER_END = '\r\n\r\n'

export interface Load {
  port: number
  connections: number
  seconds: number
  /** The next request, whole as it goes over the wire; undefined when there are no more. */
  next: () => Buffer | undefined
  /** The only status that counts. Any other ends the run with an error. */
  status: number
}

export interface Heard {
  /** Answers a second. */
  rate: number
  count: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
}

/**
 * Sends requests over `connections` open connections, one at a time on each, and reads each response to its end. It is much cheaper
 * than an HTTP client, because it shares the CPU with the measured service: it looks only at status and length.
 */
export async function load({ port, connections, seconds, next, status }: Load): Promise<Heard> {
  const times: number[] = []
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(port, String(status))))
  const began = performance.now()
  let last = began
  const end = began + seconds * 1000
  try {
    await Promise.all(
      lines.map(async (line) => {
        for (let request = next(); request && last < end; request = next()) {
          const from = performance.now()
          await line.request(request)
          last = performance.now()
          times.push(last - from)
        }
      }),
    )
  } finally {
    for (const line of lines) line.close()
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
  return {
    rate: times.length / ((last - began) / 1000),
    count: times.length,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
  }
}

export interface Paced {
  port: number
  requests: readonly Buffer[]
  aSecond: number
  status: number
}

/**
 * Sends each request at its time, whether those before are answered or not; says how long each answer took from then, in ms.
 * A line is opened when all others wait for an answer, as a sender does that keeps its connections.
 */
export async function paced({ port, requests, aSecond, status }: Paced): Promise<number[]> {
  const lines: Line[] = []
  const free: Line[] = []
  const began = performance.now()
  let over = false
  try {
    return await Promise.all(
      requests.map(async (request, at) => {
        const due = began + (at / aSecond) * 1000
        while (performance.now() < due) await sleep(Math.ceil(due - performance.now()))
        if (over) throw new Error('another request has failed')
        let line = free.pop()
        if (!line) lines.push((line = await openLine(port, String(status))))
        await line.request(request)
        free.push(line)
        return performance.now() - due
      }),
    )
  } finally {
    over = true
    for (const line of lines) line.close()
  }
}

/** A request as it goes over the wire. */
export function wire(method: string, path: string, body?: string, headers: Record<string, string> = {}): Buffer {
  const all = {
    host: '127.0.0.1',
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}${HEADER_END}${body ?? ''}`)
}

/** The same requests over and over. */
export function cycle(requests: readonly Buffer[]): () => Buffer {
  let at = 0
  return () => requests[at++ % requests.length]!
}

/** Each request once. */
export function once(requests: readonly Buffer[]): () => Buffer | undefined {
  let at = 0
  return () => requests[at++]
}

interface Line {
  request(bytes: Buffer): Promise<void>
  close(): void
}

function openLine(port: number, status: string): Promise<Line> {
  return new Promise((open, refuse) => {
    const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES)
    let left = 0
    let answered = () => {}
    let failed = refuse
    const heard = (length: number): boolean => {
      try {
        left = (left === 0 ? lengthOf(buffer.toString('latin1', 0, length), status) : left) - length
      } catch (error) {
        failed(error as Error)
        return false
      }
      if (left === 0) answered()
      return true
    }
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback: heard } })
    socket.on('error', (error) => failed(error))
    socket.on('close', () => failed(new Error('the service has closed a connection')))
    socket.on('connect', () =>
      open({
        request: (bytes) =>
          new Promise((resolve, reject) => {
            if (socket.destroyed) return reject(new Error('the service has closed a connection'))
            answered = resolve
            failed = reject
            socket.write(bytes)
          }),
        close: () => socket.destroy(),
      }),
    )
  })
}

/** How many bytes an answer has in all, from its first ones. */
function lengthOf(text: string, status: string): number {
  const end = text.indexOf(HEADER_END)
  const length = /^content-length: (\d+)\r?$/im.exec(text.slice(0, end))?.[1]
  if (end < 0 || length === undefined || text.slice(9, 12) !== status)
    throw new Error(`an answer that was not expected:\n${text.slice(0, 1000)}`)
  return end + HEADER_END.length + Number(length)
}
