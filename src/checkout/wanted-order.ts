import type { FastifyRequest } from 'fastify'
import type { Type } from 'typebox'
import type { CountryOf } from '../kit/country.ts'
import { canonicalEmail } from '../kit/email.ts'
import { networkOf } from '../kit/limits.ts'
import { localeOf, localeOfTag } from '../kit/locales.ts'
import { integrationOf } from '../orders/integration.ts'
import type { NewOrder } from '../orders/new-order.ts'
import { refuseUnknownCountry } from '../taxes/profile-routes.ts'
import type { Checkout, CheckoutHeaders } from './schema.ts'

/** The order that a request wants. Refuses `validation_failed` for a country that does not exist. */
export function wantedOrder(
  request: FastifyRequest<{ Body: Type.Static<typeof Checkout>; Headers: Type.Static<typeof CheckoutHeaders> }>,
  countryOf: CountryOf,
): NewOrder {
  const { productId, email, currency, chosenAmount, discountCode, consents, locale, country, countryConfirmed, taxId } = request.body // oxfmt-ignore
  refuseUnknownCountry(country)
  const seen = countryOf(request)
  return {
    productId,
    email: canonicalEmail(email),
    currency,
    chosenMinor: chosenAmount,
    discountCode,
    consents,
    integration: integrationOf(request.body),
    locale: localeOfTag(locale ?? '') ?? localeOf(request.headers['accept-language']),
    idempotencyKey: request.headers['idempotency-key'],
    network: networkOf(request.ip),
    taxId,
    place: {
      declared: country,
      // a language is a guess, and no evidence
      seen: seen?.from === 'proxy' ? seen.country : undefined,
      isConfirmed: countryConfirmed,
    },
  }
}
