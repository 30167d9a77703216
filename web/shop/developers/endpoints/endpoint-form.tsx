import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../../ui/api.ts'
import { useAction, type Action } from '../../../ui/action.ts'
import { readTab, writeTab } from '../../../ui/tab-storage.ts'
import { TextField } from '../../../ui/text-field.tsx'
import { DRAFTS } from '../../drafts.ts'
import { RefusedByAge } from '../refused-by-age.tsx'
import { EventChoice } from './event-choice.tsx'
import type { EndpointInput } from './endpoints-api.ts'
import { endpointFaults, endpointInput, type EndpointFaults, type TypedEndpoint } from './typed-endpoint.ts'

/** Keeps the typed text, because a fresh sign-in leads away from the page and back. `id`: of the endpoint, or `new`. */
const draftOf = (id: string): string => `${DRAFTS}endpoint-${id}`
export const hasTyped = (id: string): boolean => readTab<TypedEndpoint>(draftOf(id)) !== undefined

interface EndpointFormProps {
  id: string
  initial: TypedEndpoint
  title: string
  submit: string
  ifUnknown?: string
  onSubmit: (input: EndpointInput) => Promise<void>
  onCancel: () => void
}

export function EndpointForm({ id, initial, title, submit, ifUnknown, onSubmit, onCancel }: EndpointFormProps) {
  const draft = draftOf(id)
  const [typed, setTyped] = useState<TypedEndpoint>(() => readTab<TypedEndpoint>(draft) ?? initial)
  // Read once: on a later visit the form does not open by itself.
  useEffect(() => writeTab(draft, undefined), [draft])
  const [faults, setFaults] = useState<EndpointFaults>({})
  const [tries, setTries] = useState(0)
  const action = useAction()
  const type = (change: Partial<TypedEndpoint>) => {
    setTyped((before) => ({ ...before, ...change }))
    setFaults({})
    if (action.trouble) action.clear()
  }
  const send = (event: Event) => {
    event.preventDefault()
    const wrong = endpointFaults(typed)
    setFaults(wrong)
    setTries(tries + 1)
    if (Object.keys(wrong).length > 0) return
    void action.run(async () => {
      // Kept before it is sent: when the session is over, the answer leads straight to the sign-in page.
      writeTab(draft, typed)
      await onSubmit(endpointInput(typed))
      writeTab(draft, undefined)
      return ''
    })
  }
  const refusedUrl = urlRefusal(action)
  return (
    <form class="panel stack" noValidate onSubmit={send} aria-label={title}>
      <TextField
        id="endpoint-url"
        label="Address of your program"
        hint="We post each event there. It begins with https:// and leads to the public internet."
        value={typed.url}
        onValue={(url) => type({ url })}
        fault={faults.url ?? refusedUrl}
        tries={tries + action.tries}
        focus
        input={{ type: 'url', inputMode: 'url', maxLength: 2048, autoComplete: 'off' }}
      />
      <TextField
        id="endpoint-description"
        label="Name (optional)"
        hint="Such as the program, so that you know it again."
        value={typed.description}
        onValue={(description) => type({ description })}
        input={{ maxLength: 200, autoComplete: 'off', autoCapitalize: 'sentences' }}
      />
      <EventChoice events={typed.events} fault={faults.events} onEvents={(events) => type({ events })} />
      {!refusedUrl && <RefusedByAge action={action} ifUnknown={ifUnknown} />}
      <div class="row">
        <button type="submit" class="button main short" aria-disabled={action.busy ? 'true' : undefined}>
          {action.busy && <span class="spinner" aria-hidden="true" />}
          {submit}
        </button>
        <button
          type="button"
          class="link"
          onClick={() => {
            writeTab(draft, undefined)
            onCancel()
          }}
        >
          Cancel
        </button>
      </div>
    </form>
  )
}

/** Why the service does not take the address, for its field. */
function urlRefusal({ trouble }: Action): string | undefined {
  if (!(trouble instanceof ApiError)) return undefined
  if (trouble.code === 'url_not_allowed') return trouble.message
  return trouble.fields.some(({ path }) => path.includes('url')) ? 'This address cannot be used.' : undefined
}
