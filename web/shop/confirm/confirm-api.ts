import type { ConfirmationView, Decided } from '../../../src/agents/schema.ts'
import { get, request } from '../api.ts'

export type { Decided }
export type Confirmation = ConfirmationView

const at = (id: string): string => `confirmations/${encodeURIComponent(id)}`

export const getConfirmation = (id: string) => get<Confirmation>(at(id))
export const confirm = async (id: string) => (await request<Decided>('POST', `${at(id)}/confirm`)).answer
export const decline = async (id: string): Promise<undefined> => {
  await request('POST', `${at(id)}/decline`)
}
