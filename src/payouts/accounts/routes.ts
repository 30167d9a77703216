import { Type } from 'typebox'
import { Refusal } from '../../kit/errors.ts'
import { type Server, neverCached } from '../../kit/http.ts'
import { type Limit, countUses, refuseBeyond } from '../../kit/limits.ts'
import { refusing } from '../../kit/schema.ts'
import { type Browsers, NEEDS_SESSION } from '../../sellers/guard.ts'
import { type AccountParts, type AccountView, accountView } from './accounts.ts'
import { Business } from './business-schema.ts'
import { openAccount, tellAccount } from './open.ts'

const TAG = ['Payouts']

export interface AccountRouteParts extends AccountParts {
  browsers: Browsers
  /** Whether sellers have accounts of their own here. */
  isNeeded: boolean
  /** How many links to the processor's pages a seller may have, and how often one may send details. Undefined: no limit. */
  limit: Limit | undefined
}

const TOO_MANY = 'You have asked for many links to your account. Please wait a little.'
const TOLD_TOO_OFTEN = 'You have sent your details many times. Please wait a little.'

export const PayoutAccount = Type.Object({
  state: Type.Union([Type.Literal('none'), Type.Literal('open'), Type.Literal('restricted'), Type.Literal('active')], {
    description:
      '`none`: not begun. `open`: the processor does not have all your details. `restricted`: it takes no payments for now. `active`: it takes payments and pays you.',
  }),
  missing: Type.Array(Type.String(), { description: 'The data that the processor still needs, in words.' }),
  paysOut: Type.Boolean({ description: 'Whether the processor pays your bank.' }),
  blocksSales: Type.Boolean({ description: 'Your products are not for sale until the account is active.' }),
  readAt: Type.Union([Type.String(), Type.Null()], { description: 'When the processor last told this.' }),
})

/** A seller's connected account: how it stands, and the way to fill it in. No key reads or changes it. */
export function accountRoutes(server: Server, parts: AccountRouteParts): void {
  const { browsers, appUrl, isNeeded, limit } = parts
  server.get(
    '/api/payouts/account',
    {
      schema: {
        operationId: 'getPayoutAccount',
        summary: 'Your account at the processor',
        description:
          'Where the operator has set PAYOUTS=stripe-connect or PAYOUTS=razorpay-route. Otherwise the state is `none`.',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: PayoutAccount, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      neverCached(reply)
      return viewOf(await accountView(parts, seller.id))
    },
  )

  server.post(
    '/api/payouts/account',
    {
      schema: {
        operationId: 'openPayoutAccount',
        summary: 'Open or complete your account at the processor',
        description:
          'Where the processor asks you on its own pages (PAYOUTS=stripe-connect). Needs a sign-in of the last ten minutes. Open `url` in the browser at once: it works one time, and for some minutes. You have one account, however often you ask.',
        tags: TAG,
        security: NEEDS_SESSION,
        response: {
          200: Type.Object({ url: Type.String() }),
          ...refusing(
            'recent_sign_in_required',
            'rate_limited',
            'account_not_needed',
            'account_by_details',
            'account_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.recentlySignedIn(request, reply)
      if (!isNeeded) throw new Refusal('account_not_needed', 'Sellers of this service need no account at a processor.')
      neverCached(reply)
      if (limit) refuseBeyond(await countUses(parts.db, [{ key: `payout_account ${seller.id}`, limit }]), TOO_MANY)
      return { url: await openAccount(parts, seller.id, `${appUrl}/shop/#/money`) }
    },
  )
  tellAccountRoute(server, parts)
}

function tellAccountRoute(server: Server, parts: AccountRouteParts): void {
  const { browsers, isNeeded, limit } = parts
  server.put(
    '/api/payouts/account',
    {
      schema: {
        operationId: 'tellPayoutAccount',
        summary: 'Tell the processor about your business',
        description:
          'Where the processor has no pages for it (PAYOUTS=razorpay-route). Needs a sign-in of the last ten minutes. The details go to the processor, and the service keeps none of them. Before another bank account goes there, you get a mail with its last digits; you may change it 20 times a day. Send all of them again to correct one: the processor gets those that it asks for.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: Business,
        response: {
          200: PayoutAccount,
          ...refusing(
            'recent_sign_in_required',
            'rate_limited',
            'account_not_needed',
            'account_by_link',
            'ifsc_invalid',
            'account_number_invalid',
            'account_details_refused',
            'account_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const signedIn = await browsers.recentlySignedIn(request, reply)
      if (!isNeeded) throw new Refusal('account_not_needed', 'Sellers of this service need no account at a processor.')
      neverCached(reply)
      const key = `payout_account told ${signedIn.seller.id}`
      if (limit) refuseBeyond(await countUses(parts.db, [{ key, limit }]), TOLD_TOO_OFTEN)
      const { acceptsTerms: _, ...details } = request.body
      await tellAccount(parts, signedIn, details)
      return viewOf(await accountView(parts, signedIn.seller.id))
    },
  )
}

const viewOf = ({ readAt, ...view }: AccountView) => ({ ...view, readAt: readAt?.toISOString() ?? null })
