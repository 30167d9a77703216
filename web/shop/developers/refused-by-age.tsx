import type { Action } from '../../ui/action.ts'
import { Refusal } from '../../ui/refusal.tsx'
import { isUnknown } from '../api.ts'
import { Refused } from '../parts.tsx'
import { signInAgain } from '../session.ts'
import { explain } from '../words.ts'

interface RefusedByAgeProps {
  action: Action
  /** The advice where no good answer came, so that the service may have done it. Needed where a second try would do it twice. */
  ifUnknown?: string
}

/** Why the service refused, with the way to a fresh sign-in where that helps. */
export function RefusedByAge({ action, ifUnknown }: RefusedByAgeProps) {
  const { title, text } = explain(action.trouble)
  if (ifUnknown && isUnknown(action.trouble))
    return (
      <Refusal key={action.tries} title={title}>
        <p>{ifUnknown}</p>
      </Refusal>
    )
  if (!action.refusedFor('recent_sign_in_required')) return <Refused action={action} />
  return (
    <Refusal key={action.tries} title={title} tone="trial" icon="lock">
      {text && <p>{text}</p>}
      <button type="button" class="link" onClick={signInAgain}>
        Sign in again
      </button>
    </Refusal>
  )
}
