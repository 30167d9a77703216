import { type RawBuilder, sql } from 'kysely'
import { THREE_DECIMALS } from './money.ts'

/** `stepOf` of money.ts, within a statement. */
export const stepIn = (currency: RawBuilder<unknown>): RawBuilder<number> =>
  sql`case when ${currency} = any(${THREE_DECIMALS.split(' ')}::text[]) then 10 when ${currency} = 'MGA' then 5000 else 1 end`
