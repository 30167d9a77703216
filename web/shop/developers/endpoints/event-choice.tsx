import { EVENT_TYPES } from '../../../../src/events/event-types.ts'
import { Icon } from '../../../ui/icon.tsx'
import type { Subscription } from './endpoints-api.ts'

/** The test event goes to every endpoint that asks for it, so there is nothing to choose. */
const TYPES = EVENT_TYPES.filter((type) => type !== 'endpoint.test')

interface EventChoiceProps {
  events: readonly Subscription[]
  fault: string | undefined
  onEvents: (events: Subscription[]) => void
}

export function EventChoice({ events, fault, onEvents }: EventChoiceProps) {
  const isAll = events.includes('*')
  const toggle = (type: Subscription) =>
    onEvents(events.includes(type) ? events.filter((one) => one !== type) : [...events, type])
  return (
    <fieldset class="stack tight" aria-describedby={fault ? 'endpoint-events-fault' : undefined}>
      <legend>What it hears of</legend>
      <label class="tick">
        <input type="radio" name="endpoint-events" checked={isAll} onChange={() => onEvents(['*'])} />
        <span>
          Everything<span class="soft small">Also events that later releases add.</span>
        </span>
      </label>
      <label class="tick">
        <input
          type="radio"
          name="endpoint-events"
          checked={!isAll}
          onChange={() => isAll && onEvents(['order.paid'])}
        />
        <span>Only these</span>
      </label>
      {!isAll && (
        <div class="event-types">
          {TYPES.map((type) => (
            <label key={type} class="tick">
              <input type="checkbox" checked={events.includes(type)} onChange={() => toggle(type)} />
              <code>{type}</code>
            </label>
          ))}
        </div>
      )}
      {fault && (
        <p class="fault" id="endpoint-events-fault" role="alert">
          <Icon name="alert" />
          {fault}
        </p>
      )}
    </fieldset>
  )
}
