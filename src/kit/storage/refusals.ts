import { Refusal } from '../errors.ts'

/** The errors of file systems and stores that are full. */
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

/** Turns a failure of the storage into a refusal for the client. */
export function refusalOfStorage(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code, name, $metadata } = error as { code?: string; name?: string; $metadata?: { httpStatusCode?: number } }
  const isFull = FULL.has(code ?? '') || FULL.has(name ?? '') || $metadata?.httpStatusCode === INSUFFICIENT_STORAGE
  if (isFull)
    return new Refusal('storage_full', 'There is no room left for this file. Nothing of it was kept.', { cause: error })
  return unreadable(error)
}

/** Whether the storage failed. The S3 library marks its errors, and the system's errors about files name the system call. */
export function isOfStorage(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  if ('$metadata' in error) return true
  const { syscall, name } = error as { syscall?: string; name?: string }
  return name === 'TimeoutError' || (syscall !== undefined && !/^(?:connect|getaddrinfo)$/.test(syscall))
}

/** The refusal when the storage cannot be read now. */
export const unreadable = (cause?: unknown): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The files cannot be reached right now. Nothing is lost: please try again later.',
    {
      retryAfterSeconds: 30,
      cause,
    },
  )
