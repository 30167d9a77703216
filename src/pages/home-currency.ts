import type { FastifyRequest } from 'fastify'
import { currenciesOf } from '../kit/country-currency.ts'
import type { CountryOf } from '../kit/country.ts'
import { type HomeCurrency, ownSign } from '../kit/money.ts'

/** Of dollars and pesos, yen and yuan, pounds, crowns, rupees. */
const SHARED = /[$¥£]|kr|Rs/

export type HomeOf = (request: FastifyRequest) => { home?: HomeCurrency }

/**
 * The currency of the buyer's country for a page, so that a "$" on it does not pass for another dollar. It is there only where the
 * country's sign is one that other currencies have too: the pages of all other buyers are the same.
 */
export const homeCurrency =
  (countryOf: CountryOf): HomeOf =>
  (request) => {
    const [currency] = currenciesOf(countryOf(request)?.country)
    const sign = currency && ownSign(currency)
    return currency && sign && SHARED.test(sign) ? { home: { currency, sign } } : {}
  }
