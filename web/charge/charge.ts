import { ApiError } from '../ui/api.ts'
import { explain, type Said } from '../ui/auth-words.ts'
import { newStore, type Store } from '../ui/store.ts'
import { askChargeCode, type ChargeFound, findCharge, type Line } from './charge-api.ts'

/** Kept for this tab alone: on a phone the browser may reload the page after the buyer has read the mail. */
const PLACE = 'till:charge'
const CODE_MS = 600_000
const MOST_WRONG = 5

export interface Asked {
  email: string
  line: Line
  /** When the last code was sent, and when the buyer may ask for another. */
  askedAt: number
  resendAt: number
  sent: number
  wrong: number
}

export interface ChargeState {
  step: 'ask' | 'code' | 'found'
  email: string
  line: Line
  /** The code that this browser waits for. */
  asked?: Asked | undefined
  found?: ChargeFound | undefined
  /** The action that is running. */
  busy?: string | undefined
  /** The refusal that the page shows above the form. */
  said?: Said | undefined
  /** The field that holds a card number. The page shows the refusal at this field too. */
  refused?: { field: string; text: string } | undefined
  /** What is wrong with the code. */
  fault?: string | undefined
  tries: number
}

export interface Charge extends Pick<Store<ChargeState>, 'get' | 'subscribe'> {
  type: (change: { email?: string; line?: Partial<Line> }) => void
  sendCode: () => Promise<void>
  resendCode: () => Promise<void>
  enterCode: (code: string) => Promise<void>
  /** Leads back to the form. */
  change: () => void
}

const NOTHING: Line = { descriptor: '', amount: '', date: '' }

/** The steps of the page: the line of a statement, the code to the mailbox, the orders behind the line. */
export function openCharge(): Charge {
  const kept = isAtCode() ? keptAsked() : undefined
  const { get, set, subscribe } = newStore<ChargeState>({
    step: kept ? 'code' : 'ask',
    email: kept?.email ?? '',
    line: kept?.line ?? NOTHING,
    asked: kept,
    tries: 0,
  })
  if (isAtCode() && !kept) showStep('ask')

  function setAsked(asked: Asked): void {
    keep(asked)
    set({ asked })
  }

  /** Runs one action at a time and shows any refusal. */
  async function attempt(busy: string, work: () => Promise<void>): Promise<void> {
    if (get().busy) return
    set({ busy, said: undefined, refused: undefined, fault: undefined })
    try {
      await work()
      set({ busy: undefined })
    } catch (trouble) {
      set({ busy: undefined, said: said(trouble), refused: refused(trouble), tries: get().tries + 1 })
    }
  }

  addEventListener('popstate', () => {
    const { asked } = get()
    if (isAtCode() && asked) set({ step: 'code', said: undefined, fault: undefined })
    else set({ step: 'ask', found: undefined, said: undefined, fault: undefined })
  })

  return {
    get,
    subscribe,
    type: ({ email, line }) =>
      set({ email: email ?? get().email, line: { ...get().line, ...line }, said: undefined, refused: undefined }),
    sendCode: () =>
      attempt('Sending the code…', async () => {
        const email = get().email.trim().toLowerCase()
        const { line } = get()
        const { resendAfter } = await askChargeCode(email, line)
        setAsked({ email, line, askedAt: Date.now(), resendAt: inSeconds(resendAfter), sent: 0, wrong: 0 })
        set({ step: 'code' })
        showStep('code')
      }),
    resendCode: () =>
      attempt('Sending a new code…', async () => {
        const asked = get().asked!
        try {
          const { resendAfter } = await askChargeCode(asked.email, asked.line)
          const again = { askedAt: Date.now(), resendAt: inSeconds(resendAfter), sent: asked.sent + 1, wrong: 0 }
          setAsked({ ...asked, ...again })
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
          const found = await findCharge(asked.email, code, asked.line)
          keep(undefined)
          showStep('ask')
          set({ step: 'found', found })
        } catch (trouble) {
          if (!(trouble instanceof ApiError && trouble.code === 'invalid_code')) throw trouble
          const counted = { ...asked, wrong: asked.wrong + 1 }
          setAsked(counted)
          set({ fault: whyRefused(counted), tries: get().tries + 1 })
        }
      }),
    change: () => {
      if (get().step === 'code' && canGoBack()) return history.back()
      showStep('ask')
      set({ step: 'ask', found: undefined, said: undefined, fault: undefined })
    },
  }
}

/** After a typing mistake the code is still good. After any other refusal it can never work again. */
const whyRefused = ({ wrong, askedAt }: Asked): string =>
  wrong >= MOST_WRONG || Date.now() > askedAt + CODE_MS
    ? 'This code can no longer be used: it is too old, or was tried too often. Please ask for a new one.'
    : 'This code is not right. Please check the latest mail.'

/** Shows what the service finds wrong with the line at the matching field. */
function said(trouble: unknown): Said {
  const field = trouble instanceof ApiError && trouble.code === 'validation_failed' ? trouble.fields[0] : undefined
  const name = field && FIELD_NAMES[field.path]
  return name
    ? { title: `${name} cannot be read.`, text: 'Please type it as it stands on your statement.' }
    : explain(trouble)
}

function refused(trouble: unknown): ChargeState['refused'] {
  const field = trouble instanceof ApiError && trouble.code === 'card_number_refused' ? trouble.fields[0] : undefined
  return field && { field: field.path, text: 'Please leave the number of the card out.' }
}

const FIELD_NAMES: Record<string, string> = {
  email: 'The e-mail address',
  descriptor: 'The text of the line',
  amount: 'The amount',
  date: 'The date',
}

/** The address holds the step, so that a reload and the "back" button do what the buyer expects. */
function showStep(step: 'ask' | 'code'): void {
  const url = step === 'code' ? `${location.pathname}?step=code` : location.pathname
  if (step === 'code' && !isAtCode()) history.pushState({ begun: true }, '', url)
  else history.replaceState(history.state, '', url)
}

function isAtCode(): boolean {
  return new URLSearchParams(location.search).get('step') === 'code'
}

const canGoBack = (): boolean => (history.state as { begun?: boolean } | null)?.begun === true

function keep(asked: Asked | undefined): void {
  try {
    if (asked) sessionStorage.setItem(PLACE, JSON.stringify(asked))
    else sessionStorage.removeItem(PLACE)
  } catch {
    // When the browser forbids storing, the buyer asks for the code again after a reload.
  }
}

function keptAsked(): Asked | undefined {
  try {
    const asked = JSON.parse(sessionStorage.getItem(PLACE) ?? 'null') as Asked | null
    return asked ?? undefined
  } catch {
    return undefined
  }
}

const inSeconds = (seconds: number): number => Date.now() + seconds * 1000
