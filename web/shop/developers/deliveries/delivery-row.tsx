import { useState } from 'preact/hooks'
import { exactMoment } from '../../../ui/format.ts'
import { DeliveryDetails, type DeliveryProps } from './delivery-details.tsx'
import { nextWords, outcome, stateOf } from './delivery-words.ts'

/** One delivery: its result at a glance, and opened all that was sent and answered. */
export function DeliveryRow(props: DeliveryProps) {
  const { delivery, isPaused } = props
  const [isOpen, setOpen] = useState(false)
  const [words, tone] = stateOf(delivery)
  const { type, createdAt, lastTry } = delivery
  const next = nextWords(delivery, isPaused)
  return (
    <li id={delivery.eventId}>
      <details class="delivery" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="delivery-line">
            <code>{type}</code> <span class={`tag ${tone}`}>{words}</span>
          </span>{' '}
          <span class="delivery-line small soft">
            <span>{exactMoment(createdAt)}</span> <span>{lastTry ? outcome(lastTry) : 'Not sent yet'}</span>
          </span>
        </summary>
        {next && <p class="small delivery-next">{next}</p>}
        {isOpen && <DeliveryDetails {...props} />}
      </details>
    </li>
  )
}
