import type { ComponentChildren } from 'preact'
import { explain } from '../ui/auth-words.ts'
import { Icon } from '../ui/icon.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { SIGN_IN_AGAIN } from './account.ts'
import { keepTyped } from './typed.ts'
import type { Action } from '../ui/action.ts'

interface PartProps {
  id: string
  title: string
  about: ComponentChildren
  children: ComponentChildren
}

/** One topic of the account: its explanation on one side, its controls on the other. */
export const Part = ({ id, title, about, children }: PartProps) => (
  <section class="part" id={id} aria-labelledby={`${id}-title`}>
    <div class="about">
      <h2 id={`${id}-title`} tabIndex={-1}>
        {title}
      </h2>
      <p class="soft small">{about}</p>
    </div>
    <div class="stack">{children}</div>
  </section>
)

/** Why the service refused, and the link to a fresh sign-in where that helps. */
export function Refused({ action }: { action: Action }) {
  if (!action.trouble) return null
  const { title, text } = explain(action.trouble)
  const again = action.refusedFor('recent_sign_in_required')
  return (
    <Refusal
      key={action.tries}
      title={title}
      {...(again ? { tone: 'trial' as const, icon: 'lock' as const } : { tone: 'alarm' as const })}
    >
      {text && <p>{text}</p>}
      {again && (
        <a class="link" href={SIGN_IN_AGAIN} onClick={keepTyped}>
          Sign in again
        </a>
      )}
    </Refusal>
  )
}

/** The result of an action. Screen readers announce it. */
export const Saved = ({ children }: { children: string }) => (
  <output class="small saved">
    {children && (
      <>
        <Icon name="check" />
        {children}
      </>
    )}
  </output>
)

interface DoProps {
  busy: boolean
  /** The button submits its form. */
  submit?: boolean
  onClick?: () => void
  label?: string
  children: ComponentChildren
}

/** A secondary button. It keeps the focus while its action runs. */
export const Do = ({ busy, submit, onClick, label, children }: DoProps) => (
  <button
    class="button"
    type={submit ? 'submit' : 'button'}
    aria-disabled={busy ? 'true' : undefined}
    aria-label={label}
    onClick={onClick}
  >
    {busy && <span class="spinner" aria-hidden="true" />}
    {children}
  </button>
)
