import { useState } from 'preact/hooks'
import { Trouble } from '../ui/api.ts'

/** Something that is being done, and what came of it. */
export interface Deed {
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
export function useDeed(): Deed {
  const [state, setState] = useState<Pick<Deed, 'busy' | 'doing' | 'said' | 'trouble' | 'tries'>>({
    busy: false,
    doing: undefined,
    said: '',
    trouble: undefined,
    tries: 0,
  })
  return {
    ...state,
    refusedFor: (code) => state.trouble instanceof Trouble && state.trouble.code === code,
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
