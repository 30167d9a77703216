import { day, money } from '../../ui/format.ts'
import { useList } from '../load.ts'
import { CsvLink } from '../orders/csv-link.tsx'
import { More, Shown } from '../parts.tsx'
import { address } from '../router.ts'
import { payoutTag } from './payout-words.ts'
import { getPayouts, type Payout } from './payouts-api.ts'

/** The seller's payouts, the newest first. */
export function PayoutsPart() {
  const list = useList('payouts', getPayouts)
  return (
    <section class="stack" aria-labelledby="payouts">
      <div class="head">
        <h2 id="payouts">Payouts</h2>
        {list.value && list.value.length > 0 && <CsvLink path="payouts" query={{}} name="payouts.csv" />}
      </div>
      <Shown of={list}>
        {(payouts) =>
          payouts.length === 0 ? (
            <p class="soft">No payouts yet.</p>
          ) : (
            <ul class="rows" aria-label="Payouts, the newest first">
              {payouts.map((payout) => (
                <Row key={payout.payoutId} payout={payout} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More list={list} />
    </section>
  )
}

function Row({ payout }: { payout: Payout }) {
  const { payoutId, amount, currency, destination, createdAt } = payout
  const [label, tone] = payoutTag(payout)
  return (
    <li class="payout">
      <a class="name" href={address('payout', payoutId)}>
        {money(amount, currency)}
      </a>
      <span class={`tag ${tone}`}>{label}</span>
      <p class="small soft">
        <time dateTime={createdAt}>{day(createdAt)}</time> · to {destination.replace(/^Your /, 'your ')}
      </p>
    </li>
  )
}
