import type { ComponentChildren } from 'preact'

interface SubmitProps {
  /** The running action. The button keeps its place and the focus; the form ignores further presses. */
  busy?: string | undefined
  children: ComponentChildren
}

export const Submit = ({ busy, children }: SubmitProps) => (
  <button class="button main" type="submit" aria-disabled={busy ? 'true' : undefined}>
    {busy ? (
      <>
        <span class="spinner" aria-hidden="true" />
        <span key={busy}>{busy}</span>
      </>
    ) : (
      children
    )}
  </button>
)
