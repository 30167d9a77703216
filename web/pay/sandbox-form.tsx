import { Icon } from '../ui/icon.tsx'
import type * as words from './sandbox-words.ts'
import { useWords } from './use-words.ts'

export type SandboxWords = typeof words

/** The texts about the sandbox's rails and its bank. */
export const useSandboxWords = (): SandboxWords | undefined => useWords(load)
const load = () => import('./sandbox-words.ts')

export function ScenarioChoice({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const scenarios = useSandboxWords()?.SCENARIOS ?? [['success', 'Approves at once']]
  return (
    <div class="sandbox">
      <p class="sandbox-title">
        <Icon name="flask" /> Test mode: no money moves, and no number is asked for
      </p>
      <div class="field">
        <label for="scenario">How should the bank behave?</label>
        <select id="scenario" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {scenarios.map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}
