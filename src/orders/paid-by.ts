import { sql } from 'kysely'
import { Type } from 'typebox'
import { type PaidBy, printsOurLine } from '../processors/statement-line.ts'

/**
 * For a query over `orders o`: by which processor the order is paid. The state says where that stands, so one table is read. Null: the
 * order is free, or no payment has begun.
 */
export const paidBy = sql<PaidBy | null>`(case
  when o.amount_minor = 0 then null
  when o.state in ('pending', 'processing', 'expired') then (
    select json_build_object('processor', p.processor, 'isAtBank', p.state = 'processing')
    from payments p where p.order_id = o.id order by p.created_at desc limit 1)
  else (
    select json_build_object('processor', c.processor, 'captureId', c.processor_capture_id)
    from captures c where c.order_id = o.id order by c.purpose = 'sale' desc, c.captured_at desc limit 1) end)`

export const OnStatement = Type.Optional(
  Type.Literal(false, {
    description:
      'Present where the line on the buyer’s statement is not `statementDescriptor`, because the processor or the bank chooses it.',
  }),
)

/** The field that an answer has beside `statementDescriptor` where the line on the statement is another one. */
export const onStatement = (by: PaidBy | null): { onStatement?: false } =>
  printsOurLine(by) ? {} : { onStatement: false }
