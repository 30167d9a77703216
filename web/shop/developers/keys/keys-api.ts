import type { Static } from 'typebox'
import type * as schema from '../../../../src/sellers/keys/schema.ts'
import { get, request, type List } from '../../api.ts'

export type ApiKey = Static<typeof schema.ApiKey>
export type NewApiKey = Static<typeof schema.NewApiKey>
export type MadeKey = Static<typeof schema.ApiKeyWithSecret>
export type Activity = Static<typeof schema.Activity>['items'][number]
export type Scope = ApiKey['scopes'][number]

type Cursor = { cursor?: string | undefined }

const path = encodeURIComponent

export const getKeys = (query: Cursor) => get<List<ApiKey>>('keys', query)
export const createKey = async (input: NewApiKey) => (await request<MadeKey>('POST', 'keys', input)).answer
export const rollKey = async (id: string, overlapHours: number) =>
  (await request<MadeKey>('POST', `keys/${path(id)}/roll`, { overlapHours })).answer
export const revokeKey = (id: string) => request('DELETE', `keys/${path(id)}`)
export const getActivity = (query: Cursor) => get<List<Activity>>('activity', query)
