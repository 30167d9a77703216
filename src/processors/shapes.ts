import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { LARGEST_AMOUNT } from '../kit/money.ts'
import { ProcessorUnavailable } from './refusals.ts'

// Both adapters read a processor's JSON by schemas with these. The schemas are in each adapter's `entities.ts`.

/** A compiled schema. */
export interface Shape<T> {
  Check(value: unknown): value is T
}

/** In the processor's smallest units. */
export const Amount = Type.Integer({ minimum: 0, maximum: LARGEST_AMOUNT })
/** Unix time, up to the last moment that a Date can hold. */
export const Seconds = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000 })
export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** The number of a payout at a bank. People copy it, so it has only these characters. */
const BankReference = Compile(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9 ./_-]{0,99}$' }))
export const bankReferenceOf = (told: unknown): { bankReference?: string } =>
  BankReference.Check(told) ? { bankReference: told } : {}

/** Returns the answer if it has the shape. Otherwise nothing is known, so it fails with ProcessorUnavailable. */
export function checked<T>(shape: Shape<T>, answer: unknown, from: string): T {
  if (!shape.Check(answer)) throw new ProcessorUnavailable(`${from}: the answer does not have the expected form`)
  return answer
}
