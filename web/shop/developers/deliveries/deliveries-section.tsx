import { useState } from 'preact/hooks'
import { More, Shown } from '../../parts.tsx'
import { Select } from '../../orders/filters-form.tsx'
import { Section } from '../section.tsx'
import type { Endpoint } from '../endpoints/endpoints-api.ts'
import { DeliveryRow } from './delivery-row.tsx'
import { ReplaySince } from './replay-since.tsx'
import { useTail } from './use-tail.ts'
import type { DeliveryStatus } from './deliveries-api.ts'

const FILTERS: Record<DeliveryStatus, string> = {
  waiting: 'Not delivered yet',
  failed: 'Given up',
  delivered: 'Delivered',
}

interface DeliveriesProps {
  endpoint: Endpoint
  onEndpoint: (endpoint: Endpoint) => void
}

/** The deliveries to an endpoint, as they happen. */
export function DeliveriesSection({ endpoint, onEndpoint }: DeliveriesProps) {
  const [status, setStatus] = useState('')
  const [isLive, setLive] = useState(true)
  const { list, place, said, change } = useTail({ endpoint, onEndpoint, status, isLive })
  return (
    <Section id="deliveries" title="Deliveries" about="The last 30 days, newest first. Open one to see what came back.">
      <div class="tail-bar">
        <Select
          id="delivery-status"
          label="Show"
          value={status}
          all="All"
          options={Object.entries(FILTERS)}
          onValue={setStatus}
        />
        <div class="row live">
          <p class={`small ${isLive ? 'live-on' : 'soft'}`}>{isLive ? 'Live: new ones come in' : 'Paused'}</p>
          <button type="button" class="button" onClick={() => setLive(!isLive)}>
            {isLive ? 'Pause the list' : 'Go on'}
          </button>
        </div>
      </div>
      <output class="unseen">{said}</output>
      <Shown of={list}>
        {(rows) =>
          rows.length > 0 ? (
            <ul class="rows deliveries" ref={place} aria-label="Deliveries">
              {rows.map((row) => (
                <DeliveryRow
                  key={row.eventId}
                  endpointId={endpoint.id}
                  isPaused={endpoint.status === 'paused'}
                  delivery={row}
                  onChange={change}
                />
              ))}
            </ul>
          ) : (
            <p class="soft">
              {status === ''
                ? 'Nothing was sent yet. Send a test event, or sell something: it appears here by itself.'
                : 'None like this.'}
            </p>
          )
        }
      </Shown>
      <More list={list} />
      <ReplaySince endpointId={endpoint.id} onReplayed={list.again} />
    </Section>
  )
}
