import type { ChargeCodeSent, ChargeFound, ChargeOrder } from '../../src/buyers/schema.ts'
import { call } from '../ui/api.ts'

export type { ChargeFound, ChargeOrder }

/** The typed details of a line on a statement. Empty fields are not sent. */
export interface Line {
  descriptor: string
  amount: string
  date: string
}

/** A cookie binds the code to this browser, so both calls carry it. */
const ask = <Answer>(path: string, body: Record<string, string>) =>
  call<Answer>(`/api/charges/${path}`, body, {}, { credentials: 'include' })

export const askChargeCode = (email: string, line: Line) => ask<ChargeCodeSent>('code', { email, ...given(line) })
export const findCharge = (email: string, code: string, line: Line) =>
  ask<ChargeFound>('verify', { email, code, ...given(line) })

const given = (line: Line): Record<string, string> =>
  Object.fromEntries(Object.entries(line).flatMap(([name, text]) => (text.trim() ? [[name, text.trim()]] : [])))
