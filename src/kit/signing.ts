import { type KeyObject, createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto'

/**
 * Signs and checks short texts. Each purpose has its own keys, derived from the service's secrets, so a signature for one purpose is
 * not valid for another. The first secret signs and all of them verify, so that the operator can rotate the secret.
 */
export interface Signer {
  sign(text: string): string
  verify(text: string, signature: string): boolean
}

export function newSigner(secrets: readonly string[], purpose: string): Signer {
  const keys = secrets.map((secret) => derivedKey(secret, purpose))
  const mac = (key: KeyObject, text: string) => createHmac('sha256', key).update(text).digest()
  return {
    sign: (text) => mac(keys[0]!, text).toString('base64url'),
    verify(text, signature) {
      const given = Buffer.from(signature, 'base64url')
      // only the canonical form, because the decoder ignores stray characters and trailing bits
      if (given.length !== 32 || given.toString('base64url') !== signature) return false
      return keys.some((key) => timingSafeEqual(mac(key, text), given))
    },
  }
}

/** A key for one purpose (HKDF, RFC 5869). It is a key object, because an HMAC with plain bytes takes five times as long. */
export const derivedKey = (secret: string, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, 'till', purpose, 32)))
