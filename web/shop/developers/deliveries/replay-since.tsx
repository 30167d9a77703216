import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { TextField } from '../../../ui/text-field.tsx'
import { Refused } from '../../parts.tsx'
import { replaySince, type ReplayMany } from './deliveries-api.ts'

const DAY_MS = 86_400_000
const CHOICES: [NonNullable<ReplayMany['status']>, string, string][] = [
  ['failed', 'What has not arrived', 'What was given up, and what waits for its next try.'],
  [
    'all',
    'Everything',
    'Also what was delivered, and what happened before this endpoint. Your program knows the ids that it has had.',
  ],
]

interface ReplayProps {
  endpointId: string
  onReplayed: () => void
}

/** Sends many deliveries again. */
export function ReplaySince({ endpointId, onReplayed }: ReplayProps) {
  const [since, setSince] = useState(() => localTime(Date.now() - DAY_MS))
  const [status, setStatus] = useState<ReplayMany['status']>('failed')
  const [fault, setFault] = useState<string>()
  const action = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    const wrong = sinceFault(since)
    setFault(wrong)
    if (wrong) return
    void action.run(async () => {
      const { count } = await replaySince(endpointId, {
        since: new Date(since).toISOString(),
        ...(status && { status }),
      })
      onReplayed()
      if (count === 0) return 'There was nothing to send again.'
      return `${count === 1 ? 'One delivery is' : `${count} deliveries are`} sent again.`
    })
  }
  return (
    <details>
      <summary>Replay many</summary>
      <form class="panel stack" noValidate onSubmit={submit} aria-label="Replay many">
        <TextField
          id="replay-since"
          label="Since"
          value={since}
          onValue={setSince}
          fault={fault}
          tries={action.tries}
          input={{ type: 'datetime-local' }}
        />
        <fieldset class="stack tight">
          <legend>What to send again</legend>
          {CHOICES.map(([value, words, about]) => (
            <label key={value} class="tick">
              <input type="radio" name="replay-what" checked={status === value} onChange={() => setStatus(value)} />
              <span>
                {words}
                <span class="soft small">{about}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Refused action={action} />
        <div class="row">
          <button type="submit" class="button main short" aria-disabled={action.busy ? 'true' : undefined}>
            {action.busy && <span class="spinner" aria-hidden="true" />}
            Send again
          </button>
          <output class="small said">{action.said}</output>
        </div>
      </form>
    </details>
  )
}

function sinceFault(text: string): string | undefined {
  const at = new Date(text).getTime()
  if (Number.isNaN(at)) return 'Please choose a day and a time.'
  return at > Date.now() ? 'This time has not come yet.' : undefined
}

/** As the browser's field for a local time takes it. */
function localTime(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - offsetMs).toISOString().slice(0, 16)
}
