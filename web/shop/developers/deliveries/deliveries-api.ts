import type { Static } from 'typebox'
import type * as schema from '../../../../src/webhooks/schema.ts'
import { get, request, type List } from '../../api.ts'

export type Delivery = schema.WebhookDelivery
export type DeliveryDetail = schema.WebhookDeliveryDetail
export type Try = NonNullable<Delivery['lastTry']>
export type LoggedTry = DeliveryDetail['log'][number]
export type ReplayMany = Static<typeof schema.ReplayMany>
export type DeliveryStatus = Delivery['status']

export interface DeliveriesQuery {
  status?: string
  cursor?: string | undefined
  limit?: number
}

const at = (endpointId: string, rest: string) => `webhook-endpoints/${encodeURIComponent(endpointId)}/${rest}`
const one = (eventId: string) => `deliveries/${encodeURIComponent(eventId)}`

export const getDeliveries = (endpointId: string, query: DeliveriesQuery) =>
  get<List<Delivery>>(at(endpointId, 'deliveries'), { ...query })
export const getDelivery = (endpointId: string, eventId: string) => get<DeliveryDetail>(at(endpointId, one(eventId)))
export const replay = (endpointId: string, eventId: string) =>
  request('POST', at(endpointId, `${one(eventId)}/replay`), {})
export const replaySince = async (endpointId: string, input: ReplayMany) =>
  (await request<{ count: number }>('POST', at(endpointId, 'replay'), input)).answer
