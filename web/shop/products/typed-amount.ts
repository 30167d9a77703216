import { decimalsOf } from '../../../src/kit/money.ts'
import { readAmount } from '../../ui/amounts.ts'
import { say, wordsOf } from '../../ui/language.ts'

const WORDS = { words: wordsOf('ui'), say }

/** The typed amount in minor units of the currency. Undefined when the text is no amount, or can mean two. */
export const amountIn = (typed: string, currency: string): number | undefined =>
  readAmount(typed, currency, decimalsOf(currency), WORDS).minor

/** Why a text is no amount, in a sentence for the person who typed it. */
export const amountFaultIn = (typed: string, currency: string): string | undefined =>
  readAmount(typed, currency, decimalsOf(currency), WORDS).fault
