import { isCountry } from '../kit/country.ts'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { type Browsers, NEEDS_SESSION, needs } from '../sellers/guard.ts'
import { type OwnTaxProfile, findTaxProfile, removeTaxProfile, saveTaxProfile } from './profile.ts'
import { cleanOwnTaxId } from '../tax-ids/typed.ts'
import { ProfileChange, ProfileView } from './schema.ts'

export interface TaxParts {
  db: Db
  browsers: Browsers
}

export const TAG = ['Tax']

/** The routes of a seller's tax profile. */
export function profileRoutes(server: Server, { db, browsers }: TaxParts): void {
  server.get(
    '/api/tax/profile',
    {
      schema: {
        operationId: 'getTaxProfile',
        summary: 'Your tax profile',
        tags: TAG,
        security: needs('balance:read'),
        response: { 200: ProfileView, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      return profileView(await findTaxProfile(db, seller.id))
    },
  )

  server.put(
    '/api/tax/profile',
    {
      schema: {
        operationId: 'saveTaxProfile',
        summary: 'Save your tax profile',
        description: 'It counts for orders from now on. The service computes the tax, and files nothing: you owe it.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: ProfileChange,
        response: { 200: ProfileView, ...refusing('tax_rate_missing', 'tax_id_invalid') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const { country, taxIds = [], oss = false, exempt = false, prices, category = 'standard' } = request.body
      refuseUnknownCountry(country)
      const profile = {
        country,
        taxIds: taxIds.map((id) => cleanOwnTaxId(country, id)),
        hasOss: oss,
        isExempt: exempt,
        isInclusive: prices === 'inclusive',
        category,
      }
      return profileView(await saveTaxProfile(db, seller.id, profile))
    },
  )

  server.delete(
    '/api/tax/profile',
    {
      schema: {
        operationId: 'removeTaxProfile',
        summary: 'Remove your tax profile',
        description: 'From now on nothing is said about tax. Earlier orders keep theirs.',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: ProfileView, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      await removeTaxProfile(db, seller.id)
      return profileView(await findTaxProfile(db, seller.id))
    },
  )
}

/** Refuses `validation_failed` for two capitals that are no country. */
export function refuseUnknownCountry(country: string | undefined): void {
  if (country === undefined || isCountry(country)) return
  const message = 'must be a country of ISO 3166-1, such as DE; the United Kingdom is GB'
  throw new Refusal('validation_failed', 'There is no such country.', { fields: [{ path: 'country', message }] })
}

const profileView = ({ profile, missingRates }: OwnTaxProfile): ProfileView => ({
  profile: profile
    ? {
        country: profile.country,
        taxIds: profile.taxIds,
        oss: profile.hasOss,
        exempt: profile.isExempt,
        prices: profile.isInclusive ? 'inclusive' : 'exclusive',
        category: profile.category,
      }
    : null,
  missingRates,
})
