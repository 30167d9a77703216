import type { Stripe } from 'stripe'
import { ProcessorUnavailable } from '../refusals.ts'
import type { AccountReport, SellerAccounts } from '../seller-accounts.ts'
import { type Deadline, ask, askWithKey, listed, pastFailures } from './client.ts'
import { type SellerAccount, connectShapes } from './connect-entities.ts'
import { isMissing, isNoAccount } from './errors.ts'
import { prefixOf } from './check.ts'
import { wordsFor } from './requirements.ts'

/** The name of our key in an account's metadata. */
const KEY = 'connection_id'
/** Allows for different clocks. */
const CLOCK_SECONDS = 600

/**
 * The accounts of sellers below ours. The seller is the merchant: the seller has Stripe's whole dashboard, pays Stripe's fees, and
 * Stripe bears the losses that a seller cannot pay back: a Standard account
 * (https://docs.stripe.com/connect/migrate-to-controller-properties).
 */
export function sellerAccounts(stripe: Stripe, begin: () => Deadline): SellerAccounts {
  return {
    hosted: {
      async make({ key, since }) {
        const until = begin()
        const account = (await find(stripe, key, since, until)) ?? (await create(stripe, key, until))
        // Stripe asks the seller for the rest: a request with the mailbox would differ after a change of it
        if (account.metadata?.[KEY] !== key)
          throw new ProcessorUnavailable('Stripe made another account than was asked for')
        return reportOf(account)
      },
      async link(account, { refreshUrl, returnUrl }) {
        const { url } = await ask(connectShapes.accountLink, begin(), (sent) =>
          stripe.accountLinks.create(
            { account, refresh_url: refreshUrl, return_url: returnUrl, type: 'account_onboarding' },
            sent,
          ),
        )
        return url
      },
    },
    async read(id) {
      try {
        const account = await ask(connectShapes.sellerAccount, begin(), (sent) =>
          stripe.accounts.retrieve(id, {}, sent),
        )
        if (account.id !== id) throw new ProcessorUnavailable('Stripe told of another account')
        return reportOf(account)
      } catch (error) {
        if (isNoAccount(error) || isMissing(error)) return { endedWhy: error.message.slice(0, 300) }
        throw error
      }
    },
  }
}

/** No account came of an earlier failure, or `find` would have shown it. */
const create = (stripe: Stripe, key: string, until: Deadline): Promise<SellerAccount> =>
  pastFailures(key, (idempotencyKey) =>
    askWithKey(connectShapes.sellerAccount, until, idempotencyKey, (sent) =>
      stripe.accounts.create(
        {
          metadata: { [KEY]: key },
          controller: {
            fees: { payer: 'account' },
            losses: { payments: 'stripe' },
            requirement_collection: 'stripe',
            stripe_dashboard: { type: 'full' },
          },
        },
        sent,
      ),
    ),
  )

/** Finds the account of an earlier call. Stripe forgets idempotency keys after a day, and a process can be down for longer. */
async function find(stripe: Stripe, key: string, since: Date, until: Deadline): Promise<SellerAccount | undefined> {
  const created = { gte: Math.floor(since.getTime() / 1000) - CLOCK_SECONDS }
  const made = listed(
    connectShapes.sellerAccounts,
    () => until,
    (page, sent) => stripe.accounts.list({ ...page, created }, sent),
  )
  for await (const account of made) if (account.metadata?.[KEY] === key) return account
  return undefined
}

/**
 * How the account stands. It sells while Stripe lets it charge and pays it out: money of an account without payouts would lie there
 * without a way out.
 */
function reportOf(account: SellerAccount): AccountReport {
  const { id, charges_enabled: charges, payouts_enabled: payouts, details_submitted: submitted, requirements } = account
  const due = [...(requirements?.past_due ?? []), ...(requirements?.currently_due ?? [])]
  const state = charges && payouts ? 'active' : submitted ? 'restricted' : 'open'
  // one for one, because Stripe counts all characters of the prefix for the 22 of the line
  const prefix = prefixOf(account).replace(/[^A-Z0-9 .-]/g, '-')
  return {
    account: id,
    state,
    missing: state === 'active' ? wordsFor(due) : wordsFor(due, requirements?.disabled_reason ?? undefined),
    paysOut: payouts,
    ...(prefix && { statementPrefix: prefix.slice(0, 22) }),
  }
}
