import { exactMoment } from '../../../ui/format.ts'
import { address } from '../../router.ts'
import type { Delivery } from '../deliveries/deliveries-api.ts'
import { outcome, stateOf as deliveryStateOf } from '../deliveries/delivery-words.ts'
import { eventWords, hasSent, keyWords, nameOf, stateOf } from './endpoint-words.ts'
import type { Endpoint } from './endpoints-api.ts'

export interface CardProps {
  endpoint: Endpoint
  /** Its last deliveries, newest first. */
  last: readonly Delivery[]
}

/** One endpoint of the list: how it does, and the results of the last deliveries. */
export function EndpointCard({ endpoint, last }: CardProps) {
  const { words, tone, about } = stateOf(endpoint, hasSent(last))
  return (
    <li>
      <div class="key-head">
        <p class="name">
          <a href={address('endpoint', endpoint.id)}>{nameOf(endpoint)}</a>
        </p>
        <span class={`tag ${tone}`}>{words}</span>
      </div>
      <p class="small">
        <code>{endpoint.url}</code>
      </p>
      <p class="small soft">{eventWords(endpoint)}</p>
      {endpoint.madeByKey && <p class="small">{keyWords(endpoint)}</p>}
      <p class="small">{about}</p>
      {last.length > 0 && (
        <ul class="last-deliveries small" aria-label={`Last deliveries to ${nameOf(endpoint)}`}>
          {last.map((one) => (
            <Last key={one.eventId} delivery={one} />
          ))}
        </ul>
      )}
    </li>
  )
}

function Last({ delivery }: { delivery: Delivery }) {
  const [words, tone] = deliveryStateOf(delivery)
  return (
    <li class="delivery-line">
      <span>
        <span class={`last-word ${tone}`}>{words}</span> <code>{delivery.type}</code>
      </span>{' '}
      <span class="soft">
        {exactMoment(delivery.createdAt)}
        {delivery.lastTry && ` · ${outcome(delivery.lastTry)}`}
      </span>
    </li>
  )
}
