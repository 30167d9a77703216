import { moment } from './format.ts'
import { wordsOf } from './language.ts'

const words = wordsOf('ui')

type Mark = 'done' | 'now' | 'open' | 'stopped'
export type Step = [label: string, mark: Mark, at?: string | null | undefined]

/** The progress of a payment: the four steps of every order, drawn as one line. */
export const Progress = ({ steps }: { steps: Step[] }) => (
  <ol class="progress">
    {steps.map(([label, mark, at]) => (
      <li key={label} class={mark} aria-current={mark === 'now' ? 'step' : undefined}>
        <span>
          {label}
          <span class="unseen">: {SAID[mark]}</span>
        </span>
        {at && <time dateTime={at}>{moment(at)}</time>}
      </li>
    ))}
  </ol>
)

const SAID: Record<Mark, string> = {
  done: words.stepDone,
  now: words.stepNow,
  open: words.stepOpen,
  stopped: words.stepStopped,
}
