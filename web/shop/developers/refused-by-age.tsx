import type { Action } from '../../ui/action.ts'
import { Refusal } from '../../ui/refusal.tsx'
import { Refused } from '../parts.tsx'
import { signInAgain } from '../session.ts'
import { explain } from '../words.ts'

/** Why the service refused, with the way to a fresh sign-in where that helps. */
export function RefusedByAge({ action }: { action: Action }) {
  if (!action.refusedFor('recent_sign_in_required')) return <Refused action={action} />
  const { title, text } = explain(action.trouble)
  return (
    <Refusal key={action.tries} title={title} tone="trial" icon="lock">
      {text && <p>{text}</p>}
      <button type="button" class="link" onClick={signInAgain}>
        Sign in again
      </button>
    </Refusal>
  )
}
