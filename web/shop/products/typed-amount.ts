import { decimalsOf } from '../../../src/kit/money.ts'
import { minorUnits } from '../../ui/minor-units.ts'

/** What somebody typed as an amount, in minor units of the currency; undefined when it is none. */
export const amountIn = (typed: string, currency: string): number | undefined => minorUnits(typed, decimalsOf(currency))
