/** @jsxRuntime classic */
/** @jsx page.h */
import type { ProductView } from '../ui/api.ts'
import type { OfferTools } from './offer-tools.ts'

interface CurrencyChoiceProps {
  page: Pick<OfferTools, 'h' | 'money' | 'words'>
  product: ProductView
  onType: () => void
  onCurrency: (currency: string) => void
}

/**
 * Switches to another of the product's prices. The address keeps the choice, also for a reload in another language. It is drawn by the
 * page's own Preact, as its part is.
 */
export function CurrencyChoice({ page, product: { prices, currency }, onType, onCurrency }: CurrencyChoiceProps) {
  const choose = (chosen: string) => {
    const address = new URL(location.href)
    address.searchParams.set('currency', chosen)
    history.replaceState(history.state, '', address)
    onType()
    onCurrency(chosen)
  }
  return (
    <div class="field">
      <label for="currency">{page.words.price}</label>
      <select id="currency" value={currency} onChange={(event) => choose(event.currentTarget.value)}>
        {prices.map(({ currency: code, amount }) => (
          <option key={code} value={code}>
            {`${code} · ${page.money(amount, code)}`}
          </option>
        ))}
      </select>
    </div>
  )
}
