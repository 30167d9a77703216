import { getStatus, ApiError, type Download } from '../ui/api.ts'
import { explainToBuyer } from '../ui/buyer-words.ts'
import {
  mailboxCode,
  type AwaitedCode,
  type MailboxCode,
  type MailboxCodeState,
  type Message,
} from '../ui/mailbox-code.ts'
import { forgetEmail } from '../ui/my-orders.ts'
import { isAtCode, showStep } from '../ui/step-in-address.ts'
import { newStore, type Store } from '../ui/store.ts'
import { readTab, writeTab } from '../ui/tab-storage.ts'
import {
  askLibraryCode,
  forgetLibrary,
  getPurchases,
  openWithCode,
  type Purchase,
  type Purchases,
} from './library-api.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('library')

/** The awaited code, for a reload of this tab. */
const PLACE = 'till:library'

export interface LibraryState extends MailboxCodeState {
  purchases: Purchase[]
  nextCursor: string | null
  /** The buyer has just opened it, so the focus moves to it. */
  byHand: boolean
}

export interface Library extends Pick<Store<LibraryState>, 'get' | 'subscribe'>, MailboxCode {
  load: () => Promise<void>
  more: () => Promise<void>
  /** The files of one order, with fresh links. */
  renew: (orderId: string) => Promise<Download[]>
  forget: () => Promise<void>
}

const FIRST_STATE: LibraryState = {
  step: 'opening',
  email: typedBefore('email'),
  purchases: [],
  nextCursor: null,
  tries: 0,
  byHand: false,
}

/** All purchases of a mailbox, from all sellers. Only a person who can read the mailbox sees them. */
export function openLibrary(): Library {
  const store = newStore(FIRST_STATE)
  const { get, set, subscribe } = store
  const code = mailboxCode(store, {
    checking: wordsOf('code').lookingUp,
    explain: explainToBuyer,
    sendCode: askLibraryCode,
    openWith: async (email, digits) => show(await openWithCode(email, digits), true),
    keep: (awaited) => writeTab(PLACE, awaited),
  })

  function show({ email, items, nextCursor }: Purchases, byHand = false): void {
    code.drop()
    set({ step: 'done', email, purchases: items, nextCursor, byHand })
  }

  /** For a browser that has proved no mailbox: leads to the code it waits for, else to the question for an address. */
  function ask(message?: Message): void {
    const awaited = isAtCode() ? readTab<AwaitedCode>(PLACE) : undefined
    if (awaited) return set({ step: 'code', awaited, email: awaited.email })
    showStep('address')
    set({ step: 'address', purchases: [], nextCursor: null, message })
  }

  /** The first request. It shows no error to a browser that has proved no mailbox. */
  async function load(): Promise<void> {
    set({ step: 'opening', message: undefined })
    try {
      show(await getPurchases())
    } catch (trouble) {
      if (isForgotten(trouble)) ask()
      else set({ message: explainToBuyer(trouble), tries: get().tries + 1 })
    }
  }

  async function more(): Promise<void> {
    const { nextCursor, purchases } = get()
    if (nextCursor === null) return
    try {
      const next = await getPurchases(nextCursor)
      set({ purchases: [...purchases, ...next.items], nextCursor: next.nextCursor })
    } catch (trouble) {
      if (!isForgotten(trouble)) throw trouble
      ask(HOUR_OVER)
    }
  }

  async function renew(orderId: string): Promise<Download[]> {
    const { downloads } = await getStatus(orderId, get().email)
    set({ purchases: get().purchases.map((one) => (one.orderId === orderId ? { ...one, downloads } : one)) })
    return downloads
  }

  async function forget(): Promise<void> {
    await forgetLibrary()
    forgetEmail(get().email)
    code.drop()
    set({ step: 'address', email: '', purchases: [], nextCursor: null, message: FORGOTTEN })
  }

  addEventListener('popstate', () => {
    const { step } = get()
    if (step === 'address' || step === 'code') code.followHistory()
  })
  // A page restored from the browser's cache must not show purchases that were forgotten since.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
  void load()
  return {
    get,
    subscribe,
    ...code,
    load,
    more: () => code.attempt(words.loading, more),
    renew,
    forget: () => code.attempt(words.forgetting, forget),
  }
}

const FORGOTTEN = {
  calm: true,
  title: words.forgotten,
  text: words.forgottenText,
} as const

const HOUR_OVER = {
  calm: true,
  title: words.hourOver,
  text: words.hourOverText,
} as const

const isForgotten = (trouble: unknown): boolean => trouble instanceof ApiError && trouble.status === 401
