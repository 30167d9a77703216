import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { money } from '../ui/format.ts'
import { Refused, SignInAgain } from '../shop/parts.tsx'
import { signInAgain } from './api.ts'
import { counted } from './payout-words.ts'
import { readStatement, type ReadStatement } from './payouts-api.ts'

type Outcome = ReadStatement['lines'][number]['outcome']

/** The outcome of a line of the statement: its label, its tone, and the advice to a person. */
const OUTCOMES: Record<Outcome, [label: string, tone: 'good' | 'quiet' | 'bad', advice?: string]> = {
  paid: ['Paid', 'good'],
  failed: ['Failed', 'bad'],
  reversed: ['Came back', 'bad'],
  known_before: ['Known before', 'quiet'],
  not_found: ['Not found', 'bad', 'No payout has this reference. Nothing was changed.'],
  amount_differs: ['Other amount', 'bad', 'Ask your bank. Nothing was changed.'],
  other_account: ['Other account', 'bad', 'The statement is about another account than the one that SEPA files are paid from. Nothing was changed.'], // oxfmt-ignore
  not_expected: ['Not expected', 'bad', 'The bank paid what was marked as failed or is in no file, or paid twice. Nothing was changed, and money may be missing.'], // oxfmt-ignore
}
const ONE_CAME_BACK =
  'The bank paid twice and one payment came back, or the payout is in no bank file. Nothing was changed. If there was only one payment, mark the payout as come back.'

/** Takes the bank's statement. Payouts that it confirms are paid, and money that it returns goes back to the balances. */
export function StatementUpload({ onRead }: { onRead: () => void }) {
  const action = useAction()
  const [read, setRead] = useState<{ name: string; statement: ReadStatement }>()
  const place = useRef<HTMLInputElement>(null)
  // A disabled input loses the focus. A refusal has taken it by now.
  useEffect(() => {
    if (action.tries > 0 && !action.busy && document.activeElement === document.body) place.current?.focus()
  }, [action.busy, action.tries])
  const take = (input: HTMLInputElement) => {
    const [file] = input.files ?? []
    if (!file) return
    void action.run(async () => {
      setRead(undefined)
      setRead({ name: file.name, statement: await readStatement(file) })
      onRead()
      return 'Read.'
    })
    input.value = ''
  }
  return (
    <section class="stack" aria-labelledby="statement">
      <h2 id="statement">What the bank says</h2>
      <div class="field">
        <label for="statement-file">Statement of your bank</label>
        <p class="small soft" id="statement-hint">
          A camt.053 file, or a CSV with the columns reference, amount, currency, status, bookedOn and reason. Each file
          is read once.
        </p>
        <input
          id="statement-file"
          ref={place}
          type="file"
          accept=".xml,.csv,text/csv,application/xml,text/xml"
          aria-describedby="statement-hint"
          disabled={action.busy}
          onChange={(event) => take(event.currentTarget)}
        />
      </div>
      {action.busy && (
        <output class="busy-line">
          <span class="spinner" aria-hidden="true" /> Reading…
        </output>
      )}
      <Refused action={action} />
      <SignInAgain action={action} onClick={signInAgain} />
      {read && <Result name={read.name} statement={read.statement} />}
    </section>
  )
}

function Result({ name, statement: { lines, others } }: { name: string; statement: ReadStatement }) {
  return (
    <div class="stack">
      <output>
        {name}: {counted(lines.length, 'line')} about payouts{others > 0 && `, ${others} about something else`}.
      </output>
      {lines.length > 0 && (
        <ul class="rows found">
          {lines.map(({ reference, status, amount, currency, outcome, payoutId, payoutAmount }) => {
            const [label, tone, usual] = OUTCOMES[outcome]
            const isBack = status === 'returned'
            const advice = isBack && outcome === 'not_expected' ? ONE_CAME_BACK : usual
            return (
              <li key={`${reference} ${status} ${outcome} ${amount}`}>
                {payoutId ? (
                  <a class="name" href={`#/payouts/${payoutId}`}>
                    {reference}
                  </a>
                ) : (
                  <span class="whole">{reference}</span>
                )}
                <span class={`tag ${tone}`}>{label}</span>
                <p class="small soft">
                  {money(amount, currency)} {isBack ? 'came back' : 'left'}
                  {outcome === 'amount_differs' &&
                    payoutAmount !== null &&
                    `, the payout is ${money(payoutAmount, currency)}`}
                  {advice && ` · ${advice}`}
                </p>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}
