import { useEffect } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { useLoad } from '../../load.ts'
import { Refused, Shown } from '../../parts.tsx'
import { getDeliveries } from '../deliveries/deliveries-api.ts'
import { happened, whatHelps } from '../deliveries/delivery-words.ts'
import { hasSent, stateOf } from './endpoint-words.ts'
import { resumeEndpoint, sendTest, type Endpoint } from './endpoints-api.ts'

/** Enough to see one that was tried behind those that wait. */
const LAST = 3

interface HealthProps {
  endpoint: Endpoint
  onEndpoint: (endpoint: Endpoint) => void
}

/** Whether the endpoint works, and what to do when it does not. */
export function EndpointHealth({ endpoint, onEndpoint }: HealthProps) {
  const last = useLoad(endpoint.id, () => getDeliveries(endpoint.id, { limit: LAST }))
  const wasSent = last.value && hasSent(last.value.items)
  const isBad = endpoint.status !== 'active'
  // Until something was sent, and while the endpoint fails, the last tries are read again whenever the endpoint is.
  const again = wasSent === false || isBad ? last.again : undefined
  useEffect(() => again?.(), [endpoint, again])
  const action = useAction()
  const resume = async () => {
    onEndpoint(await resumeEndpoint(endpoint.id))
    return 'Resumed. What waited is being sent, the oldest first.'
  }
  const test = async () => {
    await sendTest(endpoint.id, {})
    return 'A test event is on its way. It appears in the list below.'
  }
  const failed = isBad ? last.value?.items.find(({ lastTry }) => lastTry?.error)?.lastTry : undefined
  const isPaused = endpoint.status === 'paused'
  const state = wasSent === undefined ? undefined : stateOf(endpoint, wasSent)
  return (
    <section class={`panel health ${state?.tone ?? ''}`} aria-label="State">
      <p class="small">
        <code>POST {endpoint.url}</code>
      </p>
      <Shown of={{ ...last, value: state }}>
        {({ tone, words, about }) => (
          <p>
            <span class={`tag ${tone}`}>{words}</span> {about}
          </p>
        )}
      </Shown>
      {failed && (
        <p>
          {happened(failed)} {whatHelps(failed)}
        </p>
      )}
      <div class="row">
        <button
          type="button"
          class={`button ${isPaused ? 'main short' : ''}`}
          aria-disabled={action.busy ? 'true' : undefined}
          onClick={() => void action.run(isPaused ? resume : test)}
        >
          {isPaused ? 'Resume' : 'Test it'}
        </button>
        <output class="small said">{action.said}</output>
      </div>
      <Refused action={action} />
    </section>
  )
}
