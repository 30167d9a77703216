import type { Static } from 'typebox'
import type * as schema from '../../src/taxes/schema.ts'
import { call } from '../ui/api.ts'

export type OwnTax = Static<typeof schema.ProfileView>
export type TaxProfile = NonNullable<OwnTax['profile']>

const PATH = '/api/tax/profile'
export const getTax = () => call<OwnTax>(PATH, undefined, {}, { credentials: 'include' })
export const saveTax = (profile: TaxProfile) =>
  call<OwnTax>(PATH, profile, {}, { credentials: 'include', method: 'PUT' })
export const removeTax = () => call<OwnTax>(PATH, undefined, {}, { credentials: 'include', method: 'DELETE' })
