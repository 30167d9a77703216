import { useRef, useState } from 'preact/hooks'
import { ApiError } from './api.ts'

/** An action that is running, and its result. */
export interface Action {
  busy: boolean
  /** Which entry of a list the action is about. */
  doing: string | undefined
  /** The message when it is done. */
  said: string
  trouble: unknown
  /** The number of tries. */
  tries: number
  /** Whether the service refused it with this code. */
  refusedFor: (code: string) => boolean
  run: (work: () => Promise<string>, which?: string) => Promise<void>
  clear: () => void
}

/** Runs one action at a time. Further presses do nothing while it runs. */
export function useAction(): Action {
  const [state, setState] = useState<Pick<Action, 'busy' | 'doing' | 'said' | 'trouble' | 'tries'>>({
    busy: false,
    doing: undefined,
    said: '',
    trouble: undefined,
    tries: 0,
  })
  // Two presses can come before the page is drawn again, so the state alone would let both through.
  const runningRef = useRef(false)
  return {
    ...state,
    refusedFor: (code) => state.trouble instanceof ApiError && state.trouble.code === code,
    clear: () => setState({ ...state, said: '', trouble: undefined }),
    async run(work, doing) {
      if (runningRef.current) return
      runningRef.current = true
      const tries = state.tries + 1
      setState({ busy: true, doing, said: '', trouble: undefined, tries })
      await work()
        .finally(() => (runningRef.current = false))
        .then(
          (said) => setState({ busy: false, doing: undefined, said, trouble: undefined, tries }),
          (trouble: unknown) => setState({ busy: false, doing: undefined, said: '', trouble, tries }),
        )
    },
  }
}
