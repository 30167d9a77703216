import { useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { money, moment } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLoad } from '../shop/load.ts'
import { Head, Refused, Shown, SignInAgain } from '../shop/parts.tsx'
import { signInAgain } from './api.ts'
import { Doing } from './doing.tsx'
import { Entries } from './log-view.tsx'
import { counted, FORMATS, PAYOUT_STATES, RUN_STATES } from './payout-words.ts'
import { approveRun, cancelRun, downloadFile, getRun, markSent, type RunDetail, type RunFile } from './payouts-api.ts'
import { Lines } from './run-lines.tsx'
import { whoIs } from './payouts-view.tsx'

/** One run: who is paid how much and who is not, its bank files, and the operator's actions. */
export function RunView({ id }: { id: string }) {
  const run = useLoad(id, () => getRun(id))
  return <Shown of={run}>{(value) => <Details run={value} again={run.again} />}</Shown>
}

function Details({ run, again }: { run: RunDetail; again: () => void }) {
  const [changes, setChanges] = useState(0)
  const done = () => {
    setChanges(changes + 1)
    again()
  }
  const [label, tone] = RUN_STATES[run.state]
  const paid = run.lines.filter(({ blocked }) => blocked === null)
  const blocked = run.lines.filter((line) => line.blocked !== null)
  return (
    <>
      <Head
        title={run.period ? `Run ${run.period}` : `Run of ${moment(run.createdAt)}`}
        above={<a href="#/payouts">Payouts</a>}
      >
        <span class={`tag ${tone}`}>{label}</span>
      </Head>
      <Facts run={run} />
      {run.state === 'proposed' && <Decide run={run} onDone={done} />}
      {run.state === 'approved' && <Files run={run} onDone={done} />}
      <Lines
        id="paid"
        title={run.state === 'approved' ? 'Payouts' : 'Would be paid'}
        lines={paid}
        none="No payouts."
        run={run}
        onDone={done}
      />
      {blocked.length > 0 && (
        <Lines id="blocked" title="Not paid, and why" lines={blocked} none="" run={run} onDone={done} />
      )}
      <Cut run={run} />
      <Entries key={changes} subject={run.runId} />
    </>
  )
}

/** A long run is not shown as a whole, and its other sellers are paid too. */
function Cut({ run: { lines, sums, state } }: { run: RunDetail }) {
  const all = sums.reduce((sum, { proposed, blocked }) => sum + proposed + blocked, 0)
  if (lines.length >= all) return null
  return (
    <Notice title={`These are the first ${lines.length} of ${all} lines.`}>
      {state === 'proposed' && (
        <p>
          To leave out a seller who is not shown, run <code>npm run payouts -- leave-out</code> on the machine.
        </p>
      )}
    </Notice>
  )
}

function Facts({
  run: { createdAt, createdBy, approvedAt, approvedBy, cancelledAt, cancelledBy, sums },
}: {
  run: RunDetail
}) {
  return (
    <dl class="panel facts">
      <dt>Proposed</dt>
      <dd>
        {moment(createdAt)} by {whoIs(createdBy)}
      </dd>
      {approvedAt && approvedBy && (
        <>
          <dt>Approved</dt>
          <dd>
            {moment(approvedAt)} by {whoIs(approvedBy)}
          </dd>
        </>
      )}
      {cancelledAt && cancelledBy && (
        <>
          <dt>Cancelled</dt>
          <dd>
            {moment(cancelledAt)} by {whoIs(cancelledBy)}
          </dd>
        </>
      )}
      {sums.map(({ currency, proposed, proposedAmount, blocked, payouts, payoutsAmount, byState }) => (
        <>
          <dt>{currency}</dt>
          <dd>
            {approvedAt ? money(payoutsAmount, currency) : money(proposedAmount, currency)} to{' '}
            {counted(approvedAt ? payouts : proposed, 'seller')}
            {blocked > 0 && `, ${blocked} not paid`}
            {approvedAt && payouts > 0 && ` (${stateWords(byState)})`}
          </dd>
        </>
      ))}
    </dl>
  )
}

const stateWords = (byState: Record<string, number>): string =>
  Object.entries(byState)
    .map(([state, count]) => `${count} ${PAYOUT_STATES[state as keyof typeof PAYOUT_STATES][0].toLowerCase()}`)
    .join(', ')

function Decide({ run, onDone }: { run: RunDetail; onDone: () => void }) {
  const { runId, sums } = run
  const paid = sums.filter(({ proposed }) => proposed > 0)
  const total = paid.map(({ currency, proposedAmount }) => money(proposedAmount, currency)).join(' and ')
  return (
    <section class="stack" aria-labelledby="decide">
      <h2 id="decide">Your decision</h2>
      <div class="row">
        {paid.length > 0 && (
          <Doing
            label={`Approve ${total}`}
            question={`Approve ${total}?`}
            main
            work={() => approveRun(run).then(() => 'Approved.')}
            onDone={onDone}
          >
            <p>
              The service counts again: no seller gets more than is shown here, and a seller whose buyers were refunded
              meanwhile gets less. From then on the money is reserved for these payouts. Afterwards you download the
              files for your bank.
            </p>
          </Doing>
        )}
        <Doing
          label="Cancel the run"
          question="Cancel this run?"
          grave
          work={() => cancelRun(runId).then(() => 'Cancelled.')}
          onDone={onDone}
        >
          <p>It pays no seller. What is due stays in the balances, and another run can propose it.</p>
        </Doing>
      </div>
    </section>
  )
}

/** The way to the bank, currency by currency: download the files, then say that the bank has them. */
function Files({ run: { runId, files, sums }, onDone }: { run: RunDetail; onDone: () => void }) {
  if (files.length === 0) return null
  return (
    <section class="stack" aria-labelledby="files">
      <h2 id="files">Files for your bank</h2>
      <ul class="rows">
        {files.map((file) => (
          <FileRow key={keyOf(file, files)} runId={runId} file={file} onDone={onDone} />
        ))}
      </ul>
      <div class="row">
        {sums
          .filter(({ byState }) => (byState['approved'] ?? 0) > 0)
          .map(({ currency }) => (
            <Doing
              key={currency}
              label={`Mark ${currency} as sent`}
              question={`Does your bank have every file in ${currency}?`}
              work={() => markSent(runId, currency).then(({ sent }) => `${counted(sent, 'payout')} marked as sent.`)}
              onDone={onDone}
            >
              <p>
                Each seller gets a mail that the money is on its way. Do this once the bank has the files, not before.
              </p>
            </Doing>
          ))}
      </div>
    </section>
  )
}

/** A file that was made can be followed by payouts that belong to it and are not in it. */
function keyOf(file: RunFile, files: readonly RunFile[]): string {
  const first = files.find(({ currency, format }) => currency === file.currency && format === file.format)
  return `${file.currency} ${file.format}${first === file ? '' : ' rest'}`
}

function FileRow({ runId, file, onDone }: { runId: string; file: RunFile; onDone: () => void }) {
  const action = useAction()
  const { currency, format, payouts, amount, toSuspended, exportedAt } = file
  const download = () =>
    void action.run(async () => {
      await downloadFile(runId, file)
      onDone()
      return 'Downloaded.'
    })
  return (
    <li class="stack tight">
      <div class="file-row">
        <div>
          <b>
            {currency}, {FORMATS[format]}
          </b>
          <p class="small soft">
            {money(amount, currency)} in {counted(payouts, 'payout')}
            {exportedAt ? ` · made ${moment(exportedAt)}; each download is the same file` : ' · not downloaded yet'}
          </p>
        </div>
        <button
          type="button"
          class="button"
          aria-disabled={action.busy ? 'true' : undefined}
          aria-label={`Download the file for ${currency}, ${FORMATS[format]}`}
          onClick={download}
        >
          {action.busy ? <span class="spinner" aria-hidden="true" /> : <Icon name="download" />}
          Download
        </button>
      </div>
      {toSuspended > 0 && (
        <Notice title={`The file pays suspended shops: ${counted(toSuspended, 'payout')}.`} tone="alarm">
          <p>
            {exportedAt
              ? 'If they should not be paid, take them out at your bank. Mark the run as sent, and then mark them as refused by the bank.'
              : 'If they should not be paid, open each of them below and choose “Do not pay it” before you download the file.'}
          </p>
        </Notice>
      )}
      <Refused action={action} />
      <SignInAgain action={action} onClick={signInAgain} />
    </li>
  )
}
