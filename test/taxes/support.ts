import assert from 'node:assert/strict'
import { inTransaction } from '../../src/kit/database.ts'
import { type PlacedRate, replaceRates } from '../../src/taxes/rates.ts'
import { newBrowser, newMailbox } from '../support/seller.ts'
import type { TestShop } from '../support/shop.ts'

export const rateOf = (country: string, rate: number, more: Partial<PlacedRate> = {}): PlacedRate => ({
  place: country,
  country,
  category: 'standard',
  rate,
  validFrom: '2020-01-01',
  validTo: null,
  ...more,
})

/** Rates of some countries; those of the EU that are not named have 20 %. */
export const loadRates = (shop: TestShop, rates: readonly PlacedRate[]): Promise<void> =>
  inTransaction(shop.db, (tx) => replaceRates(tx, rates))

/** A seller, with a tax profile if one is given. */
export async function taxSeller(shop: TestShop, profile?: object) {
  const browser = newBrowser(shop)
  const { body } = await browser.signInByCode(newMailbox())
  const sellerId = body.seller.id as string
  const save = async (more: object) => {
    const answer = await browser.call('PUT', '/api/tax/profile', more)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }
  if (profile) await save(profile)
  return {
    browser,
    sellerId,
    save,
    product: (priceMinor = 1900, more = {}) => shop.product({ sellerId, priceMinor, currency: 'EUR', ...more }),
    order: (productId: string, more: object = {}, headers: Record<string, string> = {}) =>
      shop.call('POST', '/api/checkout', { productId, email: 'bob@example.com', ...more }, headers),
  }
}
