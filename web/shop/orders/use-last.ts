import { useEffect, useState } from 'preact/hooks'

/** The value, or the last one while a new request runs, so that the results stay on the screen. */
export function useLast<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value)
  useEffect(() => {
    if (value !== undefined) setLast(value)
  }, [value])
  return value ?? last
}
