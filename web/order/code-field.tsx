import { TextField, digitsIn } from '../ui/text-field.tsx'
import { wordsOf } from '../ui/language.ts'

const DIGITS = 6

interface CodeFieldProps {
  hint: string
  value: string
  onValue: (digits: string) => void
  fault: string | undefined
  /** Grows with each refused try. */
  tries: number
  required?: boolean
}

/** The field for a code of a mail about an order. It keeps only digits, so a code can be pasted with spaces. */
export const CodeField = ({ onValue, required, ...field }: CodeFieldProps) => (
  <TextField
    id="code"
    label={wordsOf('code').label}
    {...field}
    onValue={(text) => onValue(digitsIn(text).slice(0, DIGITS))}
    input={{
      class: 'digits',
      inputMode: 'numeric',
      autoComplete: 'one-time-code',
      maxLength: 40,
      ...(required && { required }),
    }}
  />
)

export const isWholeCode = (digits: string): boolean => digits.length === DIGITS
