import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { Refusal } from './errors.ts'

/** The header with which a client repeats a request that must have its effect once. `promise` says what the same key gives. */
export const idempotencyHeaders = (promise: string) =>
  Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({ minLength: 16, maxLength: 255, pattern: '^[\\x21-\\x7e]+$', description: promise }),
    ),
  })

/** Hashes what tells one request from another, or the owner and the key of a request. The hash is stored: its form never changes. */
export const digestOf = (parts: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest()

export const reusedKey = (): Refusal =>
  new Refusal('idempotency_key_reused', 'This Idempotency-Key belongs to another request.')
