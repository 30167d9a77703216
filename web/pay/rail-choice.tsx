import type { OrderStatus, Rail } from '../ui/api.ts'
import { Drawing } from '../ui/icon.tsx'
import { RAIL_NAMES } from '../ui/words.ts'
import { useSandboxWords } from './sandbox-form.tsx'
import { UpiCode } from './upi-code.tsx'

interface RailChoiceProps {
  rails: Rail[]
  chosen: Rail
  onChoose: (rail: Rail) => void
  order: OrderStatus
  seller: string
}

/** One radio list: the arrow keys move in it, and the details of the chosen rail open below its name. */
export function RailChoice({ rails, chosen, onChoose, order, seller }: RailChoiceProps) {
  const words = useSandboxWords()
  return (
    <fieldset class="rails">
      <legend class="unseen">Payment method</legend>
      {rails.map((rail) => (
        <div class="rail" key={rail}>
          <label>
            <input type="radio" name="rail" value={rail} checked={rail === chosen} onChange={() => onChoose(rail)} />
            <span>{RAIL_NAMES[rail]}</span>
            <Drawing shape={words?.SHAPES[rail]} />
          </label>
          {rail === chosen && (
            <div class="about soft small">
              <p>{words?.ABOUT[rail]}</p>
              {rail === 'upi' && words && <UpiCode order={order} seller={seller} words={words} />}
            </div>
          )}
        </div>
      ))}
    </fieldset>
  )
}
