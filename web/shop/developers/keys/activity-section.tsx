import { moment } from '../../../ui/format.ts'
import { useList } from '../../load.ts'
import { More, Shown } from '../../parts.tsx'
import { Section } from '../section.tsx'
import { getActivity, type Activity } from './keys-api.ts'

/** The changes by the seller's programs, each by its key. */
export function ActivitySection() {
  const list = useList('activity', (cursor) => getActivity({ cursor }))
  return (
    <Section
      id="activity"
      title="What your keys have changed"
      about="Every request that can change something, for a year: at most the last 100,000, and the last 10,000 that were refused."
    >
      <Shown of={list}>
        {(items) =>
          items.length === 0 ? (
            <p class="soft">Nothing yet.</p>
          ) : (
            <ul class="rows activity" aria-label="Requests of your keys, the newest first">
              {items.map((one) => (
                <Entry key={`${one.at} ${one.path}`} entry={one} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More list={list} />
    </Section>
  )
}

const Entry = ({ entry: { at, keyName, lastFour, method, path, status } }: { entry: Activity }) => (
  <li>
    <p class="small activity-route">
      <code>
        {method} {path}
      </code>{' '}
      <span class={`tag ${status === null ? 'quiet' : status < 400 ? 'good' : 'bad'}`}>{statusWords(status)}</span>
    </p>
    <p class="small soft">
      {moment(at)} · {keyName} <code>…{lastFour}</code>
    </p>
  </li>
)

const statusWords = (status: number | null): string =>
  status === null ? 'Outcome not known' : status < 400 ? 'Done' : `Refused: ${status}`
