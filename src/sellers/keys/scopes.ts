import type { FastifyRequest } from 'fastify'

const SUBJECTS = [
  'products',
  'files',
  'discounts',
  'orders',
  'refunds',
  'balance',
  'webhooks',
  'exports',
  'keys',
] as const
const DEEDS = ['read', 'write'] as const

/** The scopes of a key. `write` does not include `read`. */
export type Scope = `${(typeof SUBJECTS)[number]}:${(typeof DEEDS)[number]}`
export const SCOPES: readonly Scope[] = SUBJECTS.flatMap((subject) =>
  DEEDS.map((deed) => `${subject}:${deed}` as const),
)

/** Keys may have these, and no route takes them. The form for keys does not offer them. */
export const OPENS_NOTHING: readonly Scope[] = ['files:read', 'balance:write', 'exports:write']

/** The credentials of a request (OpenAPI): one of these, each with all its parts. */
export type Security = readonly { readonly [scheme: string]: readonly string[] }[]

/**
 * For the schema of a seller's route: a session, or a key with one of these scopes. The guard reads the same declaration, so it
 * checks exactly the documented rule.
 */
export const needs = (...anyOf: readonly [Scope, ...Scope[]]): Security => [
  { session: [] },
  ...anyOf.map((scope) => ({ apiKey: [scope] })),
]

/** For a route that no key may use. */
export const NEEDS_SESSION: Security = [{ session: [] }]

/** For a route that only programs use. The route itself checks the scopes of the key. */
export const NEEDS_KEY: Security = [{ apiKey: [] }]

/** The declaration of a request's route. */
export const securityOf = ({ routeOptions }: FastifyRequest): Security =>
  (routeOptions.schema as { security?: Security } | undefined)?.security ?? []

export const takesSession = (security: Security): boolean => security.some((way) => 'session' in way)

export const takesKeys = (security: Security): boolean => security.some((way) => 'apiKey' in way)

/** Whether a key with these scopes may use a route. */
export const isAllowed = (security: Security, scopes: readonly string[]): boolean =>
  security.some(({ apiKey }) => apiKey !== undefined && apiKey.every((scope) => scopes.includes(scope)))
