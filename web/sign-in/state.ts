import type { MailboxCodeState } from '../ui/mailbox-code.ts'

export type Way = 'code' | 'password'

export interface SignInState extends MailboxCodeState {
  way: Way
  /** The awaited code confirms the address of an account at the provider. */
  fromProvider: boolean
  /** The service has an identity provider. */
  idp: boolean
  /** The session is too old for the seller's next step. */
  again: boolean
  /** The seller has forgotten the password. */
  forgot: boolean
}
