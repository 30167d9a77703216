import { freshBytes } from '../kit/ids.ts'
import type { Signer } from '../kit/signing.ts'

/**
 * Which browsers have signed in to a mailbox before. Their tries are counted apart from those of strangers, so that nobody
 * can lock the owner out by guessing (OWASP: device cookies). It opens nothing.
 */
export const mark = (signer: Signer, email: string): string => {
  const id = Buffer.from(freshBytes(16)).toString('base64url')
  return `${id}.${signer.sign(`${id} ${email}`)}`
}

/** Under which name this browser is counted for this mailbox. Undefined: it has not signed in to it before. */
export function knownName(signer: Signer, email: string, cookie: string | undefined): string | undefined {
  const [id = '', signature = ''] = cookie?.split('.') ?? []
  return /^[\w-]{22}$/.test(id) && signer.verify(`${id} ${email}`, signature) ? `known ${id}` : undefined
}
