import { useState } from 'preact/hooks'
import { isUnknown } from '../../api.ts'
import { useLoad } from '../../load.ts'
import { Shown } from '../../parts.tsx'
import { Section, focusSection } from '../section.tsx'
import { getDeliveries } from '../deliveries/deliveries-api.ts'
import { EndpointCard, type CardProps } from './endpoint-card.tsx'
import { EndpointForm, hasTyped } from './endpoint-form.tsx'
import { EndpointSecret } from './endpoint-secret.tsx'
import { Receiver } from './receiver.tsx'
import { NO_ENDPOINT } from './typed-endpoint.ts'
import { createEndpoint, getEndpoints, type EndpointInput, type MadeEndpoint } from './endpoints-api.ts'

const LAST = 3

/** All at once, so that nothing on the page moves when the deliveries come. */
async function getCards(): Promise<CardProps[]> {
  const { items } = await getEndpoints()
  return Promise.all(
    items.map(async (endpoint) => ({
      endpoint,
      last: (await getDeliveries(endpoint.id, { limit: LAST })).items,
    })),
  )
}

/** The addresses to which the seller has events sent. */
export function EndpointsSection() {
  const list = useLoad('endpoints', getCards)
  const [adding, setAdding] = useState(() => hasTyped('new'))
  /** Shown only here: no later page shows the secret. */
  const [made, setMade] = useState<MadeEndpoint>()
  const create = async (input: EndpointInput) => {
    const answer = await createEndpoint(input).catch((trouble: unknown) => {
      if (isUnknown(trouble)) list.again()
      throw trouble
    })
    setMade(answer)
    setAdding(false)
    const { secret: _, ...endpoint } = answer
    if (list.value) list.put([...list.value, { endpoint, last: [] }])
    else list.again()
  }
  const close = () => {
    setAdding(false)
    focusSection('webhooks')
  }
  const forget = () => {
    setMade(undefined)
    focusSection('webhooks')
  }
  return (
    <Section
      id="webhooks"
      title="Webhooks"
      about="We post to your program when something happens, such as an order that is paid. A program that cannot be called reads the same with GET /api/events."
    >
      {made && <EndpointSecret key={made.secret} secret={made.secret} onClose={forget} />}
      {adding ? (
        <EndpointForm
          id="new"
          initial={NO_ENDPOINT}
          title="New endpoint"
          submit="Add the endpoint"
          ifUnknown="The endpoint may have been added all the same. If the list below has it, cancel here, and open it to rotate its secret or to remove it."
          onSubmit={create}
          onCancel={close}
        />
      ) : (
        <div class="row">
          <button type="button" class="button" onClick={() => setAdding(true)}>
            New endpoint
          </button>
        </div>
      )}
      <Shown of={list}>
        {(cards) =>
          cards.length > 0 ? (
            <ul class="rows endpoints" aria-label="Endpoints">
              {cards.map((card) => (
                <EndpointCard key={card.endpoint.id} {...card} />
              ))}
            </ul>
          ) : (
            !adding && (
              <p class="soft">No endpoint yet. Begin with a receiver like the one below, then add its address here.</p>
            )
          )
        }
      </Shown>
      <Receiver />
    </Section>
  )
}
