import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../ui/icon.tsx'

const SHOWN_MS = 4000

interface CopyButtonProps {
  text: string
  /** The name of the copied text: "the link to The Quiet Shop". */
  name: string
  /** The label of the button. Without it, the button is an icon with a name for screen readers. */
  children?: string
  main?: boolean
}

/** Copies, and says so. Where the browser forbids it, the button shows the text to be copied by hand. */
export function CopyButton({ text, name, children, main }: CopyButtonProps) {
  const [state, setState] = useState<'copied' | 'refused'>()
  useEffect(() => {
    if (state !== 'copied') return
    const timer = setTimeout(() => setState(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () =>
    (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))).then(
      () => setState('copied'),
      () => setState('refused'),
    )
  return (
    <span class="copier">
      <button
        type="button"
        class={children ? `button ${main ? 'main short' : ''}` : 'link'}
        onClick={() => void copy()}
        aria-label={children ? undefined : `Copy ${name}`}
      >
        <Icon name={state === 'copied' ? 'check' : 'copy'} />
        {children && (state === 'copied' ? 'Copied' : children)}
      </button>
      <output class="unseen">{state === 'copied' && 'Copied.'}</output>
      {state === 'refused' && (
        <input
          class="by-hand"
          readOnly
          value={text}
          aria-label={name}
          onFocus={(event) => event.currentTarget.select()}
        />
      )}
    </span>
  )
}
