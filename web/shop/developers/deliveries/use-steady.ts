import { useLayoutEffect, useRef } from 'preact/hooks'

interface Mark {
  element: Element
  top: number
}

/**
 * Keeps the row being read at its place on the screen while rows come in above it. Call the returned function just before the change
 * that makes the page draw them.
 */
export function useSteady(list: { current: HTMLElement | null }): () => void {
  const markRef = useRef<Mark | undefined>(undefined)
  useLayoutEffect(() => {
    const mark = markRef.current
    markRef.current = undefined
    if (mark?.element.isConnected) scrollBy(0, mark.element.getBoundingClientRect().top - mark.top)
  })
  return () => {
    const element = list.current && rowBeingRead(list.current)
    markRef.current = element ? { element, top: element.getBoundingClientRect().top } : undefined
  }
}

/** The row that has the focus, the selection or the pointer, that is open, or at which the reader has arrived by scrolling. */
function rowBeingRead(list: HTMLElement): Element | undefined {
  const rows = [...list.children]
  const selection = getSelection()
  const selected = selection && !selection.isCollapsed ? selection.anchorNode : null
  const isOnScreen = (row: Element) => {
    const { top, bottom } = row.getBoundingClientRect()
    return bottom > 0 && top < innerHeight
  }
  const seen = rows.filter(isOnScreen)
  return (
    seen.find((row) => row.contains(selected) || row.contains(document.activeElement)) ??
    seen.find((row) => row.matches(':hover')) ??
    seen.find((row) => row.querySelector('details[open]')) ??
    (list.getBoundingClientRect().top < 0 ? seen[0] : undefined)
  )
}
