import { ApiError } from '../ui/api.ts'
import { explain } from '../ui/auth-words.ts'
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

/** The awaited code and its line, for a reload of this tab. */
const PLACE = 'till:charge'
const NO_LINE: Line = { descriptor: '', amount: '', date: '' }

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
    email: saved?.email ?? '',
    line: saved?.line ?? NO_LINE,
    askedLine: saved?.line ?? NO_LINE,
    awaited: saved,
    tries: 0,
  })
  const { get, set, subscribe } = store
  const code = mailboxCode(store, {
    checking: 'Looking it up…',
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
  if (!(trouble instanceof ApiError) || !field) return explain(trouble)
  const name = FIELD_NAMES[field.path]
  if (trouble.code === 'validation_failed' && name)
    return { title: `${name} cannot be read.`, text: 'Please type it as it stands on your statement.' }
  if (trouble.code === 'card_number_refused')
    return { ...explain(trouble), field: { name: field.path, text: 'Please leave the number of the card out.' } }
  return explain(trouble)
}

const FIELD_NAMES: Record<string, string> = {
  email: 'The e-mail address',
  descriptor: 'The text of the line',
  amount: 'The amount',
  date: 'The date',
}
