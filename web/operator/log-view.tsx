import { apiBase } from '../ui/page-data.ts'
import { money, moment } from '../ui/format.ts'
import { useList } from '../shop/load.ts'
import { Head, More, Shown } from '../shop/parts.tsx'
import { type LogEntry, getLog } from './api.ts'

const WORDS: Record<LogEntry['action'], string> = {
  seller_approved: 'approved a seller',
  seller_approval_ended: 'took an approval back',
  seller_suspended: 'suspended a seller',
  seller_resumed: 'ended a suspension',
  seller_quota_set: 'set a quota',
  seller_sessions_ended: 'signed a seller out',
  seller_keys_revoked: 'revoked a seller’s API keys',
  order_accepted: 'accepted a payment',
  order_sent_back: 'sent a payment back',
  order_refunded: 'refunded an order',
  receipt_resent: 'sent a receipt again',
  file_recalled: 'recalled a file',
  payout_run_proposed: 'proposed a run of payouts',
  payout_run_approved: 'approved a run of payouts',
  payout_run_cancelled: 'cancelled a run of payouts',
  payout_left_out: 'left a seller out of a run',
  payout_taken_in: 'took a seller into a run again',
  payout_file_exported: 'took a bank file',
  payout_run_sent: 'marked payouts as sent',
  payout_paid: 'confirmed a payout',
  payout_failed: 'noted a failed payout',
  payout_reversed: 'noted a payout that came back',
  payout_account_confirmed: 'said that the account of a payout is right',
  payout_statement_read: 'read a bank statement',
  seller_adjusted: 'corrected a seller’s balance',
  tax_rates_loaded: 'loaded tax rates',
}

/** The operators' actions, newest first. */
export function LogView() {
  return (
    <>
      <Head title="Log">
        <a class="button" href={`${apiBase}/api/operator/log?format=csv`} download="operator-log.csv">
          Download as CSV
        </a>
      </Head>
      <p class="soft">Everything that operators did. No entry can be changed or removed.</p>
      <Rows subject="" />
    </>
  )
}

/** The entries about one order or seller. */
export const Entries = ({ subject }: { subject: string }) => (
  <section class="stack" aria-labelledby="log">
    <h2 id="log">What operators did</h2>
    <Rows subject={subject} />
  </section>
)

function Rows({ subject }: { subject: string }) {
  const list = useList(`log ${subject}`, (cursor) => getLog(subject, cursor))
  return (
    <>
      <Shown of={list}>
        {(entries) =>
          entries.length === 0 ? (
            <p class="soft">Nothing yet.</p>
          ) : (
            <ul class="rows">
              {entries.map((entry) => (
                <li key={entry.id}>
                  <p>
                    <b class="whole">{entry.actor === 'machine' ? 'The machine' : entry.actor}</b> {WORDS[entry.action]}
                    {amountOf(entry)}
                  </p>
                  <p class="small soft whole">
                    {moment(entry.at)} {subject === '' && <Subject id={entry.subject} />}
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More list={list} />
    </>
  )
}

const Subject = ({ id }: { id: string }) =>
  id.startsWith('ord_') ? (
    <a href={`#/orders/${id}`}>{id}</a>
  ) : id.startsWith('sel_') ? (
    <a href={`#/sellers/${id}`}>{id}</a>
  ) : (
    <>{id}</>
  )

function amountOf({ detail }: LogEntry): string {
  const { amountMinor, currency } = detail
  return typeof amountMinor === 'number' && typeof currency === 'string' ? `: ${money(amountMinor, currency)}` : ''
}
