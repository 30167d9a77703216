import { ApiError } from '../ui/api.ts'
import { getProviders, getSession, getWaiting } from '../ui/auth-api.ts'
import { explain, explainCode } from '../ui/auth-words.ts'
import { awaitedCode } from '../ui/mailbox-code.ts'
import { isAtCode, showStep } from '../ui/step-in-address.ts'
import type { Store } from '../ui/store.ts'
import { goalOf, readAddress } from './address.ts'
import type { SignInState } from './state.ts'

/** A seller who is already signed in should not see a form first. The form waits at most this long for the answer. */
const LOOK_MS = 400

/** Finds the first step: this browser may wait for a code, or the seller may be signed in already. */
export async function arrive({ get, set }: Store<SignInState>): Promise<void> {
  const { error, out, again } = readAddress()
  void getProviders().then(
    ({ idp }) => set({ idp }),
    // Without this answer the page offers the other two ways.
    () => {},
  )
  if (error) set({ message: explainCode(error) })
  else if (out) set({ message: { title: 'You are signed out.', calm: true } })
  if (isAtCode()) return findCode({ set }, again)
  if (error || out) showStep('address')
  const session = getSession()
  void session.then(
    ({ seller }) => {
      // A seller who must confirm who they are, or who was sent here for a reason, stays on the page.
      if (again || error) set({ email: get().email || seller.email })
      else void leave({ set })
    },
    (trouble: unknown) => {
      if (trouble instanceof ApiError && trouble.code === 'session_conflict' && !get().busy)
        set({ message: explain(trouble) })
    },
  )
  await Promise.race([session.catch(() => {}), new Promise((resolve) => setTimeout(resolve, LOOK_MS))])
  if (get().step === 'opening' && !get().busy) set({ step: 'address' })
}

/**
 * After a reload, or on the way back from the provider: finds the mailbox that the code was sent to. `again`: a seller
 * who is signed in stays here.
 */
export async function findCode({ set }: Pick<Store<SignInState>, 'set'>, again: boolean): Promise<void> {
  set({ step: 'opening' })
  try {
    const { email, provider, resendAfter } = await getWaiting()
    set({ step: 'code', email, awaited: awaitedCode(email, resendAfter), fromProvider: provider })
  } catch (trouble) {
    const isNone = isNoCode(trouble)
    if (isNone && !again && (await isSignedIn())) return leave({ set })
    showStep('address')
    set({ step: 'address', message: isNone ? NO_CODE : explain(trouble) })
  }
}

/** Leads to where the seller wanted to go. It never resolves, because nothing more appears on this page. */
export function leave({ set }: Pick<Store<SignInState>, 'set'>): Promise<never> {
  set({ busy: 'Signing you in…' })
  location.replace(goalOf(readAddress()))
  return new Promise(() => {})
}

/** The service knows of no code that this browser waits for: it was used, tried too often, or is too old. */
export const isNoCode = (trouble: unknown): boolean => trouble instanceof ApiError && trouble.code === 'code_not_found'

const isSignedIn = () =>
  getSession().then(
    () => true,
    () => false,
  )

const NO_CODE = {
  title: 'No code is waiting for this browser any more.',
  text: 'It was used, or is too old. Ask for a new one.',
}
