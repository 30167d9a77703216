import type { Endpoint, EndpointInput, Subscription } from './endpoints-api.ts'

export interface TypedEndpoint {
  url: string
  description: string
  /** Empty: none is chosen yet. */
  events: Subscription[]
}

export const NO_ENDPOINT: TypedEndpoint = { url: '', description: '', events: ['*'] }

export const typedOf = ({ url, description, events }: Endpoint): TypedEndpoint => ({ url, description, events })

export interface EndpointFaults {
  url?: string
  events?: string
}

export function endpointFaults({ url, events }: TypedEndpoint): EndpointFaults {
  const fault = urlFault(url.trim())
  return { ...(fault && { url: fault }), ...(events.length === 0 && { events: 'Choose at least one event.' }) }
}

function urlFault(url: string): string | undefined {
  if (url === '') return 'Please enter the address of your program.'
  if (!/^https?:\/\//i.test(url)) return 'The address begins with https://'
  return URL.canParse(url) && !/\s/.test(url) ? undefined : 'This is not a complete address.'
}

/** The address as programs write it: a name or a path with other letters than those of English is encoded. */
export const endpointInput = ({ url, description, events }: TypedEndpoint): EndpointInput => ({
  url: new URL(url.trim()).href,
  description: description.trim(),
  events,
})
