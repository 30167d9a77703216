import type { Withdrawal } from '../../src/buyers/withdrawals/schema.ts'
import { call } from '../ui/api.ts'
import { readTab, writeTab } from '../ui/tab-storage.ts'

export type { Withdrawal }

export interface Statement {
  name: string
  contract: string
  email: string
}

/** The statement on its way, for a reload of this tab: the same key is the same statement. */
const PLACE = 'till:withdraw'

export interface Draft extends Statement {
  key: string
}

export const savedDraft = (): Draft | undefined => readTab<Draft>(PLACE)
export const saveDraft = (draft: Draft | undefined): void => writeTab(PLACE, draft)

export const withdraw = (draft: Draft) => call<Withdrawal>('/api/withdrawals', { ...draft })
