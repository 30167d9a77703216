import type { Static } from 'typebox'
import type * as schema from '../../../../src/webhooks/schema.ts'
import { get, request } from '../../api.ts'

export type Endpoint = schema.WebhookEndpoint
export type EndpointInput = Static<typeof schema.NewEndpoint>
export type Subscription = EndpointInput['events'][number]
export type MadeEndpoint = Static<typeof schema.NewWebhookEndpoint>
export type NewSecret = Static<typeof schema.RotatedSecret>
type TestEvent = Static<typeof schema.TestEvent>
export type Weather = NonNullable<TestEvent['weather']>

const at = (id: string, rest = '') => `webhook-endpoints/${encodeURIComponent(id)}${rest}`

export const getEndpoints = () => get<{ items: Endpoint[] }>('webhook-endpoints')
export const getEndpoint = (id: string) => get<Endpoint>(at(id))
export const createEndpoint = async (input: EndpointInput) =>
  (await request<MadeEndpoint>('POST', 'webhook-endpoints', input)).answer
export const changeEndpoint = async (id: string, input: EndpointInput) =>
  (await request<Endpoint>('PATCH', at(id), input)).answer
export const removeEndpoint = (id: string) => request('DELETE', at(id))
export const resumeEndpoint = async (id: string) => (await request<Endpoint>('POST', at(id, '/resume'), {})).answer
export const rotateSecret = async (id: string, overlapHours: number) =>
  (await request<NewSecret>('POST', at(id, '/secret'), { overlapHours })).answer
export const sendTest = async (id: string, event: TestEvent) =>
  (await request<{ eventIds: string[] }>('POST', at(id, '/test'), event)).answer
