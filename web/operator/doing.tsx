import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { Ask } from '../shop/dialog.tsx'
import { SignInAgain } from '../shop/parts.tsx'
import { signInAgain } from './api.ts'

interface DoingProps {
  /** The label of the button, and of the one that confirms. */
  label: string
  question: string
  /** The button's name for those who do not see where it stands. */
  name?: string
  grave?: boolean
  /** The view is mostly for this. */
  main?: boolean
  /** Marks fields that are empty or cannot be read. False: there are some, and nothing is sent. */
  check?: () => boolean
  /** Does it. Returns the message when it is done. */
  work: () => Promise<string>
  /** Reads the view again: the action is done, or was refused and the view may be out of date. */
  onDone: () => void
  /** The action's meaning, shown before it is confirmed. */
  children: ComponentChildren
}

/** A button for something that moves money or people: it asks first, and leads to a fresh sign-in when that is needed. */
export function Doing({
  label,
  question,
  name,
  grave = false,
  main = false,
  check,
  work,
  onDone,
  children,
}: DoingProps) {
  const [isOpen, setOpen] = useState(false)
  const action = useAction()
  const confirm = () => {
    if (check && !check()) return action.clear()
    void action.run(async () => {
      const said = await work()
      setOpen(false)
      onDone()
      return said
    })
  }
  const close = () => {
    setOpen(false)
    if (action.trouble) onDone()
  }
  return (
    <>
      <button
        type="button"
        aria-label={name}
        class={`button ${main ? 'main short' : ''}`}
        onClick={() => {
          action.clear()
          setOpen(true)
        }}
      >
        {label}
      </button>
      <output class="unseen">{action.said}</output>
      {isOpen && (
        <Ask
          title={question}
          action={label}
          busy={action.busy}
          trouble={action.trouble}
          grave={grave}
          onYes={confirm}
          onNo={close}
        >
          {children}
          <SignInAgain action={action} onClick={signInAgain} />
        </Ask>
      )}
    </>
  )
}
