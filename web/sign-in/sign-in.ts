import { ApiError } from '../ui/api.ts'
import { askCode, enterCode, enterPassword, getProviders, getSession, getWaiting } from '../ui/auth-api.ts'
import { explain, explainCode, type Said } from '../ui/auth-words.ts'
import { read, write } from '../ui/storage.ts'
import { newStore, type Store } from '../ui/store.ts'
import { canGoBack, goalOf, readAddress, showStep } from './address.ts'

/** A seller who is already signed in should not see a form first. The form waits at most this long for the answer. */
const LOOK_MS = 400
/** The way that was last taken in this browser, which the page offers first. */
const WAY = 'till:way-in'

export type Way = 'code' | 'password'

export interface SignInState {
  step: 'looking' | 'mailbox' | 'code'
  way: Way
  email: string
  /** The code that this browser waits for. */
  waiting?: { email: string; provider: boolean; resendAt: number; sent: number } | undefined
  idp: boolean
  again: boolean
  forgot: boolean
  /** The action that is running. */
  busy?: string | undefined
  /** The message above the form: a refusal, or the reason for coming here. */
  said?: (Said & { calm?: boolean }) | undefined
  /** What is wrong with the code. */
  fault?: string | undefined
  tries: number
}

export interface SignIn extends Pick<Store<SignInState>, 'get' | 'subscribe'> {
  type: (email: string) => void
  choose: (way: Way) => void
  sendCode: () => Promise<void>
  resendCode: () => Promise<void>
  enterCode: (code: string) => Promise<void>
  enterPassword: (password: string) => Promise<void>
  /** For a forgotten password: a code first, then a new password. */
  forget: () => void
  /** Leads back to the mailbox. */
  change: () => void
}

export function openSignIn(): SignIn {
  const address = readAddress()
  const { get, set, subscribe } = newStore<SignInState>({
    step: 'looking',
    way: address.forgot ? 'code' : (read<Way>(WAY) ?? 'code'),
    email: '',
    idp: false,
    again: address.again,
    forgot: address.forgot,
    tries: 0,
  })

  async function arrive(): Promise<void> {
    void getProviders().then(
      ({ idp }) => set({ idp }),
      // Without this answer the page offers the other two ways.
      () => {},
    )
    if (address.error) set({ said: explainCode(address.error) })
    else if (address.out) set({ said: { title: 'You are signed out.', calm: true } })
    if (address.atCode) return findCode()
    if (address.error || address.out) showStep('mailbox')
    const session = getSession()
    void session.then(
      ({ seller }) => {
        // A seller who must confirm who they are, or who was sent here for a reason, stays on the page.
        if (address.again || address.error) set({ email: get().email || seller.email })
        else leave()
      },
      (trouble: unknown) => {
        if (trouble instanceof ApiError && trouble.code === 'session_conflict' && !get().busy)
          set({ said: explain(trouble) })
      },
    )
    await Promise.race([session.catch(() => {}), new Promise((resolve) => setTimeout(resolve, LOOK_MS))])
    if (get().step === 'looking' && !get().busy) set({ step: 'mailbox' })
  }

  /** After a reload, or on the way back from the provider: finds the mailbox that the code was sent to. */
  async function findCode(): Promise<void> {
    set({ step: 'looking' })
    try {
      const { email, provider, resendAfter } = await getWaiting()
      set({ step: 'code', email, waiting: { email, provider, resendAt: inSeconds(resendAfter), sent: 0 } })
    } catch (trouble) {
      const none = trouble instanceof ApiError && trouble.code === 'code_not_found'
      if (none && !address.again && (await isSignedIn())) return leave()
      showStep('mailbox')
      set({
        step: 'mailbox',
        said: none
          ? {
              title: 'No code is waiting for this browser any more.',
              text: 'It was used, or is too old. Ask for a new one.',
            }
          : explain(trouble),
      })
    }
  }

  const isSignedIn = () =>
    getSession().then(
      () => true,
      () => false,
    )

  /** Runs one action at a time and shows any refusal. */
  async function attempt(busy: string, work: () => Promise<void>): Promise<void> {
    if (get().busy) return
    set({ busy, said: undefined, fault: undefined })
    try {
      await work()
    } catch (trouble) {
      set({ busy: undefined, said: explain(trouble), tries: get().tries + 1 })
    }
  }

  function leave(way?: Way): void {
    if (way) write(WAY, way)
    set({ busy: 'Signing you in…' })
    location.replace(goalOf(readAddress()))
  }

  addEventListener('popstate', () => {
    const { atCode } = readAddress()
    const { waiting } = get()
    set({ said: undefined, fault: undefined })
    if (!atCode) set({ step: 'mailbox' })
    else if (waiting) set({ step: 'code' })
    else void findCode()
  })
  // A page restored from the browser's cache may show an old state: the seller may have signed in or out since.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
  void arrive()

  return {
    get,
    subscribe,
    type: (email) => set({ email, said: undefined }),
    choose: (way) => {
      showStep('mailbox', { forgot: undefined })
      set({ way, forgot: false, said: undefined })
    },
    sendCode: () =>
      attempt('Sending the code…', async () => {
        const email = get().email.trim().toLowerCase()
        const { resendAfter } = await askCode(email)
        set({
          busy: undefined,
          step: 'code',
          waiting: { email, provider: false, resendAt: inSeconds(resendAfter), sent: 0 },
        })
        showStep('code')
      }),
    resendCode: () =>
      attempt('Sending a new code…', async () => {
        const waiting = get().waiting!
        try {
          const { resendAfter } = await askCode(waiting.email, true)
          // The account that the provider sent waits while the code is still good, and is dropped once the code is not.
          const provider = waiting.provider && (await getWaiting()).provider
          set({
            busy: undefined,
            waiting: { ...waiting, provider, resendAt: inSeconds(resendAfter), sent: waiting.sent + 1 },
          })
        } catch (trouble) {
          const pause = trouble instanceof ApiError && trouble.code === 'rate_limited' && trouble.retryAfterSeconds
          if (pause) set({ waiting: { ...waiting, resendAt: inSeconds(pause) } })
          throw trouble
        }
      }),
    enterCode: (code) =>
      attempt('Checking the code…', async () => {
        try {
          await enterCode(get().waiting!.email, code)
          leave('code')
        } catch (trouble) {
          if (!(trouble instanceof ApiError && trouble.code === 'invalid_code')) throw trouble
          set({ busy: undefined, fault: await whyRefused(), tries: get().tries + 1 })
        }
      }),
    enterPassword: (password) =>
      attempt('Signing in…', async () => {
        await enterPassword(get().email.trim().toLowerCase(), password)
        leave('password')
      }),
    forget: () => {
      showStep('mailbox', { forgot: '1' })
      set({ way: 'code', forgot: true, said: undefined })
    },
    change: () => {
      if (canGoBack()) return history.back()
      showStep('mailbox')
      set({ step: 'mailbox', said: undefined, fault: undefined })
    },
  }
}

/** After a typing mistake the code is still good. After any other refusal it can never work again. */
async function whyRefused(): Promise<string> {
  const gone = await getWaiting().then(
    () => false,
    (trouble: unknown) => trouble instanceof ApiError && trouble.code === 'code_not_found',
  )
  return gone
    ? 'This code can no longer be used: it is too old, or was tried too often. Please ask for a new one.'
    : 'This code is not right. Please check the latest mail.'
}

const inSeconds = (seconds: number): number => Date.now() + seconds * 1000
