import { ApiError } from '../ui/api.ts'
import { explainToBuyer } from '../ui/buyer-words.ts'
import {
  mailboxCode,
  type AwaitedCode,
  type MailboxCode,
  type MailboxCodeState,
  type Message,
} from '../ui/mailbox-code.ts'
import { isAtCode, showStep } from '../ui/step-in-address.ts'
import { newStore, type Store } from '../ui/store.ts'
import { readTab, writeTab } from '../ui/tab-storage.ts'
import { askChargeCode, type ChargeFound, findCharge, type Line } from './charge-api.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('charge')

/** The awaited code and its line, for a reload of this tab. */
const PLACE = 'till:charge'
const NEW_LINE: Line = {
  descriptor: typedBefore('descriptor'),
  amount: typedBefore('amount'),
  date: typedBefore('date'),
}

export interface ChargeState extends MailboxCodeState {
  /** The typed line of the statement. */
  line: Line
  /** The line for which the awaited code was asked. The form may show another one by now. */
  askedLine: Line
  found?: (ChargeFound & { email: string }) | undefined
}

export interface Charge extends Pick<Store<ChargeState>, 'get' | 'subscribe'>, MailboxCode {
  typeLine: (change: Partial<Line>) => void
}

/** The steps of the page: the line of a statement, the code to the mailbox, the orders behind the line. */
export function openCharge(): Charge {
  const saved = isAtCode() ? readTab<AwaitedCode & { line: Line }>(PLACE) : undefined
  if (isAtCode() && !saved) showStep('address')
  const store = newStore<ChargeState>({
    step: saved ? 'code' : 'address',
    email: saved?.email ?? typedBefore('email'),
    line: saved?.line ?? NEW_LINE,
    askedLine: saved?.line ?? NEW_LINE,
    awaited: saved,
    tries: 0,
  })
  const { get, set, subscribe } = store
  const code = mailboxCode(store, {
    checking: wordsOf('code').lookingUp,
    async sendCode(email, again) {
      const line = again ? get().askedLine : get().line
      const sent = await askChargeCode(email, line)
      set({ askedLine: line })
      return sent
    },
    async openWith(email, digits) {
      const found = await findCharge(email, digits, get().askedLine)
      code.drop()
      set({ step: 'done', found: { ...found, email } })
    },
    keep: (awaited) => writeTab(PLACE, awaited && { ...awaited, line: get().askedLine }),
    explain: explainLine,
  })
  addEventListener('popstate', code.followHistory)
  return {
    get,
    subscribe,
    ...code,
    typeLine: (change) => set({ line: { ...get().line, ...change }, message: undefined }),
  }
}

/** Names the field in which the service finds something wrong with the line. */
function explainLine(trouble: unknown): Message {
  const field = trouble instanceof ApiError ? trouble.fields[0] : undefined
  if (!(trouble instanceof ApiError) || !field) return explainToBuyer(trouble)
  const name = FIELD_NAMES[field.path]
  if (trouble.code === 'validation_failed' && name)
    return { title: `${name}: ${words.cannotRead}`, text: words.asOnStatement }
  if (trouble.code === 'card_number_refused')
    return { ...explainToBuyer(trouble), field: { name: field.path, text: words.noCardNumber } }
  return explainToBuyer(trouble)
}

const FIELD_NAMES: Record<string, string> = {
  email: wordsOf('ui').email,
  descriptor: words.text,
  amount: words.amount,
  date: words.date,
}
