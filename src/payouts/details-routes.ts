import { CURRENCIES } from '../kit/currencies.ts'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import { DONE, refusing } from '../kit/schema.ts'
import type { TextSeal } from '../kit/sealed-text.ts'
import { type Browsers, NEEDS_SESSION } from '../sellers/guard.ts'
import { checkedDestination } from './destination.ts'
import { DetailsParams, NewPayoutDetails, PayoutDetails, PayoutDetailsList } from './details-schema.ts'
import { type DetailsRow, listDetails, putDetails, removeDetails } from './details.ts'

const TAG = ['Payouts']

interface DetailsParts {
  db: Db
  jobs: Jobs
  browsers: Browsers
  seal: TextSeal
}

/** Where the seller's money goes. No key reads or changes it. */
export function detailsRoutes(server: Server, parts: DetailsParts): void {
  listDetailsRoute(server, parts)
  putDetailsRoute(server, parts)
  removeDetailsRoute(server, parts)
}

function listDetailsRoute(server: Server, { db, browsers }: DetailsParts): void {
  server.get(
    '/api/payout-details',
    {
      schema: {
        operationId: 'listPayoutDetails',
        summary: 'Where your money goes',
        description: 'One destination for each currency, masked.',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: PayoutDetailsList, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      return { items: (await listDetails(db, seller.id)).map(detailsView) }
    },
  )
}

function putDetailsRoute(server: Server, parts: DetailsParts): void {
  server.put(
    '/api/payout-details/:currency',
    {
      schema: {
        operationId: 'putPayoutDetails',
        summary: 'Set where the money of a currency goes',
        description:
          'Needs a sign-in of the last ten minutes. Every change holds payouts of this currency for 72 hours, and you get a mail about it. The same details again change nothing, but confirm the account after a payout that failed or came back.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: DetailsParams,
        body: NewPayoutDetails,
        response: {
          200: PayoutDetails,
          ...refusing(
            'recent_sign_in_required',
            'rate_limited',
            'currency_not_sold',
            'kind_not_for_currency',
            'iban_invalid',
            'bic_invalid',
            'upi_invalid',
            'ifsc_invalid',
            'account_number_invalid',
          ),
        },
      },
    },
    async (request, reply) => {
      const signedIn = await parts.browsers.recentlySignedIn(request, reply)
      const currency = soldCurrency(request.params.currency)
      const destination = await checkedDestination(currency, request.body)
      return detailsView(await putDetails(parts, signedIn, currency, destination))
    },
  )
}

function removeDetailsRoute(server: Server, parts: DetailsParts): void {
  server.delete(
    '/api/payout-details/:currency',
    {
      schema: {
        operationId: 'removePayoutDetails',
        summary: 'Remove where the money of a currency goes',
        description:
          'Needs a sign-in of the last ten minutes. Payouts of this currency wait until there are new details. Those that the operator has approved still go to the old ones.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: DetailsParams,
        response: {
          ...DONE,
          ...refusing('recent_sign_in_required', 'currency_not_sold', 'payout_details_not_found'),
        },
      },
    },
    async (request, reply) => {
      const signedIn = await parts.browsers.recentlySignedIn(request, reply)
      await removeDetails(parts, signedIn, soldCurrency(request.params.currency))
      return reply.code(204).send(null)
    },
  )
}

function soldCurrency(currency: string): string {
  if (CURRENCIES.has(currency)) return currency
  throw new Refusal('currency_not_sold', 'Name a currency of ISO 4217 in upper case, such as EUR.')
}

const detailsView = ({ changedAt, payableFrom, isRefused, ...row }: DetailsRow): PayoutDetails => ({
  ...row,
  changedAt: changedAt.toISOString(),
  payableFrom: payableFrom.toISOString(),
})
