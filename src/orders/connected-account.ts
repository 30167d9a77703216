import { type RawBuilder, sql } from 'kysely'

export interface AccountRule {
  statementPrefix: string
  /** The processor of the connected accounts. An order is paid at its seller's account there, or its price is passed on to it. */
  accountsAt?: string | undefined
}

/** Stripe does not take a longer prefix as a shortened descriptor, so the bank prints it without a suffix. */
const LONGEST_PREFIX = 10

/**
 * An order pins two facts about the account at which it is paid: its name as a processor's name, null for the service's own, and the line
 * that the bank prints. Where no seller has an account, the query reads no further table for it.
 */
export function pinnedAccount(
  { statementPrefix, accountsAt }: AccountRule,
  { seller, suffix }: { seller: RawBuilder<unknown>; suffix: RawBuilder<unknown> },
): { account: RawBuilder<unknown>; line: RawBuilder<unknown> } {
  const own = sql`statement_line(${statementPrefix}, ${suffix})`
  if (accountsAt === undefined) return { account: sql`null::text`, line: own }
  const active = (what: RawBuilder<unknown>) => sql`(
    select ${what} from connected_accounts c
    where c.seller_id = ${seller} and c.processor = ${accountsAt} and c.state = 'active' and c.ended_at is null)`
  const line = sql`case when length(c.statement_prefix) > ${LONGEST_PREFIX} then c.statement_prefix
    else statement_line(c.statement_prefix, ${suffix}) end`
  return { account: active(sql`c.processor || '@' || c.account`), line: sql`coalesce(${active(line)}, ${own})` }
}
