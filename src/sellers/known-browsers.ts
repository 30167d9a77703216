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

/** Under which name the tries of this browser for this mailbox are counted. */
export function bucketOf(signer: Signer, email: string, cookie: string | undefined): string {
  const [id = '', signature = ''] = cookie?.split('.') ?? []
  return /^[\w-]{22}$/.test(id) && signer.verify(`${id} ${email}`, signature) ? `known ${id}` : email
}
