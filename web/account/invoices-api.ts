import type { InvoiceProfile, OwnProfile } from '../../src/invoices/schema.ts'
import { call } from '../ui/api.ts'

export type { InvoiceProfile, OwnProfile }

const OWN: RequestInit = { credentials: 'include' }

export const getInvoiceProfile = () => call<OwnProfile>('/api/invoice-profile', undefined, {}, OWN)
export const putInvoiceProfile = (profile: InvoiceProfile) =>
  call<OwnProfile>('/api/invoice-profile', profile, {}, { ...OWN, method: 'PUT' })
