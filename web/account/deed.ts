import { useState } from 'preact/hooks'
import { ApiError } from '../ui/api.ts'

/** Something that is being done, and what came of it. */
export interface Action {
  busy: boolean
  /** Which of several it is. */
  doing: string | undefined
  /** What to say when it is done. */
  said: string
  trouble: unknown
  /** How often it was tried. */
  tries: number
  /** Whether it was refused with this code. */
  refusedFor: (code: string) => boolean
  run: (work: () => Promise<string>, which?: string) => Promise<void>
  clear: () => void
}

/** One thing at a time: while it runs, further presses do nothing. */
export function useAction(): Action {
  const [state, setState] = useState<Pick<Action, 'busy' | 'doing' | 'said' | 'trouble' | 'tries'>>({
    busy: false,
    doing: undefined,
    said: '',
    trouble: undefined,
    tries: 0,
  })
  return {
    ...state,
    refusedFor: (code) => state.trouble instanceof ApiError && state.trouble.code === code,
    clear: () => setState({ ...state, said: '', trouble: undefined }),
    async run(work, doing) {
      if (state.busy) return
      const tries = state.tries + 1
      setState({ busy: true, doing, said: '', trouble: undefined, tries })
      await work().then(
        (said) => setState({ busy: false, doing: undefined, said, trouble: undefined, tries }),
        (trouble: unknown) => setState({ busy: false, doing: undefined, said: '', trouble, tries }),
      )
    },
  }
}
