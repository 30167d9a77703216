import { decimalsOf } from '../../../src/kit/money.ts'
import { readAmount } from '../../ui/amounts.ts'

/** The typed amount in minor units of the currency. Undefined when the text is no amount, or can mean two. */
export const amountIn = (typed: string, currency: string): number | undefined =>
  readAmount(typed, currency, decimalsOf(currency)).minor

/** Why a text is no amount, in a sentence for the person who typed it. */
export const amountFaultIn = (typed: string, currency: string): string | undefined =>
  readAmount(typed, currency, decimalsOf(currency)).fault
