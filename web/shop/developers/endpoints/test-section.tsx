import { useState } from 'preact/hooks'
import { EVENT_TYPES, type EventType } from '../../../../src/events/event-types.ts'
import { useAction } from '../../../ui/action.ts'
import { Refused } from '../../parts.tsx'
import { Section } from '../section.tsx'
import { sendTest, type Weather } from './endpoints-api.ts'

/** The kinds of weather: the name, the effect, and the message when it is on its way. */
const WEATHERS: Record<Weather, [words: string, about: string, said: string]> = {
  fair: ['Fair', 'Once, at once.', 'Sent. It appears in the list above.'],
  late: ['Late', 'After 30 seconds.', 'It is sent in 30 seconds.'],
  twice: ['Twice', 'Two times with one id. Your program acts once.', 'Sent, two times with one id.'],
  reordered: [
    'Reordered',
    'The second event of an order before the first.',
    'Two events are on their way: the second first.',
  ],
}

/** Sends a made-up event, as networks really deliver. */
export function TestSection({ endpointId }: { endpointId: string }) {
  const [type, setType] = useState<EventType>('endpoint.test')
  const [weather, setWeather] = useState<Weather>('fair')
  const action = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    void action.run(async () => {
      await sendTest(endpointId, { type, weather })
      return WEATHERS[weather][2]
    })
  }
  return (
    <Section
      id="test-event"
      title="Test event"
      about={
        <>
          Made up, for this endpoint alone, and marked with <code>"test": true</code>.
        </>
      }
    >
      <form class="stack" noValidate onSubmit={submit} aria-label="Test event">
        <div class="field">
          <label for="test-type">Event</label>
          <select id="test-type" value={type} onChange={(event) => setType(event.currentTarget.value as EventType)}>
            {EVENT_TYPES.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </div>
        <fieldset class="stack tight">
          <legend>Weather</legend>
          {(Object.keys(WEATHERS) as Weather[]).map((one) => (
            <label key={one} class="tick">
              <input type="radio" name="weather" checked={weather === one} onChange={() => setWeather(one)} />
              <span>
                {WEATHERS[one][0]}
                <span class="soft small">{WEATHERS[one][1]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Refused action={action} />
        <div class="row">
          <button type="submit" class="button" aria-disabled={action.busy ? 'true' : undefined}>
            {action.busy && <span class="spinner" aria-hidden="true" />}
            Send the test event
          </button>
          <output class="small said">{action.said}</output>
        </div>
      </form>
    </Section>
  )
}
