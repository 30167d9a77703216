import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { Choices, Dialog } from '../../dialog.tsx'
import { RefusedByAge } from '../refused-by-age.tsx'
import { rollKey, type ApiKey, type MadeKey } from './keys-api.ts'

const OVERLAPS: [hours: number, words: string][] = [
  [0, 'ends at once, and so do the keys that this key made'],
  [1, 'works for an hour more'],
  [24, 'works for a day more'],
  [168, 'works for a week more'],
]

interface RollDialogProps {
  apiKey: ApiKey
  onRolled: (made: MadeKey) => void
  onNo: () => void
}

/** Gives a key a new secret. The old one can work a while longer, until every program has the new one. */
export function RollDialog({ apiKey: { id, name, lastFour }, onRolled, onNo }: RollDialogProps) {
  const [hours, setHours] = useState(24)
  const action = useAction()
  const roll = () =>
    void action.run(async () => {
      onRolled(await rollKey(id, hours))
      return ''
    })
  return (
    <Dialog title={`Roll “${name}”?`} closable={!action.busy} onClose={onNo} onSubmit={roll}>
      <p>The key gets a new secret, and its lifetime begins again.</p>
      <fieldset class="stack tight">
        <legend>
          The present secret, <code>…{lastFour}</code>,
        </legend>
        {OVERLAPS.map(([value, words]) => (
          <label key={value} class="tick">
            <input type="radio" name="overlap" checked={hours === value} onChange={() => setHours(value)} />
            <span>{words}</span>
          </label>
        ))}
      </fieldset>
      <RefusedByAge action={action} />
      <Choices busy={action.busy ? 'Rolling…' : undefined} action="Roll it" away="Cancel" onClose={onNo} />
    </Dialog>
  )
}
