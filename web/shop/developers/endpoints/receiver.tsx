import { useState } from 'preact/hooks'
import { apiBase } from '../../../ui/page-data.ts'
import { CopyButton } from '../../copy-button.tsx'
import { fetched, useLoad } from '../../load.ts'
import { Shown } from '../../parts.tsx'
import { receiversIn } from './receivers.ts'

/** The programs of docs/webhooks.md that take events, to copy. A test there runs them. */
export function Receiver() {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>A receiver to copy: Node, Python, PHP</summary>
      {isOpen && <Receivers />}
    </details>
  )
}

function Receivers() {
  const guide = useLoad('guide', () => fetched(import('../../../../docs/webhooks.md?raw')))
  return (
    <div class="stack">
      <Shown of={guide}>
        {({ default: text }) =>
          receiversIn(text).map(({ name, code }) => (
            <section key={name} class="stack" aria-label={name}>
              <div class="key-head">
                <h3>{name}</h3>
                <CopyButton text={code} name={`the receiver in ${name}`}>
                  Copy
                </CopyButton>
              </div>
              <pre>{code}</pre>
            </section>
          ))
        }
      </Shown>
      <p>
        Give it the secret as <code>WEBHOOK_SECRET</code>.{' '}
        <a href={`${apiBase}/docs/webhooks.md`}>Every event, and what is tried again</a>
      </p>
    </div>
  )
}
