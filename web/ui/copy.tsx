import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { say, wordsOf } from './language.ts'

const words = wordsOf('ui')

/** An order number with a button that copies it, where the browser allows that (on https and on localhost). */
export function Copyable({ text, name }: { text: string; name: string }) {
  const [copied, setCopied] = useState(false)
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => {},
    )
  return (
    <span class="copyable">
      <code>{text}</code>
      {'clipboard' in navigator && (
        <button
          type="button"
          class="link"
          onClick={copy}
          aria-label={say(copied ? words.copied : words.copy, { what: name })}
        >
          <Icon name={copied ? 'check' : 'copy'} />
        </button>
      )}
    </span>
  )
}
