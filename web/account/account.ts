import { ApiError } from '../ui/api.ts'
import {
  endOtherSessions,
  endSession,
  getHistory,
  getIdentities,
  getProviders,
  getSessions,
  isSigningOut,
  signOut,
  unlink,
  whySignedOut,
  type AccountEvent,
  type CurrentSession,
  type Identity,
  type Seller,
  type SessionEntry,
} from '../ui/auth-api.ts'
import { newStore, type Store } from '../ui/store.ts'
import { forgetDrafts } from '../shop/drafts.ts'
import { leadAway } from '../shop/leaving.ts'
import type { Loaded } from '../shop/load.ts'
import { currentSession, drawAnew, isOtherAccount } from '../shop/page-seller.ts'
import { saveChange } from './mailbox-change.ts'
import { keepTyped } from './typed.ts'

const SIGN_IN = '/sign-in/?returnTo=/account/'
/** Leads to the sign-in page and back here. */
export const SIGN_IN_AGAIN = `${SIGN_IN}&again=1`

export interface AccountState {
  seller?: Seller
  session?: CurrentSession['session']
  sessions?: SessionEntry[]
  identities?: Identity[]
  events?: AccountEvent[]
  idp: boolean
  /** Why the account, or a part of it, could not be read. */
  trouble?: unknown
}

/** A list of the account, as the parts of the page show it. */
export type ListOf<Entry> = Pick<Loaded<Entry[]>, 'value' | 'trouble' | 'again'>

export interface Account extends Pick<Store<AccountState>, 'get' | 'subscribe'> {
  /** `quietly`: the message of an earlier failure stays until the answer is there. */
  load: (quietly?: boolean) => Promise<void>
  /** For changes that end other sessions or start a new one. */
  changed: (seller?: Seller) => Promise<void>
  endSession: (id: string) => Promise<void>
  endOthers: () => Promise<void>
  unlink: (id: string) => Promise<void>
  signOut: () => Promise<void>
  /** Does something as the seller. When the session is over, leads to the sign-in page. */
  asSeller: <Answer>(work: () => Promise<Answer>) => Promise<Answer>
}

export function openAccount(): Account {
  const { get, set, subscribe } = newStore<AccountState>({ idp: false })

  async function asSeller<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (trouble) {
      if (isOtherAccount(trouble)) return drawAnew()
      const why = whySignedOut(trouble, get().seller !== undefined)
      if (why !== undefined) {
        if (!isSigningOut) {
          keepTyped()
          location.replace(SIGN_IN + why)
        }
        // The browser is leaving the page, so nothing more appears on it.
        return new Promise<Answer>(() => {})
      }
      throw trouble
    }
  }

  async function load(quietly = false): Promise<void> {
    if (!quietly) set({ trouble: undefined })
    try {
      const { seller, session } = await asSeller(currentSession)
      set({ seller, session })
      await loadLists()
    } catch (trouble) {
      set({ trouble })
    }
  }

  async function loadLists(): Promise<void> {
    const [sessions, identities, { idp }, events] = await asSeller(() =>
      Promise.all([getSessions(), getIdentities(), getProviders(), getHistory()]),
    )
    set({ sessions: sessions.items, identities: identities.items, events: events.items, idp, trouble: undefined })
  }

  // A page restored from the browser's cache must not show an account after the seller has signed out.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
  void load()

  return {
    get,
    subscribe,
    asSeller,
    load,
    async changed(seller) {
      if (seller) set({ seller })
      // The change itself succeeded. A list that cannot be read now must not look like a failure of the change.
      await loadLists().catch((trouble: unknown) => set({ trouble }))
    },
    async endSession(id) {
      await asSeller(() => endSession(id)).catch(unlessGone('session_not_found'))
      set({ sessions: get().sessions?.filter((one) => one.id !== id) ?? [] })
    },
    async endOthers() {
      await asSeller(endOtherSessions)
      set({ sessions: get().sessions?.filter((one) => one.current) ?? [] })
    },
    async unlink(id) {
      await asSeller(() => unlink(id)).catch(unlessGone('identity_not_found'))
      set({ identities: get().identities?.filter((one) => one.id !== id) ?? [] })
    },
    async signOut() {
      saveChange(undefined)
      await signOut()
      forgetDrafts()
      leadAway(() => location.replace('/sign-in/?out=1'))
      await new Promise(() => {})
    },
  }
}

/** When the item is already gone, the seller has nothing more to do. */
const unlessGone = (code: string) => (trouble: unknown) => {
  if (!(trouble instanceof ApiError && trouble.code === code)) throw trouble
}
