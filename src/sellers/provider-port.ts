// The port of an identity provider. Its client is loaded only when a provider is configured.

export interface ProviderSettings {
  issuer: string
  clientId: string
  clientSecret: string
  authMethod: 'client_secret_post' | 'client_secret_basic'
}

/** The browser holds this from the start to the return. */
export interface Attempt {
  state: string
  nonce: string
  verifier: string
}

export interface ProvenIdentity {
  issuer: string
  /** The provider's own name for the person: the only one that lasts. */
  subject: string
  /** In its canonical form; undefined when there is none that can be used. */
  email: string | undefined
  emailVerified: boolean
}

export interface IdentityProvider {
  /** Where to send the browser, and what to keep until it is back. */
  start(): Promise<{ url: string; attempt: Attempt }>
  /** Returns the identity of the person who came back. Only the query of `callbackUrl` counts: our own address is the configured one. */
  finish(callbackUrl: URL, attempt: Attempt): Promise<ProvenIdentity>
}

export type FaultCode =
  /** It did not answer, or not as a provider does. */
  | 'idp_unavailable'
  /** The person or the provider said no. */
  | 'idp_refused'
  /** An answer that does not check out. */
  | 'idp_failed'

/** Why the provider proved no identity. It quotes nothing of the provider's answer, which may hold tokens and addresses. */
export class ProviderFault extends Error {
  readonly code: FaultCode
  constructor(code: FaultCode) {
    super(code)
    this.name = 'ProviderFault'
    this.code = code
  }
}
