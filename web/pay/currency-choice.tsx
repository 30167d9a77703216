import type { ProductView } from '../ui/api.ts'
import { money } from '../ui/format.ts'
import { wordsOf } from '../ui/language.ts'

interface CurrencyChoiceProps {
  product: ProductView
  onType: () => void
  onCurrency: (currency: string) => void
}

/** Switches to another of the product's prices. The address keeps the choice, also for a reload in another language. */
export function CurrencyChoice({ product: { prices, currency }, onType, onCurrency }: CurrencyChoiceProps) {
  const choose = (chosen: string) => {
    const address = new URL(location.href)
    address.searchParams.set('currency', chosen)
    history.replaceState(history.state, '', address)
    onType()
    onCurrency(chosen)
  }
  return (
    <div class="field">
      <label for="currency">{wordsOf('ui').price}</label>
      <select id="currency" value={currency} onChange={(event) => choose(event.currentTarget.value)}>
        {prices.map(({ currency: code, amount }) => (
          <option key={code} value={code}>
            {`${code} · ${money(amount, code)}`}
          </option>
        ))}
      </select>
    </div>
  )
}
