import { useEffect, useRef, useState } from 'preact/hooks'
import { Submit } from '../ui/button.tsx'
import { newKey } from '../ui/new-key.ts'
import { Notice } from '../ui/notice.tsx'
import { TextField, emailFault } from '../ui/text-field.tsx'
import { WORDS, explainWithdrawal } from './words.ts'
import { type Draft, type Statement, type Withdrawal, saveDraft, savedDraft, withdraw } from './withdraw-api.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { LOCALE, saying } from '../ui/language.ts'

/** The step that the browser's Back leads away from. */
const isAtCheck = (): boolean => (history.state as { step?: string } | null)?.step === 'check'

const FIELDS = ['name', 'contract', 'email'] as const satisfies (keyof Statement)[]

/** The withdrawal function: the statement, its confirmation, and the acknowledgement. */
export function WithdrawPage() {
  const [draft, setDraft] = useState<Draft>(() => draftHere() ?? newDraft())
  const [isChecking, setChecking] = useState(() => isAtCheck() && draftHere() !== undefined)
  const [done, setDone] = useState<Withdrawal>()
  const title = done ? WORDS.doneTitle : isChecking ? WORDS.checkTitle : WORDS.title
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirstRef = useRef(true)
  useEffect(() => {
    document.title = `${title} · Till`
    if (!isFirstRef.current) heading.current?.focus()
    isFirstRef.current = false
  }, [title])
  useEffect(() => {
    const follow = () => setChecking(isAtCheck())
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const check = (statement: Statement) => {
    // other words are another statement
    const isSame = FIELDS.every((name) => statement[name] === draft[name])
    const next = { ...statement, key: isSame ? draft.key : newKey() }
    setDraft(next)
    saveDraft(next)
    if (!isOfAddress(next)) nameNoOrder()
    history.pushState({ step: 'check' }, '')
    setChecking(true)
  }
  const arrived = (withdrawal: Withdrawal) => {
    saveDraft(undefined)
    history.replaceState(null, '')
    setDone(withdrawal)
  }
  return (
    <div class="withdrawing stack">
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {done ? (
        <Arrived withdrawal={done} />
      ) : isChecking ? (
        <Check draft={draft} onDone={arrived} />
      ) : (
        <Ask draft={draft} onAsk={check} />
      )}
    </div>
  )
}

const newDraft = (): Draft => ({ name: '', contract: orderInAddress(), email: '', key: newKey() })

/** A draft about another order than the link's is not used: the buyer could withdraw from the wrong one. */
const isOfAddress = ({ contract }: Statement): boolean => contract.includes(orderInAddress())

function draftHere(): Draft | undefined {
  const draft = savedDraft()
  return draft && isOfAddress(draft) ? draft : undefined
}

/** The buyer has entered another contract than the link names. Takes the order out of the address, so that a reload finds the draft. */
function nameNoOrder(): void {
  const address = new URL(location.href)
  address.searchParams.delete('order')
  history.replaceState(null, '', address)
}

/** Links of receipts and order pages name the order. */
function orderInAddress(): string {
  const order = new URLSearchParams(location.search).get('order') ?? ''
  return /^ord_[0-9a-z]{26}$/.test(order) ? order : ''
}

type Faults = Partial<Record<keyof Statement, string>>

function Ask({ draft, onAsk }: { draft: Draft; onAsk: (statement: Statement) => void }) {
  const [typed, setTyped] = useState<Statement>(() => ({
    name: typedBefore('name', draft.name),
    contract: typedBefore('contract', draft.contract),
    email: typedBefore('email', draft.email),
  }))
  const [faults, setFaults] = useState<Faults>({})
  const [tries, setTries] = useState(0)
  const submit = (event: Event) => {
    event.preventDefault()
    setTries(tries + 1)
    const statement = { ...typed, name: oneLine(typed.name), contract: oneLine(typed.contract) }
    const wrong = faultsOf(statement)
    setFaults(wrong)
    if (Object.keys(wrong).length === 0) onAsk(statement)
  }
  const field = (name: keyof Statement) => ({
    id: name,
    value: typed[name],
    onValue: (text: string) => {
      setTyped({ ...typed, [name]: text })
      setFaults({})
    },
    fault: faults[name],
    tries,
  })
  return (
    <>
      <p class="lead">{WORDS.lead}</p>
      <form class="stack" noValidate onSubmit={submit}>
        <TextField
          {...field('name')}
          label={WORDS.name}
          input={{ autoComplete: 'name', autoCapitalize: 'words', maxLength: 200, required: true }}
        />
        <TextField
          {...field('contract')}
          label={WORDS.contract}
          hint={WORDS.contractHint}
          input={{ autoComplete: 'off', autoCapitalize: 'sentences', maxLength: 500, required: true }}
        />
        <TextField
          {...field('email')}
          label={WORDS.email}
          hint={WORDS.emailHint}
          input={{ type: 'email', inputMode: 'email', autoComplete: 'email', maxLength: 254, required: true }}
        />
        <Submit busy={undefined}>{WORDS.begin}</Submit>
      </form>
    </>
  )
}

/** The service refuses tabs and other control characters, which come along when a buyer pastes from a mail or a table. */
const oneLine = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/\p{Cc}/gu, '')
    .trim()

function faultsOf({ name, contract, email }: Statement): Faults {
  if (name.trim() === '') return { name: WORDS.noName }
  if (contract.trim() === '') return { contract: WORDS.noContract }
  const bad = emailFault(email)
  return bad ? { email: bad } : {}
}

function Check({ draft, onDone }: { draft: Draft; onDone: (withdrawal: Withdrawal) => void }) {
  const [busy, setBusy] = useState<string>()
  const [trouble, setTrouble] = useState<unknown>()
  const [tries, setTries] = useState(0)
  const submit = (event: Event) => {
    event.preventDefault()
    if (busy) return
    setBusy(WORDS.confirming)
    setTries(tries + 1)
    setTrouble(undefined)
    withdraw(draft).then(onDone, (refused: unknown) => {
      setTrouble(refused)
      setBusy(undefined)
    })
  }
  const said = trouble === undefined ? undefined : explainWithdrawal(trouble)
  return (
    <>
      <p class="lead">{WORDS.checkLead}</p>
      {said && (
        <Notice key={tries} tone="alarm" title={said.title} role="alert">
          {said.text && <p>{said.text}</p>}
        </Notice>
      )}
      <StatementCard statement={draft} />
      <form class="stack" noValidate onSubmit={submit}>
        <Submit busy={busy}>{WORDS.confirm}</Submit>
        <output class="unseen">{busy}</output>
        <p>
          <button type="button" class="link" onClick={() => history.back()}>
            {WORDS.change}
          </button>
        </p>
      </form>
    </>
  )
}

function StatementCard({ statement, more }: { statement: Statement; more?: [string, string][] }) {
  const facts: [string, string][] = [
    [WORDS.name, statement.name],
    [WORDS.contract, statement.contract],
    [WORDS.email, statement.email],
    ...(more ?? []),
  ]
  return (
    <div class="statement stack">
      <p>
        <b>{WORDS.statement}</b>
      </p>
      <dl>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

function Arrived({ withdrawal }: { withdrawal: Withdrawal }) {
  const at = new Date(withdrawal.receivedAt)
  const time = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'long', timeStyle: 'long' }).format(at)
  return (
    <>
      <p class="lead">{saying(WORDS.doneLead, { email: <span class="address">{withdrawal.email}</span> })}</p>
      <StatementCard
        statement={withdrawal}
        more={[
          [WORDS.received, time],
          [WORDS.reference, withdrawal.withdrawalId],
        ]}
      />
      <p>{WORDS.doneText}</p>
    </>
  )
}
