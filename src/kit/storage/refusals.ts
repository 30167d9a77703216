import { Refusal } from '../errors.ts'

/** What file systems and stores call it when nothing more fits. */
const FULL = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'QuotaExceeded',
  'QuotaExceededException',
  'InsufficientCapacity',
  'XMinioStorageFull',
])
const INSUFFICIENT_STORAGE = 507

/** What a failure of the storage means to who asked. */
export function refusalOfStorage(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code, name, $metadata } = error as { code?: string; name?: string; $metadata?: { httpStatusCode?: number } }
  const isFull = FULL.has(code ?? '') || FULL.has(name ?? '') || $metadata?.httpStatusCode === INSUFFICIENT_STORAGE
  if (isFull)
    return new Refusal('storage_full', 'There is no room left for this file. Nothing of it was kept.', { cause: error })
  return unreadable(error)
}

/** Whether it was the storage that failed: the S3 library marks its errors, and of files the system names the call. */
export function isOfStorage(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  if ('$metadata' in error) return true
  const { syscall, name } = error as { syscall?: string; name?: string }
  return name === 'TimeoutError' || (syscall !== undefined && !/^(?:connect|getaddrinfo)$/.test(syscall))
}

/** The bytes are not to be had now. */
export const unreadable = (cause?: unknown): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The files cannot be reached right now. Nothing is lost: please try again later.',
    {
      retryAfterSeconds: 30,
      cause,
    },
  )
