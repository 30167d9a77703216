import type { Action } from '../../ui/action.ts'
import { Refusal } from '../../ui/refusal.tsx'
import { isUnknown } from '../api.ts'
import { Refused } from '../parts.tsx'
import { SIGN_IN_AGAIN, signInAgain } from '../session.ts'
import { explain } from '../words.ts'

interface RefusedByAgeProps {
  action: Action
  /** The advice where no good answer came, so that the service may have done it. Needed where a second try would do it twice. */
  ifUnknown?: string
  /** The form is long, and this page must not keep it elsewhere: the sign-in opens in another tab, and the form stays. */
  inAnotherTab?: boolean
}

/** Why the service refused, with the way to a fresh sign-in where that helps. */
export function RefusedByAge({ action, ifUnknown, inAnotherTab = false }: RefusedByAgeProps) {
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
      {inAnotherTab ? (
        <p>
          <a class="link" href={SIGN_IN_AGAIN} target="_blank" rel="noopener">
            Sign in again in another tab
          </a>
          , then send the form here. It stays as it is.
        </p>
      ) : (
        <button type="button" class="link" onClick={signInAgain}>
          Sign in again
        </button>
      )}
    </Refusal>
  )
}
