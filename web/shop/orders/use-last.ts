import { useEffect, useState } from 'preact/hooks'

/** A value, or the last there was: while something else is looked for, what was found before stays. */
export function useLast<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value)
  useEffect(() => {
    if (value !== undefined) setLast(value)
  }, [value])
  return value ?? last
}
