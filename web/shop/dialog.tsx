import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Refused } from './parts.tsx'

interface DialogProps {
  title: string
  /** Whether the dialog may be closed now. */
  closable: boolean
  onClose: () => void
  onSubmit: () => void
  children: ComponentChildren
}

/** The browser's own dialog: it keeps the focus inside, and returns it on closing. */
export function Dialog({ title, closable, onClose, onSubmit, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  // A layout effect ends with the dialog. An effect may end later, and would take the focus from the element that has it by then.
  useLayoutEffect(() => {
    const from = document.activeElement
    const dialog = place.current!
    dialog.showModal()
    return () => {
      dialog.close()
      if (from instanceof HTMLElement && from.isConnected) from.focus()
    }
  }, [])
  return (
    <dialog
      ref={place}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault()
        if (closable) onClose()
      }}
      // A browser closes a dialog on the second try whatever its page says. A refusal needs it open.
      onClose={({ currentTarget }) => currentTarget.isConnected && currentTarget.showModal()}
    >
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        <h2 id="dialog-title">{title}</h2>
        {children}
      </form>
    </dialog>
  )
}

interface ChoicesProps {
  /** The action that is running, while it runs. */
  busy: string | undefined
  action: string | undefined
  away: string
  /** The action deletes something: Enter then cancels. */
  grave?: boolean | undefined
  onClose: () => void
}

/** The buttons to confirm and to cancel. Cancel stays the safe default. */
export const Choices = ({ busy, action, away, grave, onClose }: ChoicesProps) => (
  <div class="row">
    {action && (
      <button
        type="submit"
        class={`button main short ${grave ? 'grave' : ''}`}
        aria-disabled={busy ? 'true' : undefined}
      >
        {busy && <span class="spinner" aria-hidden="true" />}
        {busy ?? action}
      </button>
    )}
    <button
      type="button"
      class="button"
      autofocus={grave}
      aria-disabled={busy ? 'true' : undefined}
      onClick={() => !busy && onClose()}
    >
      {away}
    </button>
  </div>
)

interface AskProps {
  title: string
  /** The label of the confirming button. */
  action: string
  busy: boolean
  trouble?: unknown
  /** The action deletes something. */
  grave?: boolean
  onYes: () => void
  onNo: () => void
  children?: ComponentChildren
}

/** Asks before an action. */
export const Ask = ({ title, action, busy, trouble, grave, onYes, onNo, children }: AskProps) => (
  <Dialog title={title} closable={!busy} onClose={onNo} onSubmit={() => !busy && onYes()}>
    {children}
    <Refused action={{ trouble, tries: 0 }} />
    <Choices busy={busy ? action : undefined} action={action} away="Cancel" grave={grave} onClose={onNo} />
  </Dialog>
)
