import { useRef, useState } from 'preact/hooks'

/**
 * One press of the button, up to the payment. The page may have to load or ask for something first. Typing meanwhile
 * takes the press back, because the press was about the earlier text.
 */
export function usePress(letGo: () => void) {
  const currentRef = useRef<object | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  const show = (press: object | undefined) => {
    currentRef.current = press
    setBusy(press !== undefined)
  }
  return {
    busy,
    async run(work: (isCurrent: () => boolean) => Promise<void>) {
      if (currentRef.current) return
      const press = {}
      show(press)
      const isCurrent = () => currentRef.current === press
      await work(isCurrent).finally(() => isCurrent() && show(undefined))
    },
    takeBack() {
      show(undefined)
      letGo()
    },
  }
}
