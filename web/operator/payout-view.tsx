import { useState } from 'preact/hooks'
import { money, moment } from '../ui/format.ts'
import { TextField } from '../ui/text-field.tsx'
import { useLoad } from '../shop/load.ts'
import { Head, Shown } from '../shop/parts.tsx'
import { Doing } from './doing.tsx'
import { Entries } from './log-view.tsx'
import { PAYOUT_STATES } from './payout-words.ts'
import { getPayout, markPayout, payAgain, type OperatorPayout } from './payouts-api.ts'
import { RunView } from './run-view.tsx'
import type { ViewProps } from './view-props.ts'

/** A payout, or a run of them: the id says which. */
export const PayoutOrRun = ({ id }: ViewProps) => (id.startsWith('run_') ? <RunView id={id} /> : <PayoutView id={id} />)

function PayoutView({ id }: { id: string }) {
  const payout = useLoad(id, () => getPayout(id))
  return <Shown of={payout}>{(value) => <Details payout={value} again={payout.again} />}</Shown>
}

function Details({ payout, again }: { payout: OperatorPayout; again: () => void }) {
  const [changes, setChanges] = useState(0)
  const done = () => {
    setChanges(changes + 1)
    again()
  }
  const { payoutId, runId, seller, amount, currency, status, destination, reference, failure } = payout
  const [label, tone] = PAYOUT_STATES[status]
  const times: [string, string | null][] = [
    ['Approved', payout.createdAt],
    ['Sent', payout.sentAt],
    ['Confirmed', payout.paidAt],
    [status === 'reversed' ? 'Came back' : 'Failed', payout.endedAt],
  ]
  return (
    <>
      <Head title={`${money(amount, currency)} to ${seller.name}`} above={<a href="#/payouts">Payouts</a>}>
        <span class={`tag ${tone}`}>{label}</span>
      </Head>
      <dl class="panel facts">
        <dt>Payout</dt>
        <dd>{payoutId}</dd>
        <dt>Run</dt>
        <dd>
          <a href={`#/payouts/${runId}`}>{runId}</a>
        </dd>
        <dt>Seller</dt>
        <dd>
          <a href={`#/sellers/${seller.id}`}>{seller.name}</a>, {seller.email}
        </dd>
        <dt>Paid to</dt>
        <dd>{destination}</dd>
        <dt>Reference</dt>
        <dd>{reference}</dd>
        {times.map(([name, at]) =>
          at ? (
            <>
              <dt>{name}</dt>
              <dd>{moment(at)}</dd>
            </>
          ) : null,
        )}
        {failure && (
          <>
            <dt>{payout.sentAt ? 'The bank said' : 'The operator said'}</dt>
            <dd>{failure}</dd>
          </>
        )}
      </dl>
      <section class="stack" aria-labelledby="doing">
        <h2 id="doing">What you can do</h2>
        <Actions payout={payout} onDone={done} />
      </section>
      <Entries key={changes} subject={payoutId} />
    </>
  )
}

function Actions({ payout, onDone }: { payout: OperatorPayout; onDone: () => void }) {
  const { payoutId, status, exported, amount, currency, seller } = payout
  if (status === 'failed' || status === 'reversed') return <Returned payout={payout} onDone={onDone} />
  if (status === 'approved' && exported)
    return <p class="soft">It is in a bank file. Mark the run as sent when the bank has the file.</p>
  return (
    <div class="row">
      {status === 'sent' && (
        <Doing
          label="The bank confirms it"
          question="Did the bank pay it?"
          work={() => markPayout(payoutId, 'paid').then(() => 'Confirmed.')}
          onDone={onDone}
        >
          <p>
            {money(amount, currency)} reached {seller.name}. A statement of your bank does the same for many at once.
          </p>
        </Doing>
      )}
      <MarkBack
        mark={status === 'paid' ? 'reversed' : 'failed'}
        label={status === 'paid' ? 'It came back' : status === 'sent' ? 'The bank refused it' : 'Do not pay it'}
        payout={payout}
        onDone={onDone}
      />
    </div>
  )
}

/** The next step after a payout that failed or came back. */
function Returned({
  payout: { payoutId, holdsBack, destination },
  onDone,
}: {
  payout: OperatorPayout
  onDone: () => void
}) {
  if (!holdsBack) return <p class="soft">The money is in the seller’s balance again. The next run proposes it.</p>
  return (
    <>
      <p class="soft">
        The money is in the seller’s balance again. It stays there until the seller has saved the account again: the
        seller has a mail about it.
      </p>
      <div class="row">
        <Doing
          label="The account is right"
          question={`Pay ${destination} again?`}
          work={() => payAgain(payoutId).then(() => 'The next run pays it again.')}
          onDone={onDone}
        >
          <p>Do this when the fault was not in the account. The next run proposes the money again.</p>
        </Doing>
      </div>
    </>
  )
}

interface MarkBackProps {
  mark: 'failed' | 'reversed'
  label: string
  payout: OperatorPayout
  onDone: () => void
}

/** The money goes back to the seller’s balance. */
function MarkBack({
  mark,
  label,
  payout: { payoutId, status, amount, currency, seller, sentAt },
  onDone,
}: MarkBackProps) {
  const [reason, setReason] = useState('')
  const work = () =>
    markPayout(payoutId, mark, { reason: reason.trim(), state: status }).then(
      () => 'The money is in the balance again.',
    )
  return (
    <Doing
      label={label}
      question={`Put ${money(amount, currency)} back into the balance?`}
      grave
      work={work}
      onDone={onDone}
    >
      <p>
        Only do this when {seller.name} does not have the money: otherwise the next run pays it a second time. The
        seller gets a mail.
      </p>
      <TextField
        id="failure"
        label="Reason"
        hint={`${sentAt ? 'What the bank said' : 'Why you do not pay it'}. The seller reads it.`}
        value={reason}
        onValue={setReason}
        input={{ autoComplete: 'off', maxLength: 500 }}
      />
    </Doing>
  )
}
