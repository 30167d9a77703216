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
  /** The provider's id for the person, the only one that never changes. */
  subject: string
  /** In its canonical form. Undefined when the provider gives no usable address. */
  email: string | undefined
  emailVerified: boolean
  /** When the person last signed in at the provider, which may have sent them back without asking. Undefined: it does not say. */
  signedInAt: Date | undefined
}

export interface IdentityProvider {
  /**
   * Returns the address for the browser, and the attempt to keep until it is back. `again` asks the provider to let the person sign in
   * there anew, and to say when they did. The browser can leave it out, so only the returned `signedInAt` counts.
   */
  start(again?: boolean): Promise<{ url: string; attempt: Attempt }>
  /** Returns the identity of the person who came back. Only the query of `callbackUrl` counts: our own address is the configured one. */
  finish(callbackUrl: URL, attempt: Attempt): Promise<ProvenIdentity>
}

export type FaultCode =
  /** The provider did not answer, or not with a valid response. */
  | 'idp_unavailable'
  /** The person or the provider said no. */
  | 'idp_refused'
  /** The provider's response failed our checks. */
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
