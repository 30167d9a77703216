import { money, moment } from '../ui/format.ts'
import { useList } from '../shop/load.ts'
import { Head, More, Shown } from '../shop/parts.tsx'
import { Doing } from './doing.tsx'
import { counted, PAYOUT_STATES, RUN_STATES } from './payout-words.ts'
import { getPayouts, getRuns, proposeRun, type OperatorPayout, type Run } from './payouts-api.ts'
import { SearchForm } from './search-form.tsx'
import { StatementUpload } from './statement-upload.tsx'
import type { ViewProps } from './view-props.ts'

const OPTIONS = Object.entries(PAYOUT_STATES).map(([value, [label]]) => [value, label] as const)

/** The runs of payouts, the bank's statements, and every payout. */
export function PayoutsView({ query }: ViewProps) {
  const [q, status, sellerId] = [query.get('q') ?? '', query.get('status') ?? '', query.get('sellerId') ?? '']
  const runs = useList('runs', getRuns)
  const list = useList(`payouts ${q} ${status} ${sellerId}`, (cursor) => getPayouts({ q, status, sellerId }, cursor))
  const propose = async () => {
    const { runId } = await proposeRun()
    location.hash = `#/payouts/${runId}`
    return 'Proposed.'
  }
  return (
    <>
      <Head title="Payouts">
        <Doing label="Propose a run" question="Propose payouts to all sellers?" work={propose} onDone={runs.again}>
          <p>
            You will see who would be paid and how much, and who would not and why. No money moves until you approve it.
          </p>
        </Doing>
      </Head>
      <section class="stack" aria-labelledby="runs">
        <h2 id="runs">Runs</h2>
        <Shown of={runs}>
          {(items) =>
            items.length === 0 ? (
              <p class="soft">No runs yet. The schedule proposes the first one, or you can.</p>
            ) : (
              <ul class="rows found">
                {items.map((run) => (
                  <RunRow key={run.runId} run={run} />
                ))}
              </ul>
            )
          }
        </Shown>
        <More list={runs} />
      </section>
      <StatementUpload onRead={list.again} />
      <section class="stack" aria-labelledby="all">
        <h2 id="all">{sellerId ? 'Payouts of one seller' : 'Every payout'}</h2>
        <SearchForm
          view="payouts"
          label="Search payouts"
          hint="The id of a payout, or its reference at the bank."
          q={q}
          sellerId={sellerId}
          filter={{ name: 'status', label: 'State', value: status, options: OPTIONS }}
        />
        <Shown of={list}>
          {(payouts) =>
            payouts.length === 0 ? (
              <p class="soft">No payout was found.</p>
            ) : (
              <ul class="rows found">
                {payouts.map((payout) => (
                  <PayoutRow key={payout.payoutId} payout={payout} />
                ))}
              </ul>
            )
          }
        </Shown>
        <More list={list} />
      </section>
    </>
  )
}

function RunRow({ run: { runId, state, period, createdAt, createdBy, sums } }: { run: Run }) {
  const [label, tone] = RUN_STATES[state]
  return (
    <li>
      <a class="name" href={`#/payouts/${runId}`}>
        {period ? `Run ${period}` : `Run of ${moment(createdAt)}`}
      </a>
      <span class={`tag ${tone}`}>{label}</span>
      <p class="small soft">
        {sums.map((sum) => sumWords(sum, state)).join(' · ')} · by {whoIs(createdBy)}
      </p>
    </li>
  )
}

const sumWords = (
  { currency, proposed, proposedAmount, payouts, payoutsAmount }: Run['sums'][number],
  state: Run['state'],
) =>
  state === 'approved'
    ? `${money(payoutsAmount, currency)} to ${counted(payouts, 'seller')}`
    : `${money(proposedAmount, currency)} to ${counted(proposed, 'seller')}`

export const whoIs = (actor: string): string =>
  actor === 'schedule' ? 'the schedule' : actor === 'machine' ? 'the machine' : actor

function PayoutRow({
  payout: { payoutId, amount, currency, status, seller, destination, createdAt },
}: {
  payout: OperatorPayout
}) {
  const [label, tone] = PAYOUT_STATES[status]
  return (
    <li>
      <a class="name" href={`#/payouts/${payoutId}`}>
        {money(amount, currency)} to {seller.name}
      </a>
      <span class={`tag ${tone}`}>{label}</span>
      <p class="small soft">
        {destination} · {moment(createdAt)}
      </p>
    </li>
  )
}
