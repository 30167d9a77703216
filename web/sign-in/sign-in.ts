import { askCode, enterCode, enterPassword, getWaiting } from '../ui/auth-api.ts'
import { mailboxCode, type MailboxCode } from '../ui/mailbox-code.ts'
import { isAtCode, showStep } from '../ui/step-in-address.ts'
import { read, write } from '../ui/storage.ts'
import { newStore, type Store } from '../ui/store.ts'
import { readAddress } from './address.ts'
import { arrive, findCode, isNoCode, leave } from './arrival.ts'
import type { SignInState, Way } from './state.ts'

/** The way that was last taken in this browser, which the page offers first. */
const LAST_WAY = 'till:way-in'

export interface SignIn extends Pick<Store<SignInState>, 'get' | 'subscribe'>, MailboxCode {
  choose: (way: Way) => void
  enterPassword: (password: string) => Promise<void>
  /** For a forgotten password: a code first, then a new password. */
  forget: () => void
}

export function openSignIn(): SignIn {
  const { again, forgot } = readAddress()
  const store = newStore<SignInState>({
    step: 'opening',
    way: forgot ? 'code' : (read<Way>(LAST_WAY) ?? 'code'),
    email: '',
    fromProvider: false,
    idp: false,
    again,
    forgot,
    tries: 0,
  })
  const { get, set, subscribe } = store
  const leaveBy = (way: Way) => {
    write(LAST_WAY, way)
    return leave(store)
  }
  const code = mailboxCode(store, {
    checking: 'Checking the code…',
    async sendCode(email, isAgain) {
      const sent = await askCode(email, isAgain)
      // The account that the provider sent waits while the code is still good, and is dropped once the code is not.
      set({ fromProvider: isAgain && get().fromProvider && (await getWaiting()).provider })
      return sent
    },
    async openWith(email, digits) {
      await enterCode(email, digits)
      await leaveBy('code')
    },
    isOver: () => getWaiting().then(() => false, isNoCode),
  })
  addEventListener('popstate', () => {
    code.followHistory()
    if (isAtCode() && !get().awaited) void findCode(store, again)
  })
  // A page restored from the browser's cache may show an old state: the seller may have signed in or out since.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
  void arrive(store)
  return {
    get,
    subscribe,
    ...code,
    choose(way) {
      showStep('address', { forgot: undefined })
      set({ way, forgot: false, message: undefined })
    },
    enterPassword: (password) =>
      code.attempt('Signing in…', async () => {
        await enterPassword(get().email.trim().toLowerCase(), password)
        await leaveBy('password')
      }),
    forget() {
      showStep('address', { forgot: '1' })
      set({ way: 'code', forgot: true, message: undefined })
    },
  }
}
