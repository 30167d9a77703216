import { useState } from 'preact/hooks'
import { money, moment } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { useLoad } from '../shop/load.ts'
import { Head, Shown } from '../shop/parts.tsx'
import { type Attention, type Statistics, getAttention, getStatistics } from './api.ts'
import { Bars } from '../shop/bar-chart.tsx'

const PERIODS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['365', '365 days'],
] as const
/** A bank or a buyer waits for an answer, or the books differ. */
const URGENT: ReadonlySet<string> = new Set(['needs_review', 'disputed', 'refund_failed', 'reconciliation'])

/** Matters for a person, the state of the machine, and the sales. */
export function OverviewView() {
  const attention = useLoad('attention', getAttention)
  const [days, setDays] = useState('30')
  const statistics = useLoad(`statistics ${days}`, () => getStatistics(days))
  return (
    <>
      <Head title="Overview" />
      <Shown of={attention}>
        {({ matters, checks }) => (
          <>
            <Matters items={matters} />
            <Checks items={checks} />
          </>
        )}
      </Shown>
      <section class="stack" aria-labelledby="sold">
        <div class="sold-head">
          <h2 id="sold">Sold</h2>
          <div class="field">
            <label class="unseen" for="days">
              Period
            </label>
            <select id="days" value={days} onChange={(event) => setDays(event.currentTarget.value)}>
              {PERIODS.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </div>
        </div>
        <Shown of={statistics}>
          {({ items, interval }) =>
            items.length > 0 ? (
              items.map((one) => <OfCurrency key={one.currency} of={one} interval={interval} />)
            ) : (
              <p class="soft">Nothing was ordered in this time.</p>
            )
          }
        </Shown>
      </section>
    </>
  )
}

const Matters = ({ items }: { items: Attention['matters'] }) => (
  <section class="stack" aria-labelledby="attention">
    <h2 id="attention">Needs attention</h2>
    {items.length === 0 && <p class="soft">Nothing at the moment.</p>}
    {items.length > 0 && (
      <ul class="rows attention">
        {items.map(({ what, says, advice, view, at }) => (
          <li key={`${what} ${view} ${says}`} class={URGENT.has(what) ? 'urgent' : undefined}>
            <Icon name="alert" />
            <div>
              {view ? (
                <a class="name" href={`#${view}`}>
                  {says}
                </a>
              ) : (
                <b>{says}</b>
              )}
              <p class="small soft">{[advice, at && moment(at)].filter(Boolean).join(' · ')}</p>
            </div>
          </li>
        ))}
      </ul>
    )}
  </section>
)

const NAMES = { backup: 'Backup', disk: 'Disk', certificate: 'Certificate', clock: 'Clock' }
const MARKS = { fine: ['Fine', 'good'], warning: ['Check', 'quiet'], failure: ['Wrong', 'bad'] } as const

const Checks = ({ items }: { items: Attention['checks'] }) => (
  <section class="stack" aria-labelledby="machine">
    <h2 id="machine">Machine</h2>
    <ul class="rows checks">
      {items.map(({ about, mark, says, advice }) => (
        <li key={about + says}>
          <span class={`tag ${MARKS[mark][1]}`}>{MARKS[mark][0]}</span>
          <div>
            <b>{NAMES[about]}</b> {says}
            {advice && <p class="small soft">{advice}</p>}
          </div>
        </li>
      ))}
    </ul>
  </section>
)

function OfCurrency({ of, interval }: { of: Statistics['items'][number]; interval: Statistics['interval'] }) {
  const { currency, volume, fees, paid, created, converted, buckets } = of
  return (
    <section class="stack" aria-label={currency}>
      <dl class="sums">
        <div>
          <dt class="small soft">Volume in {currency}</dt>
          <dd>
            <b>{money(volume, currency)}</b> <span class="small soft">{paid === 1 ? '1 order' : `${paid} orders`}</span>
          </dd>
        </div>
        <div>
          <dt class="small soft">Fees</dt>
          <dd>
            <b>{money(fees, currency)}</b> <span class="small soft">net of refunds</span>
          </dd>
        </div>
        <div>
          <dt class="small soft">Conversion</dt>
          <dd>
            <b>{created === 0 ? '–' : percent(converted / created)}</b>{' '}
            <span class="small soft">
              {converted} of {created} orders were paid
            </span>
          </dd>
        </div>
      </dl>
      <div class="panel">
        <Bars
          title={`Volume in ${currency}`}
          bars={buckets.map((one) => ({ at: one.at, value: one.volume, said: money(one.volume, currency) }))}
          interval={interval}
        />
      </div>
      <div class="panel">
        <Bars
          title={`Conversion in ${currency}`}
          most={1}
          bars={buckets.map((one) => ({
            at: one.at,
            value: one.created === 0 ? 0 : one.converted / one.created,
            said:
              one.created === 0
                ? 'no orders'
                : `${percent(one.converted / one.created)} of ${one.created === 1 ? '1 order' : `${one.created} orders`}`,
          }))}
          interval={interval}
        />
      </div>
    </section>
  )
}

const percent = (share: number): string => `${Math.round(share * 100)}%`
