import type { OrderStatus, Rail } from '../ui/api.ts'
import { Icon } from '../ui/icon.tsx'
import { RAIL_NAMES } from '../ui/words.ts'
import { UpiCode } from './upi-code.tsx'

interface RailChoiceProps {
  rails: Rail[]
  chosen: Rail
  onChoose: (rail: Rail) => void
  order: OrderStatus
  seller: string
}

/** One radio list: arrow keys move in it, and what a way of paying needs opens below its name. */
export const RailChoice = ({ rails, chosen, onChoose, order, seller }: RailChoiceProps) => (
  <fieldset class="rails">
    <legend class="unseen">Way of paying</legend>
    {rails.map((rail) => (
      <div class="rail" key={rail}>
        <label>
          <input type="radio" name="rail" value={rail} checked={rail === chosen} onChange={() => onChoose(rail)} />
          <span>{RAIL_NAMES[rail]}</span>
          <Icon name={rail} />
        </label>
        {rail === chosen && (
          <div class="about soft small">
            <p>{ABOUT[rail]}</p>
            {rail === 'upi' && <UpiCode order={order} seller={seller} />}
          </div>
        )}
      </div>
    ))}
  </fieldset>
)

const ABOUT: Record<Rail, string> = {
  card: 'Credit cards of all networks.',
  debit: 'Debit cards and bank debits.',
  bank_transfer: 'A transfer from your bank. It can take longer; the files come by e-mail as soon as it has arrived.',
  upi: 'With any UPI app.',
  apple_pay: 'Confirm on your device.',
  google_pay: 'Confirm on your device.',
  wallet: 'Pay from your wallet’s balance.',
}
