import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

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

/** The way to do it and the way out, which stays the safe one. */
export const Choices = ({
  busy,
  action,
  away,
  onClose,
}: {
  busy: string | undefined
  action: string | undefined
  away: string
  onClose: () => void
}) => (
  <div class="row">
    {action && (
      <button type="submit" class="button main short" aria-disabled={busy ? 'true' : undefined}>
        {busy && <span class="spinner" aria-hidden="true" />}
        {busy ?? action}
      </button>
    )}
    <button type="button" class="button" aria-disabled={busy ? 'true' : undefined} onClick={() => !busy && onClose()}>
      {away}
    </button>
  </div>
)
