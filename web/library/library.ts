import { getStatus, ApiError, type Download } from '../ui/api.ts'
import { explain, type Said } from '../ui/auth-words.ts'
import { forgetEmail } from '../ui/my-orders.ts'
import { newStore, type Store } from '../ui/store.ts'
import { canGoBack, isAtCode, keepAsked, keptAsked, showStep, whyRefused, type Asked } from './asked.ts'
import {
  askLibraryCode,
  forgetLibrary,
  getPurchases,
  openWithCode,
  type Purchase,
  type Purchases,
} from './library-api.ts'

export interface LibraryState {
  step: 'opening' | 'ask' | 'code' | 'open'
  email: string
  asked?: Asked | undefined
  purchases: Purchase[]
  nextCursor: string | null
  /** The action that is running. */
  busy?: string | undefined
  /** The message above the page: a refusal, or a success (`calm`). */
  said?: (Said & { calm?: true }) | undefined
  /** What is wrong with the code. */
  fault?: string | undefined
  tries: number
  /** The buyer has just opened it, so the focus moves to it. */
  byHand: boolean
}

export interface Library extends Pick<Store<LibraryState>, 'get' | 'subscribe'> {
  load: () => Promise<void>
  type: (email: string) => void
  sendCode: () => Promise<void>
  resendCode: () => Promise<void>
  enterCode: (code: string) => Promise<void>
  /** Leads back to the question for the address. */
  change: () => void
  more: () => Promise<void>
  /** The files of one order, with fresh links. */
  renew: (orderId: string) => Promise<Download[]>
  forget: () => Promise<void>
}

/** All purchases of a mailbox, from all sellers. Only a person who can read the mailbox sees them. */
export function openLibrary(): Library {
  const { get, set, subscribe } = newStore<LibraryState>({
    step: 'opening',
    email: '',
    purchases: [],
    nextCursor: null,
    tries: 0,
    byHand: false,
  })

  /** Runs one action at a time and shows any refusal. */
  async function attempt(busy: string, work: () => Promise<void>): Promise<void> {
    if (get().busy) return
    set({ busy, said: undefined, fault: undefined })
    try {
      await work()
      set({ busy: undefined })
    } catch (trouble) {
      set({ busy: undefined, said: explain(trouble), tries: get().tries + 1 })
    }
  }

  function setAsked(asked: Asked): void {
    keepAsked(asked)
    set({ asked, email: asked.email })
  }

  function show({ email, items, nextCursor }: Purchases, byHand = false): void {
    keepAsked(undefined)
    showStep('ask')
    set({ step: 'open', email, purchases: items, nextCursor, asked: undefined, byHand, fault: undefined })
  }

  /** For a browser that has proved no mailbox: leads to the code it waits for, else to the question for an address. */
  function ask(said?: LibraryState['said']): void {
    const kept = isAtCode() ? keptAsked() : undefined
    if (kept) return set({ step: 'code', asked: kept, email: kept.email })
    showStep('ask')
    set({ step: 'ask', purchases: [], nextCursor: null, said })
  }

  /** The first request. It shows no error to a browser that has proved no mailbox. */
  async function load(): Promise<void> {
    set({ step: 'opening', said: undefined })
    try {
      show(await getPurchases())
    } catch (trouble) {
      if (isForgotten(trouble)) ask()
      else set({ said: explain(trouble), tries: get().tries + 1 })
    }
  }

  addEventListener('popstate', () => {
    const { step, asked } = get()
    if (step !== 'ask' && step !== 'code') return
    if (isAtCode() && asked) set({ step: 'code', said: undefined, fault: undefined })
    else set({ step: 'ask', said: undefined, fault: undefined })
  })
  // A page restored from the browser's cache must not show purchases that were forgotten since.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
  void load()

  return {
    get,
    subscribe,
    load,
    type: (email) => set({ email, said: undefined }),
    sendCode: () =>
      attempt('Sending the code…', async () => {
        const email = get().email.trim().toLowerCase()
        const { resendAfter } = await askLibraryCode(email)
        setAsked({ email, askedAt: Date.now(), resendAt: inSeconds(resendAfter), sent: 0, wrong: 0 })
        set({ step: 'code' })
        showStep('code')
      }),
    resendCode: () =>
      attempt('Sending a new code…', async () => {
        const asked = get().asked!
        try {
          const { resendAfter } = await askLibraryCode(asked.email)
          setAsked({
            ...asked,
            askedAt: Date.now(),
            resendAt: inSeconds(resendAfter),
            sent: asked.sent + 1,
            wrong: 0,
          })
        } catch (trouble) {
          const pause = trouble instanceof ApiError && trouble.code === 'rate_limited' && trouble.retryAfterSeconds
          if (pause) setAsked({ ...asked, resendAt: inSeconds(pause) })
          throw trouble
        }
      }),
    enterCode: (code) =>
      attempt('Looking…', async () => {
        const asked = get().asked!
        try {
          show(await openWithCode(asked.email, code), true)
        } catch (trouble) {
          if (!(trouble instanceof ApiError && trouble.code === 'invalid_code')) throw trouble
          const counted = { ...asked, wrong: asked.wrong + 1 }
          setAsked(counted)
          set({ fault: whyRefused(counted), tries: get().tries + 1 })
        }
      }),
    change() {
      if (get().step === 'code' && canGoBack()) return history.back()
      showStep('ask')
      set({ step: 'ask', said: undefined, fault: undefined })
    },
    more: () =>
      attempt('Loading more…', async () => {
        const { nextCursor, purchases } = get()
        if (nextCursor === null) return
        try {
          const next = await getPurchases(nextCursor)
          set({ purchases: [...purchases, ...next.items], nextCursor: next.nextCursor })
        } catch (trouble) {
          if (!isForgotten(trouble)) throw trouble
          ask(HOUR_OVER)
        }
      }),
    async renew(orderId) {
      const { downloads } = await getStatus(orderId, get().email)
      set({ purchases: get().purchases.map((one) => (one.orderId === orderId ? { ...one, downloads } : one)) })
      return downloads
    },
    forget: () =>
      attempt('Forgetting…', async () => {
        await forgetLibrary()
        forgetEmail(get().email)
        keepAsked(undefined)
        set({ step: 'ask', email: '', purchases: [], nextCursor: null, asked: undefined })
        set({ said: FORGOTTEN })
      }),
  }
}

const FORGOTTEN = {
  calm: true,
  title: 'Forgotten.',
  text: 'Nothing of what you bought is kept in this browser.',
} as const

const HOUR_OVER = {
  calm: true,
  title: 'The hour is over.',
  text: 'A code opens this page for one hour, so that your purchases do not stay on a screen left open. Please ask for a new code.',
} as const

const isForgotten = (trouble: unknown): boolean => trouble instanceof ApiError && trouble.status === 401
const inSeconds = (seconds: number): number => Date.now() + seconds * 1000
