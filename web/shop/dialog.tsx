import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Refused } from './parts.tsx'

interface DialogProps {
  title: string
  /** Whether it may be left now. */
  closable: boolean
  onClose: () => void
  onSubmit: () => void
  children: ComponentChildren
}

/** The browser's own dialog, which keeps the focus inside and gives it back to where it came from. */
export function Dialog({ title, closable, onClose, onSubmit, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  useEffect(() => {
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
  /** What is being done, while it is. */
  busy: string | undefined
  action: string | undefined
  away: string
  /** It takes something away: a hasty Enter takes the way out. */
  grave?: boolean | undefined
  onClose: () => void
}

/** The way to do it and the way out, which stays the safe one. */
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
  /** What the button says that does it. */
  action: string
  busy: boolean
  trouble?: unknown
  /** It takes something away. */
  grave?: boolean
  onYes: () => void
  onNo: () => void
  children?: ComponentChildren
}

/** Asks before something is done. */
export const Ask = ({ title, action, busy, trouble, grave, onYes, onNo, children }: AskProps) => (
  <Dialog title={title} closable={!busy} onClose={onNo} onSubmit={() => !busy && onYes()}>
    {children}
    <Refused deed={{ trouble, tries: 0 }} />
    <Choices busy={busy ? action : undefined} action={action} away="Cancel" grave={grave} onClose={onNo} />
  </Dialog>
)
