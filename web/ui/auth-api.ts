import type { Static } from 'typebox'
import type * as schema from '../../src/sellers/schema.ts'
import type { CurrentSession, History, Identities, Seller, Sessions } from '../../src/sellers/schema.ts'
import { call, ApiError } from './api.ts'
import { apiBase } from './page-data.ts'

export type { CurrentSession, Seller }
type CodeSent = Static<typeof schema.CodeSent>
type WaitingFor = Static<typeof schema.WaitingFor>
type SignedInSeller = Static<typeof schema.SignedInSeller>
type Providers = Static<typeof schema.Providers>
type LinkStarted = Static<typeof schema.LinkStarted>
export type SessionEntry = Sessions['items'][number]
export type Identity = Identities['items'][number]
export type AccountEvent = History['items'][number]

/** Sellers' calls carry the session. All other calls of these pages go without. */
const asSeller = <Answer>(path: string, body?: object, method?: string) =>
  call<Answer>(`/api/auth/${path}`, body, {}, { credentials: 'include', ...(method && { method }) })

/** `again`: another code for the sign-in that this browser waits for, including an account at a provider. */
export const askCode = (email: string, again = false) => asSeller<CodeSent>('otp', { email, ...(again && { again }) })
/** The code that this browser waits for, after a reload or a return from the provider. */
export const getWaiting = () => asSeller<WaitingFor>('otp')
export const enterCode = (email: string, code: string) => asSeller<SignedInSeller>('otp/verify', { email, code })
export const enterPassword = (email: string, password: string) =>
  asSeller<SignedInSeller>('password', { email, password })

/**
 * The addition to the sign-in page's address that explains why the seller must sign in again. Undefined: the session is
 * not the trouble. Empty for a browser in which no seller was signed in.
 */
export function whySignedOut(trouble: unknown, wasSignedIn: boolean): string | undefined {
  if (!(trouble instanceof ApiError)) return undefined
  if (trouble.code === 'session_conflict') return '&error=session_conflict'
  if (trouble.code !== 'not_signed_in') return undefined
  return wasSignedIn ? '&error=session_ended' : ''
}

export const getSession = () => asSeller<CurrentSession>('session')
export const getSessions = () => asSeller<Sessions>('sessions')
export const endSession = (id: string) => asSeller(`sessions/${id}`, undefined, 'DELETE')
export const endOtherSessions = () => asSeller('sessions', undefined, 'DELETE')

/** A request that meets the end of the session meanwhile must neither keep the typed text nor ask for a new sign-in. */
export let isSigningOut = false

export async function signOut(): Promise<void> {
  isSigningOut = true
  try {
    await asSeller('session', undefined, 'DELETE')
  } catch (trouble) {
    isSigningOut = false
    throw trouble
  }
}

export const changeSeller = (change: { name: string } | { supportEmail: string | null }) =>
  asSeller<SignedInSeller>('seller', change, 'PATCH')
export const askNewMailbox = (email: string) => asSeller<CodeSent>('email', { email })
export const enterNewMailboxCode = (code: string) => asSeller<SignedInSeller>('email/verify', { code })
/** A fresh session needs no current password. */
export const setPassword = (newPassword: string, currentPassword?: string) =>
  asSeller('password', { newPassword, ...(currentPassword && { currentPassword }) }, 'PUT')

export type SaleMails = schema.SaleMails['saleMails']
export const getMailSettings = () => asSeller<schema.SaleMails>('mails')
export const changeMailSettings = (saleMails: SaleMails) => asSeller<schema.SaleMails>('mails', { saleMails }, 'PATCH')

export const getProviders = () => asSeller<Providers>('providers')
export const getIdentities = () => asSeller<Identities>('identities')
export const getHistory = () => asSeller<History>('history')
export const startLink = (returnTo: string) => asSeller<LinkStarted>('identities', { returnTo })
export const unlink = (id: string) => asSeller(`identities/${id}`, undefined, 'DELETE')

/** The address at which the seller signs in at the provider. */
export const providerUrl = (returnTo: string): string =>
  `${apiBase}/api/auth/idp?${new URLSearchParams({ returnTo }).toString()}`
