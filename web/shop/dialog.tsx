import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Failed } from './parts.tsx'

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

/** Asks before something is done. The browser's own dialog keeps the focus inside, and gives it back. */
export function Ask({ title, action, busy, trouble, grave, onYes, onNo, children }: AskProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const { activeElement } = document
    const shown = dialog.current!
    shown.showModal()
    return () => {
      shown.close()
      if (activeElement instanceof HTMLElement && activeElement.isConnected) activeElement.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby="ask-title"
      onCancel={(event) => {
        event.preventDefault()
        if (!busy) onNo()
      }}
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy) onYes()
        }}
      >
        <h2 id="ask-title">{title}</h2>
        {children}
        {trouble ? <Failed trouble={trouble} /> : null}
        <div class="row">
          <button
            type="submit"
            class={`button main short ${grave ? 'grave' : ''}`}
            aria-disabled={busy ? 'true' : undefined}
          >
            {busy && <span class="spinner" aria-hidden="true" />}
            {action}
          </button>
          <button type="button" class="button" onClick={onNo} autofocus={grave}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  )
}
