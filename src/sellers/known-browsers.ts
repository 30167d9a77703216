import { freshBytes } from '../kit/ids.ts'
import type { Signer } from '../kit/signing.ts'

/**
 * The mark of a browser that has signed in to a mailbox before. Its tries count separately, so strangers who guess cannot lock the owner
 * out (OWASP: device cookies). The mark opens nothing.
 */
export const mark = (signer: Signer, email: string): string => {
  const id = Buffer.from(freshBytes(16)).toString('base64url')
  return `${id}.${signer.sign(`${id} ${email}`)}`
}

/** The name under which limits count this browser's tries for the mailbox. Undefined: it has not signed in to it before. */
export function knownName(signer: Signer, email: string, cookie: string | undefined): string | undefined {
  const [id = '', signature = ''] = cookie?.split('.') ?? []
  return /^[\w-]{22}$/.test(id) && signer.verify(`${id} ${email}`, signature) ? `known ${id}` : undefined
}
