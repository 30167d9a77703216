import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { wordsOf } from './language.ts'

interface EmailFieldProps {
  value: string
  onValue: (value: string) => void
  hint?: string
  fault?: string | undefined
  /** Appears in the place of the hint. */
  children?: preact.ComponentChildren
  /** Grows with each refused try, so that the same fault twice still moves the focus. */
  tries: number
}

export function EmailField({ value, onValue, hint, fault, tries, children }: EmailFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (fault) input.current?.focus()
  }, [fault, tries])
  return (
    <div class="field">
      <label for="email">{wordsOf('ui').email}</label>
      <input
        id="email"
        ref={input}
        type="email"
        name="email"
        inputMode="email"
        autoComplete="email"
        autoCapitalize="none"
        spellcheck={false}
        maxLength={254}
        required
        placeholder="you@example.com"
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={[fault && 'email-fault', hint && 'email-hint'].filter(Boolean).join(' ') || undefined}
      />
      {fault && (
        <p class="fault" id="email-fault">
          <Icon name="alert" />
          {fault}
        </p>
      )}
      {(children || hint) && (
        <div class="below">
          {children}
          {hint && (
            <p class="soft small" id="email-hint">
              {hint}
            </p>
          )}
        </div>
      )}
    </div>
  )
}
