import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Of several fields that cannot be sent like this, the first has the focus. `tries` grows with each try. */
export function useFirstFault(tries: number): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (tries > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [tries])
  return form
}
