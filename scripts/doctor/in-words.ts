import { getSystemErrorName } from 'node:util'
import { OutOfTime } from '../../src/kit/time.ts'

const TOO_LONG = 'no answer in time'
const UNTRUSTED = 'its certificate is of no known authority, or the chain is not whole'

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there (connection refused)',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ENOTFOUND: 'the name is not known (DNS)',
  EAI_AGAIN: 'the name cannot be looked up right now (DNS)',
  EDNS: 'the name cannot be looked up (DNS)',
  EHOSTUNREACH: 'there is no way there (host unreachable)',
  ENETUNREACH: 'there is no way there (network unreachable)',
  ETIMEDOUT: TOO_LONG,
  UND_ERR_CONNECT_TIMEOUT: TOO_LONG,
  UND_ERR_HEADERS_TIMEOUT: TOO_LONG,
  TimeoutError: TOO_LONG,
  AbortError: TOO_LONG,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet, or this clock is behind',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks no TLS there',
  EPROTO: 'it speaks no TLS there',
  ERR_INVALID_URL: 'it is no address',
  EACCES: 'this account may not (permission denied)',
  EPERM: 'this account may not (permission denied)',
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'it is a folder',
  EROFS: 'it is mounted read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  '28P01': 'user or password is refused',
  '28000': 'this user may not connect',
  '3D000': 'there is no such database',
  '42501': 'this user may not',
  '53300': 'all its connections are taken',
  '57P03': 'it is starting, and accepts no connections yet',
}

/** Some libraries replace the first error's code. Then only the message of Node or OpenSSL is left. */
const BY_MESSAGE: [RegExp, string][] = [
  [/timeout exceeded|query read timeout|connection timeout/i, TOO_LONG],
  [/self[- ]signed certificate|unable to (?:verify|get).*certificate/i, UNTRUSTED],
  [/certificate has expired/i, WORDS.CERT_HAS_EXPIRED!],
  [/does not match certificate/i, WORDS.ERR_TLS_CERT_ALTNAME_INVALID!],
  [/wrong version number|packet length too long/i, WORDS.EPROTO!],
  [/^bad port$/, 'browsers refuse this port'],
  [/connection terminated/i, WORDS.ECONNRESET!],
]

/**
 * Says why something did not work, by names and codes only: a message may quote the request, and with it a key.
 */
export function inWords(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return knownReason(error) ?? `it did not work (${String(code ?? name ?? 'no reason is known')})`
}

export function knownReason(error: unknown): string | undefined {
  const all = [...withCauses(error)].flatMap((one) => reasonOf(one) ?? [])
  // a time-out also cuts the connection, so it is the first reason
  return all.find((reason) => reason === TOO_LONG) ?? all[0]
}

function reasonOf(error: object): string | undefined {
  if (error instanceof OutOfTime) return TOO_LONG
  const { code, errno, name, message } = error as { code?: unknown; errno?: unknown; name?: unknown; message?: unknown }
  const system = typeof errno === 'number' && errno < 0 ? getSystemErrorName(errno) : undefined
  const word = [code, system, name].find((key) => typeof key === 'string' && Object.hasOwn(WORDS, key))
  if (word) return WORDS[word as string]
  return BY_MESSAGE.find(([pattern]) => pattern.test(String(message)))?.[1]
}

/** Yields the innermost cause first, because it is the clearest. Only the outer ones may have a known code. */
function* withCauses(error: unknown, depth = 0): Generator<object> {
  if (typeof error !== 'object' || error === null || depth > 6) return
  const { cause, detail, errors } = error as { cause?: unknown; detail?: unknown; errors?: unknown }
  for (const inner of [cause, detail, ...(Array.isArray(errors) ? errors : [])]) yield* withCauses(inner, depth + 1)
  yield error
}
