import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { Notice } from '../ui/notice.tsx'
import { wouldLose } from './leaving.ts'
import { Refused } from './parts.tsx'

const CHANGES = ['input', 'submit', 'hashchange']

/** The button, and the text that appears below the head after a press. One element holds both, as the page's grid has one row for it. */
export function useSignOut(onLeave: () => Promise<void>) {
  const action = useAction()
  const [told, setTold] = useState('')
  // what would be lost changes: the next press is a first one
  useEffect(() => {
    if (!told) return
    const forget = () => setTold('')
    for (const type of CHANGES) addEventListener(type, forget, true)
    return () => {
      for (const type of CHANGES) removeEventListener(type, forget, true)
    }
  }, [told])
  const press = ({ detail }: MouseEvent) => {
    const lost = wouldLose()
    // The page asks by itself: some browsers show no questions. The second half of a double-click is no answer.
    if (lost && (lost !== told || detail > 1)) return setTold(lost)
    void action.run(async () => {
      await onLeave()
      return ''
    })
  }
  return {
    button: (
      <button type="button" class="link" aria-disabled={action.busy ? 'true' : undefined} onClick={press}>
        Sign out
      </button>
    ),
    below:
      action.trouble || told ? (
        <div class="bar">
          {action.trouble ? (
            <Refused action={action} />
          ) : (
            <Notice title="Press “Sign out” again to sign out" tone="trial" icon="alert" role="alert">
              <p>{told}</p>
            </Notice>
          )}
        </div>
      ) : null,
  }
}
