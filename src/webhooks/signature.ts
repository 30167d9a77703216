import { createHmac, randomBytes } from 'node:crypto'

// Standard Webhooks 1.0: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

const SECRET_BYTES = 32

export const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

/**
 * The headers of one delivery. The key is the bytes that the text of the secret encodes. During a rotation each secret signs, and the
 * receiver accepts any of the signatures. `at` is the time of this try, in seconds.
 */
export function signedHeaders(secrets: readonly string[], { id, at, body }: { id: string; at: number; body: string }) {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signatures.join(' ') }
}
