import { money } from '../../ui/format.ts'
import { exactFee, type Rounding } from './fee-sum.ts'

interface FeeExplainedProps {
  amount: number
  currency: string
  fee: number
}

/** How the fee of one order was calculated, with its own numbers. */
export const FeeExplained = (props: FeeExplainedProps) => (
  <details class="small fee">
    <summary>How the fee was computed</summary>
    <FeeSum {...props} />
  </details>
)

export function FeeSum({ amount, currency, fee }: FeeExplainedProps) {
  const { text, rounding } = exactFee(amount, currency)
  return (
    <p class="soft">
      2% of {money(amount, currency)} is{' '}
      {rounding === 'exact' ? 'exactly' : <span class="mono">{`${text} ${currency}`}</span>}
      {rounding === 'exact' ? ' ' : `, ${HOW[rounding]} `}
      <b>{money(fee, currency)}</b>.{' '}
      {rounding !== 'exact' && `The smallest part of this currency is ${money(1, currency)}.`} It is the same however it
      was paid, and of what goes back its share comes back to you.
    </p>
  )
}

const HOW: Record<Exclude<Rounding, 'exact'>, string> = {
  down: 'rounded down to',
  up: 'rounded up to',
  half: 'just half way, and a half goes to the even neighbour:',
}
