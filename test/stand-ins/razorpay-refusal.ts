import { randomInt } from 'node:crypto'

// Code that all parts of the stand-in for Razorpay share.

export type Json = Record<string, any>

/** "No", as it is put into words there (https://razorpay.com/docs/errors). */
export class Refused extends Error {
  status: number
  error: Json
  constructor(description: string, { status = 400, ...more }: Json = {}) {
    super(description)
    this.status = status
    const where = { source: 'business', step: 'payment_initiation', reason: 'input_validation_failed', metadata: {} }
    this.error = { code: 'BAD_REQUEST_ERROR', description, ...where, ...more }
  }
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
export const razorpayId = (prefix: string): string =>
  prefix + Array.from({ length: 14 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
export const nowSeconds = () => Math.floor(Date.now() / 1000)

/** https://razorpay.com/docs/api/understand#notes */
export function checkNotes(notes: unknown): void {
  const all = Object.entries(notes ?? {})
  if (all.length > 15)
    throw new Refused('Number of fields in notes should be less than or equal to 15', { field: 'notes' })
  if (all.some(([, one]) => typeof one !== 'string' || one.length > 256))
    throw new Refused('notes cannot be this long', { field: 'notes' })
}
