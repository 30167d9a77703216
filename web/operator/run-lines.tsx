import { money } from '../ui/format.ts'
import { Doing } from './doing.tsx'
import { blockWords, PAYOUT_STATES } from './payout-words.ts'
import { type RunDetail, type RunLine, leaveOut } from './payouts-api.ts'

interface LinesProps {
  id: string
  title: string
  lines: RunLine[]
  none: string
  run: RunDetail
  onDone: () => void
}

/** The sellers that a run pays, or does not pay. */
export function Lines({ id, title, lines, none, run, onDone }: LinesProps) {
  return (
    <section class="stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {lines.length === 0 ? (
        <p class="soft">{none}</p>
      ) : (
        <ul class="rows found">
          {lines.map((line) => (
            <LineRow key={`${line.sellerId} ${line.currency}`} line={line} run={run} onDone={onDone} />
          ))}
        </ul>
      )}
    </section>
  )
}

function LineRow({ line, run, onDone }: { line: RunLine; run: RunDetail; onDone: () => void }) {
  const { sellerId, name, email, currency, amount, blocked, owes, destination, payout } = line
  const shown = payout ? payout.amount : amount
  return (
    <li>
      <a class="name" href={payout ? `#/payouts/${payout.payoutId}` : `#/sellers/${sellerId}`}>
        {name}
      </a>
      <span class="number">
        {shown < 0 ? '−' : ''}
        {money(Math.abs(shown), currency)}
      </span>
      <p class="small soft">
        {blocked ? `${blockWords(line)} · ` : ''}
        {payout && `${PAYOUT_STATES[payout.status][0]}${payout.failure ? `: ${payout.failure}` : ''} · `}
        {payout && payout.amount !== amount && `${money(amount, currency)} was proposed · `}
        {destination && `${destination} · `}
        {email}
      </p>
      {/* absent while an instance of an earlier release answers */}
      {owes && owes.length > 0 && (
        <p class="small">
          The seller owes {owes.map((debt) => money(debt.amount, debt.currency)).join(' and ')}.
          {run.state === 'proposed' && blocked === null && ' The run pays this all the same, unless you leave it out.'}
        </p>
      )}
      {payout?.toSuspended && (
        <p class="small">
          The shop is suspended.{' '}
          {payout.exported
            ? 'A bank file pays it all the same.'
            : 'The bank file pays it unless you choose “Do not pay it”.'}
        </p>
      )}
      {run.state === 'proposed' && (blocked === null || blocked === 'left_out') && (
        <div class="choice">
          <LeaveOut line={line} runId={run.runId} onDone={onDone} />
        </div>
      )}
    </li>
  )
}

/** The operator can wait with one seller, and pay the others. */
function LeaveOut({ line, runId, onDone }: { line: RunLine; runId: string; onDone: () => void }) {
  const isOut = line.blocked !== 'left_out'
  const what = `${money(line.amount, line.currency)} to ${line.name}`
  return (
    <Doing
      label={isOut ? 'Leave out' : 'Take in again'}
      question={isOut ? `Leave out ${what}?` : `Take in ${what} again?`}
      name={`${isOut ? 'Leave out' : 'Take in again'}: ${what}`}
      work={() => leaveOut(line, runId, isOut).then(() => (isOut ? 'Left out.' : 'Taken in again.'))}
      onDone={onDone}
    >
      <p>{isOut ? 'The money stays in the balance, and the next run proposes it.' : 'This run pays it then.'}</p>
    </Doing>
  )
}
