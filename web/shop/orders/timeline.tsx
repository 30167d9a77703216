import type { Happening } from '../../ui/api.ts'
import { moment } from '../../ui/format.ts'
import { happening, WENT_WRONG } from './order-words.ts'

/** The events of an order, drawn as one line from the first to the last. */
export const Timeline = ({ timeline }: { timeline: Happening[] }) => (
  <ol class="progress timeline">
    {timeline.map(({ at, what }) => (
      <li key={at + what} class={WENT_WRONG.has(what) ? 'stopped' : 'done'}>
        <span>{happening(what)}</span>
        <time dateTime={at}>{moment(at)}</time>
      </li>
    ))}
  </ol>
)
