import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { latinDigits } from '../../src/kit/digits.ts'
import { Icon } from './icon.tsx'
import { wordsOf } from './language.ts'
import { looksLikeEmail } from './looks-like-email.ts'

const words = wordsOf('ui')

export interface TextFieldProps {
  id: string
  label: string
  value: string
  onValue: (value: string) => void
  hint?: ComponentChildren
  fault?: string | undefined
  /** Grows with each refused try, so that the same fault twice still moves the focus. */
  tries?: number
  /** Takes the focus when it appears. */
  focus?: boolean
  /** Further attributes of the input. */
  input?: InputHTMLAttributes<HTMLInputElement>
  /** Appears inside the input, at its end. */
  end?: ComponentChildren
}

/** A label and its input, with a hint before typing and a fault afterwards. */
export function TextField({ id, label, value, onValue, hint, fault, tries, focus, input, end }: TextFieldProps) {
  const place = useFaultFocus<HTMLInputElement>(fault, tries, focus)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <p class="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <div class="input">
        <input
          id={id}
          ref={place}
          name={id}
          type="text"
          autoCapitalize="none"
          spellcheck={false}
          {...input}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          aria-invalid={fault ? 'true' : undefined}
          aria-describedby={[fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined}
        />
        {end}
      </div>
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          <Icon name="alert" />
          {fault}
        </p>
      )}
    </div>
  )
}

/**
 * Moves the focus to a field when it has a fault: of several faults, to the first in the form. `tries` grows with each
 * refused try, so that the same fault twice still moves the focus. With `focus` it takes the focus when it appears.
 */
export function useFaultFocus<Field extends HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(
  fault: string | undefined,
  tries: number | undefined,
  focus?: boolean,
) {
  const place = useRef<Field>(null)
  useEffect(() => {
    if (fault) (place.current?.form?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? place.current)?.focus()
  }, [fault, tries])
  // As soon as the field is there: text typed into another one a moment later stays where it belongs.
  useLayoutEffect(() => {
    if (focus) place.current?.focus()
  }, [focus])
  return place
}

interface PasswordFieldProps extends Omit<TextFieldProps, 'input' | 'end'> {
  /** Tells a password manager to fill in the saved password or to suggest a new one. */
  kind: 'current-password' | 'new-password'
}

export function PasswordField({ kind, ...field }: PasswordFieldProps) {
  const [shown, setShown] = useState(false)
  const input = { autoComplete: kind, maxLength: 128, required: true }
  return (
    <TextField
      {...field}
      input={shown ? { type: 'text', ...input } : { type: 'password', ...input }}
      end={
        <button
          type="button"
          class="reveal"
          aria-controls={field.id}
          aria-label={shown ? 'Hide the characters' : 'Show the characters'}
          onClick={() => setShown(!shown)}
        >
          {shown ? 'Hide' : 'Show'}
        </button>
      }
    />
  )
}

export function emailFault(text: string): string | undefined {
  if (!text.trim()) return words.emailMissing
  return looksLikeEmail(text) ? undefined : words.emailIncomplete
}

/** The digits of a text as 0 to 9, from every script: people also paste spaces and hyphens along. */
export const digitsIn = (text: string): string => latinDigits(text).replace(/\D/g, '')
