// What the rest of sign-in knows of an identity provider. Its client is loaded only where one is configured.

export interface ProviderSettings {
  issuer: string
  clientId: string
  clientSecret: string
  authMethod: 'client_secret_post' | 'client_secret_basic'
}

/** What is kept from the start to the return, by the browser that started. */
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
  /** Who came back. Of `callbackUrl` only the query counts: our own address is the configured one. */
  finish(callbackUrl: URL, attempt: Attempt): Promise<ProvenIdentity>
}

export type FaultCode =
  /** It did not answer, or not as a provider does. */
  | 'idp_unavailable'
  /** The person or the provider said no. */
  | 'idp_refused'
  /** An answer that does not check out. */
  | 'idp_failed'

/** Why nobody came to be known. Nothing of the answer is in it: that may hold tokens and addresses. */
export class ProviderFault extends Error {
  readonly code: FaultCode
  constructor(code: FaultCode) {
    super(code)
    this.name = 'ProviderFault'
    this.code = code
  }
}
