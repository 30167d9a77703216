import { Icon } from '../../../ui/icon.tsx'
import type { Scope } from './keys-api.ts'
import { GRAVE, PRESETS, SUBJECTS, isSame, opensSomething, subjects } from './typed-key.ts'

interface ScopeChoiceProps {
  scopes: readonly Scope[]
  fault: string | undefined
  onScopes: (scopes: Scope[]) => void
}

/** The scopes of the key: a usual choice, or each by itself. */
export function ScopeChoice({ scopes, fault, onScopes }: ScopeChoiceProps) {
  const toggle = (scope: Scope) =>
    onScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
  const grave = scopes.flatMap((scope) => GRAVE[scope] ?? [])
  return (
    <fieldset class="stack tight" aria-describedby={fault ? 'key-scopes-fault' : undefined}>
      <legend>What it may do</legend>
      {PRESETS.map((preset) => (
        <label key={preset.name} class="tick">
          <input
            type="radio"
            name="preset"
            checked={isSame(preset.scopes, scopes)}
            onChange={() => onScopes(preset.scopes)}
          />
          <span>
            {preset.name}
            <span class="soft small">{preset.about}</span>
          </span>
        </label>
      ))}
      <details open={!PRESETS.some((preset) => isSame(preset.scopes, scopes))}>
        <summary>Choose one by one</summary>
        <OneByOne scopes={scopes} onToggle={toggle} />
      </details>
      {grave.map((words) => (
        <p key={words} class="small grave-words">
          <Icon name="alert" />
          {words}
        </p>
      ))}
      {fault && (
        <p class="fault" id="key-scopes-fault" role="alert">
          <Icon name="alert" />
          {fault}
        </p>
      )}
    </fieldset>
  )
}

const OneByOne = ({ scopes, onToggle }: { scopes: readonly Scope[]; onToggle: (scope: Scope) => void }) => (
  <table class="scopes">
    <thead>
      <tr>
        <th scope="col">
          <span class="unseen">What</span>
        </th>
        <th scope="col">Read</th>
        <th scope="col">Change</th>
      </tr>
    </thead>
    <tbody>
      {subjects.map((subject) => (
        <tr key={subject}>
          <th scope="row">{SUBJECTS[subject]}</th>
          {(['read', 'write'] as const).map((deed) => (
            <td key={deed}>
              {opensSomething(`${subject}:${deed}`) && (
                <input
                  type="checkbox"
                  aria-label={`${deed === 'read' ? 'Read' : 'Change'}: ${SUBJECTS[subject]}`}
                  checked={scopes.includes(`${subject}:${deed}`)}
                  onChange={() => onToggle(`${subject}:${deed}`)}
                />
              )}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)
