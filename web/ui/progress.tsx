import { moment } from './format.ts'

type Mark = 'done' | 'now' | 'open' | 'stopped'
export type Step = [label: string, mark: Mark, at?: string | null | undefined]

/** How far a payment is: the four steps every order takes, drawn as one line. */
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

const SAID: Record<Mark, string> = { done: 'done', now: 'in progress', open: 'to come', stopped: 'stopped' }
