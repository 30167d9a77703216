import { issuer, oneOf } from './parsers.ts'
import type { Reader } from './reader.ts'

const REQUIRED = ['IDP_ISSUER', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET']
const AUTH_METHODS = ['client_secret_post', 'client_secret_basic'] as const

export interface IdpConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly authMethod: (typeof AUTH_METHODS)[number]
  /** The name on the button. */
  readonly label: string
}

/** Reads the provider's settings. Either all required ones are set, or none. */
export function readIdentityProvider({ text, checked, problems }: Reader, isPublic: boolean): IdpConfig | undefined {
  const idp = {
    issuer: checked<string>('IDP_ISSUER', '', (value) => issuer(value, isPublic), 'the provider’s https address'),
    clientId: text('IDP_CLIENT_ID') ?? '',
    clientSecret: text('IDP_CLIENT_SECRET') ?? '',
    authMethod: checked('IDP_AUTH_METHOD', AUTH_METHODS[0], oneOf(...AUTH_METHODS), AUTH_METHODS.join(' or ')),
    label: checked('IDP_LABEL', 'your company account', (value) => value.slice(0, 60), 'a few words'),
  }
  const isMeant = [...REQUIRED, 'IDP_LABEL', 'IDP_AUTH_METHOD'].some((name) => text(name) !== undefined)
  if (!isMeant) return undefined
  for (const name of REQUIRED)
    if (text(name) === undefined) problems.push(`${name}: required with the other IDP_ settings`)
  return idp
}
