import type { DetailedError, HttpResponse, Upload } from 'tus-js-client'
import { ApiError, type Problem } from '../../ui/api.ts'
import { apiBase } from '../../ui/page-data.ts'
import { fetched } from '../load.ts'
import { Unreadable, isReadable } from './fingerprint.ts'
import { renew, uploadPlaces } from './unfinished.ts'

/** Requests stay short, because a proxy before the service may hold back or cut off long ones. */
const CHUNK_BYTES = 32 * 1024 * 1024
/** It retries for a minute and a half. Progress restarts that time. Afterwards the seller decides when to try again. */
const RETRY_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 30_000]

interface Sending {
  file: File
  /** The name that buyers see. */
  name: string
  productId: string
  /** The key that finds an earlier try. */
  fingerprint: string
  replaces?: string | undefined
  onShare: (share: number) => void
  /** The connection is lost, and it tries again. */
  onLost: () => void
}

/**
 * Sends a file by the tus protocol. It goes on where an earlier try of this browser stopped. The promise resolves with
 * the file.
 */
export async function send(sending: Sending): Promise<{ upload: Upload; done: Promise<void> }> {
  const { Upload } = await fetched(import('tus-js-client'))
  const { file, name, productId, replaces } = sending
  const fingerprint = `${productId}:${replaces ?? ''}:${sending.fingerprint}`
  let resolve: () => void
  let reject: (trouble: unknown) => void
  const done = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  const upload = new Upload(file, {
    endpoint: `${apiBase || location.origin}/api/uploads`,
    metadata: { productId, filename: name, ...(replaces && { replaces }) },
    fingerprint: () => Promise.resolve(fingerprint),
    urlStorage: uploadPlaces,
    removeFingerprintOnSuccess: true,
    chunkSize: CHUNK_BYTES,
    retryDelays: RETRY_MS,
    onBeforeRequest: (request) => {
      // The API may be on another host of our domain.
      ;(request.getUnderlyingObject() as XMLHttpRequest).withCredentials = true
    },
    onAfterResponse: (request, response) => {
      // The library takes every refused HEAD for "there is no such upload", and begins a new one.
      if (request.getMethod() === 'HEAD' && isPlaceKept(response.getStatus())) throw new HeadRefused(response)
      if (response.getStatus() < 300) renew(fingerprint)
    },
    onShouldRetry: (error) => {
      const status = responseOf(error)?.getStatus() ?? 0
      const retry =
        status === 0 || status === 409 || status === 423 || status === 429 || (status >= 500 && status !== 507)
      if (retry) sending.onLost()
      if (status === 0) void endIfUnreadable()
      return retry && navigator.onLine
    },
    onProgress: (sent, total) => sending.onShare(total ? sent / total : 1),
    onSuccess: () => resolve(),
    onError: (error) => reject(troubleOf(error)),
  })
  const endIfUnreadable = async () => {
    if (await isReadable(file)) return
    void upload.abort()
    reject(new Unreadable())
  }
  const [earlier] = await upload.findPreviousUploads()
  if (earlier) upload.resumeFromPreviousUpload(earlier)
  upload.start()
  return { upload, done }
}

/** The answer to the question how many bytes have arrived says nothing about the upload: it still has its place. */
class HeadRefused extends Error {
  readonly response: HttpResponse

  constructor(response: HttpResponse) {
    super('The service did not say how much it has.')
    this.response = response
  }
}

/** The library itself tries again after 423. After 404 and 410 the upload is gone. */
const isPlaceKept = (status: number): boolean => status >= 400 && ![404, 410, 423].includes(status)

function responseOf(error: Error | DetailedError): HttpResponse | undefined {
  if (!('originalRequest' in error)) return undefined
  const { originalResponse, causingError } = error
  return originalResponse ?? (causingError instanceof HeadRefused ? causingError.response : undefined)
}

/**
 * Ends an upload at the service. It is no error when the upload is already gone. Returns false where all bytes had arrived: then the
 * upload is a file of the product.
 */
export async function end(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'DELETE',
      credentials: 'include',
      referrerPolicy: 'no-referrer',
      headers: { 'tus-resumable': '1.0.0' },
    })
    return response.ok || problemIn(await response.text()).code !== 'upload_finished'
  } catch {
    // The service cannot be reached: it drops the upload by itself after a day.
    return true
  }
}

function troubleOf(error: Error | DetailedError): unknown {
  const response = responseOf(error)
  if (!response?.getStatus()) return 'originalRequest' in error ? new ApiError({ code: 'unreachable' }) : error
  const wait = Number(response.getHeader('Retry-After'))
  return new ApiError(
    // The answer to a HEAD has no body.
    {
      code: response.getStatus() === 401 ? 'not_signed_in' : 'unexpected',
      ...problemIn(response.getBody()),
      status: response.getStatus(),
    },
    wait > 0 ? wait : undefined,
  )
}

function problemIn(body: string): Partial<Problem> {
  try {
    return JSON.parse(body) as Partial<Problem>
  } catch {
    return {}
  }
}
