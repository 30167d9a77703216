import { useAction } from '../../../ui/action.ts'
import { CopyButton } from '../../copy-button.tsx'
import { useLoad } from '../../load.ts'
import { Refused, Shown } from '../../parts.tsx'
import { address } from '../../router.ts'
import { useNewest } from '../../use-newest.ts'
import { whatHelps } from './delivery-words.ts'
import { TryEntry } from './try-entry.tsx'
import { useFresh } from './use-fresh.ts'
import { getDelivery, replay, type Delivery, type DeliveryDetail } from './deliveries-api.ts'

export interface DeliveryProps {
  endpointId: string
  isPaused: boolean
  delivery: Delivery
  onChange: (delivery: Delivery) => void
}

/** The opened delivery: advice, a replay, each try with its answer, and the message that we sent. */
export function DeliveryDetails({ endpointId, delivery, isPaused, onChange }: DeliveryProps) {
  const { eventId, status, tries, orderId } = delivery
  const loaded = useLoad(eventId, () => getDelivery(endpointId, eventId))
  const detail = loaded.value
  const isBehind = detail !== undefined && (detail.status !== status || detail.tries !== tries)
  const readNewest = useNewest(() => getDelivery(endpointId, eventId))
  const look = async () => {
    const now = await readNewest()
    if (!now) return
    loaded.put(now)
    onChange(now)
  }
  useFresh(look, { isNeeded: status === 'waiting' && !isPaused, isBehind })
  const action = useAction()
  const send = () =>
    void action.run(async () => {
      await replay(endpointId, eventId)
      // It is sent again, also where this reading fails: the part below then says so, and tries again.
      await look().catch(loaded.again)
      return isPaused ? 'It waits until you resume the endpoint.' : 'It is sent again, with the same id.'
    })
  const helps = delivery.lastTry && whatHelps(delivery.lastTry)
  return (
    <div class="stack delivery-body">
      {helps && (
        <p>
          <b>What helps:</b> {helps}
        </p>
      )}
      <div class="row">
        <button type="button" class="button" aria-disabled={action.busy ? 'true' : undefined} onClick={send}>
          Replay<span class="unseen"> this {delivery.type}</span>
        </button>
        {orderId && !detail?.event.test && (
          <a class="link" href={address('order', orderId)}>
            View the order
          </a>
        )}
      </div>
      <output class="small said">{action.said}</output>
      <Refused action={action} />
      <Shown of={loaded}>{(value) => <Sent detail={value} />}</Shown>
    </div>
  )
}

function Sent({ detail }: { detail: DeliveryDetail }) {
  const { log, event } = detail
  const body = JSON.stringify(event)
  return (
    <>
      <h3>Tries</h3>
      {log.length === 0 ? (
        <p class="small soft">None yet.</p>
      ) : (
        <ol class="tries" aria-label="Tries, the newest first" reversed>
          {log.map((one) => (
            <TryEntry key={one.number} entry={one} />
          ))}
        </ol>
      )}
      <h3>What we send</h3>
      <pre aria-label="Headers">{headersOf(detail, body)}</pre>
      <pre aria-label="Body">{JSON.stringify(event, undefined, 2)}</pre>
      <div class="row">
        <CopyButton text={body} name="the body">
          Copy the exact body
        </CopyButton>
      </div>
      <p class="small soft">
        The body goes out on one line, and the copy is so too. The signature is over{' '}
        <code>webhook-id.webhook-timestamp.body</code>. We do not keep it.
      </p>
    </>
  )
}

/** Each try has its own time in the signature. */
function headersOf({ eventId, log }: DeliveryDetail, body: string): string {
  const last = log[0]
  return [
    'content-type: application/json',
    `content-length: ${new TextEncoder().encode(body).length}`,
    'user-agent: Till-Webhooks/1',
    `webhook-id: ${eventId}`,
    `webhook-timestamp: ${last ? Math.floor(Date.parse(last.at) / 1000) : '(the second of the try)'}`,
    'webhook-signature: v1,…',
  ].join('\n')
}
