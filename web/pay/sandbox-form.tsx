import { Icon } from '../ui/icon.tsx'

/** What the sandbox can be asked to do, in the order in which somebody new would try it. */
const SCENARIOS: [string, string][] = [
  ['success', 'Approves at once'],
  ['decline', 'Declines'],
  ['delayed', 'Takes some seconds, then approves'],
  ['lost_webhook', 'Approves, but the shop is never told'],
  ['repeated_webhook', 'Approves, and the shop is told several times'],
  ['reordered_webhook', 'Approves, and the news arrive out of order'],
  ['late_success', 'Declines, then approves after all'],
  ['wrong_amount', 'Takes another amount than the price'],
  ['double_capture', 'Takes the money twice'],
]

export const ScenarioChoice = ({ value, onValue }: { value: string; onValue: (value: string) => void }) => (
  <div class="sandbox">
    <p class="sandbox-title">
      <Icon name="flask" /> Test mode: no money moves, and no number is asked for
    </p>
    <div class="field">
      <label for="scenario">How should the bank behave?</label>
      <select id="scenario" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {SCENARIOS.map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </div>
  </div>
)
