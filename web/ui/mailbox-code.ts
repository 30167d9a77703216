import { CODE_SECONDS, MOST_WRONG_TRIES } from '../../src/kit/code-limits.ts'
import { ApiError } from './api.ts'
import { explain, type Said } from './auth-words.ts'
import { canGoBack, isAtCode, showStep } from './step-in-address.ts'
import type { Store } from './store.ts'
import { wordsOf } from './language.ts'

const words = wordsOf('code')

/** The mailed code that this browser waits for. */
export interface AwaitedCode {
  email: string
  /** When the last code was sent, and when the person may ask for another. */
  askedAt: number
  resendAt: number
  /** The number of codes sent after the first. */
  sent: number
  /** The number of wrong tries with the last code. */
  wrong: number
}

/** The page's message above the form. */
export interface Message extends Said {
  /** Good news, and no refusal. */
  calm?: boolean
  /** The field that the refusal is about, and the text beside it. */
  field?: { name: string; text: string }
}

export interface MailboxCodeState {
  /** `opening`: the page does not know yet which step comes first. `done`: the code was right. */
  step: 'opening' | 'address' | 'code' | 'done'
  /** The typed address. */
  email: string
  awaited?: AwaitedCode | undefined
  /** The action that is running. */
  busy?: string | undefined
  message?: Message | undefined
  /** The fault of the entered code. */
  fault?: string | undefined
  /** The number of refused tries. */
  tries: number
}

/** The differences between the pages that ask for a code. */
export interface CodePage {
  /** Mails a code. `again`: in place of the one that this browser waits for. */
  sendCode: (email: string, again: boolean) => Promise<{ resendAfter: number }>
  /** Gives the code to the service, and shows the data that it opens, or leads there. */
  openWith: (email: string, code: string) => Promise<void>
  /** Says that the page waits for the service's answer to the code. */
  checking: string
  /** Keeps the awaited code for a reload. The service itself remembers which code a seller waits for. */
  keep?: (awaited: AwaitedCode | undefined) => void
  /** Whether the refused code can never work again. */
  isOver?: (awaited: AwaitedCode) => boolean | Promise<boolean>
  explain?: (trouble: unknown) => Message
}

export interface MailboxCode {
  type: (email: string) => void
  sendCode: () => Promise<void>
  resendCode: () => Promise<void>
  enterCode: (code: string) => Promise<void>
  /** Leads back to the address. */
  change: () => void
  /** Shows the step that the page's address names, after the browser's "back" or "forward". */
  followHistory: () => void
  /** Ends the wait for a code that was used or is not wanted any more. */
  drop: () => void
  /** Runs one action at a time, and shows why it was refused. */
  attempt: (busy: string, work: () => Promise<void>) => Promise<void>
}

/** The steps by which a person proves a mailbox: the address, then the code that was mailed to it. */
export function mailboxCode({ get, set }: Store<MailboxCodeState>, page: CodePage): MailboxCode {
  function setAwaited(awaited: AwaitedCode | undefined): void {
    page.keep?.(awaited)
    set({ awaited })
  }

  async function attempt(busy: string, work: () => Promise<void>): Promise<void> {
    if (get().busy) return
    set({ busy, message: undefined, fault: undefined })
    try {
      await work()
      set({ busy: undefined })
    } catch (trouble) {
      set({ busy: undefined, message: (page.explain ?? explain)(trouble), tries: get().tries + 1 })
    }
  }

  async function send(): Promise<void> {
    const email = get().email.trim().toLowerCase()
    const { resendAfter } = await page.sendCode(email, false)
    setAwaited(awaitedCode(email, resendAfter))
    set({ step: 'code' })
    showStep('code')
  }

  async function resend(): Promise<void> {
    const awaited = get().awaited!
    try {
      const { resendAfter } = await page.sendCode(awaited.email, true)
      setAwaited({ ...awaitedCode(awaited.email, resendAfter), sent: awaited.sent + 1 })
    } catch (trouble) {
      const pause = trouble instanceof ApiError && trouble.code === 'rate_limited' && trouble.retryAfterSeconds
      if (pause) setAwaited({ ...awaited, resendAt: inSeconds(pause) })
      throw trouble
    }
  }

  const faultOf = (fault: string) => ({ fault, tries: get().tries + 1 })

  async function enter(code: string): Promise<void> {
    const awaited = get().awaited!
    try {
      await page.openWith(awaited.email, code)
    } catch (trouble) {
      if (!(trouble instanceof ApiError)) throw trouble
      if (trouble.code === 'cookie_missing') return set(faultOf(isUsedUp(awaited) ? words.over : words.noCookie))
      if (trouble.code !== 'invalid_code') throw trouble
      const counted = { ...awaited, wrong: awaited.wrong + 1 }
      setAwaited(counted)
      set(faultOf((await (page.isOver ?? isUsedUp)(counted)) ? words.over : words.wrong))
    }
  }

  return {
    type: (email) => set({ email, message: undefined }),
    sendCode: () => attempt(words.sending, send),
    resendCode: () => attempt(words.sendingNew, resend),
    enterCode: (code) => attempt(page.checking, () => enter(code)),
    change() {
      if (get().step === 'code' && canGoBack()) return history.back()
      showStep('address')
      set({ step: 'address', message: undefined, fault: undefined })
    },
    followHistory: () =>
      set({ step: isAtCode() && get().awaited ? 'code' : 'address', message: undefined, fault: undefined }),
    drop() {
      setAwaited(undefined)
      showStep('address')
      set({ fault: undefined })
    },
    attempt,
  }
}

export const awaitedCode = (email: string, resendAfter: number): AwaitedCode => ({
  email,
  askedAt: Date.now(),
  resendAt: inSeconds(resendAfter),
  sent: 0,
  wrong: 0,
})

/** After a typing mistake the code is still good. After too many, or too long, it can never work again. */
const isUsedUp = ({ wrong, askedAt }: AwaitedCode): boolean =>
  wrong >= MOST_WRONG_TRIES || Date.now() > askedAt + CODE_SECONDS * 1000

const inSeconds = (seconds: number): number => Date.now() + seconds * 1000
