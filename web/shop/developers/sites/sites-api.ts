import type { Static } from 'typebox'
import type * as schema from '../../../../src/sellers/site-routes.ts'
import { get, request } from '../../api.ts'

export type Site = Static<typeof schema.Site>

export const getSites = () => get<Static<typeof schema.Sites>>('sites')
export const addSite = async (host: string) => (await request<Site>('PUT', `sites/${encodeURIComponent(host)}`)).answer
export const removeSite = (host: string) => request('DELETE', `sites/${encodeURIComponent(host)}`)
