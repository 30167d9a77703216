import { type KeyObject, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { derivedKey } from './signing.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts short secrets that the service must be able to read again. */
export interface TextSeal {
  seal(text: string): Buffer
  /** Returns undefined when none of our secrets opens it. */
  open(sealed: Buffer): { text: string; isOld: boolean } | undefined
}

/**
 * Seals with AES-256-GCM, by keys of its own for each purpose. The first secret seals and all of them open. `isOld` tells that a later
 * one did: then the caller seals it again, before the operator takes that secret away.
 */
export function textSeal(secrets: readonly string[], purpose: string): TextSeal {
  const keys = secrets.map((secret) => derivedKey(secret, purpose))
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keys[0]!, nonce)
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed) {
      for (const [at, key] of keys.entries()) {
        const text = openedWith(key, sealed)
        if (text !== undefined) return { text, isOld: at > 0 }
      }
      return undefined
    },
  }
}

function openedWith(key: KeyObject, sealed: Buffer): string | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}
