import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { Choices, Dialog } from '../../dialog.tsx'
import { RefusedByAge } from '../refused-by-age.tsx'
import { rotateSecret, type NewSecret } from './endpoints-api.ts'

const OVERLAPS: [hours: number, words: string][] = [
  [24, 'signs too for a day'],
  [168, 'signs too for a week'],
  [0, 'ends at once, because somebody else has seen it'],
]

interface RotateDialogProps {
  endpointId: string
  onRotated: (made: NewSecret) => void
  onNo: () => void
}

/** Gives an endpoint a new secret. During the overlap both sign, so that no delivery is refused. */
export function RotateDialog({ endpointId, onRotated, onNo }: RotateDialogProps) {
  const [hours, setHours] = useState(24)
  const action = useAction()
  const rotate = () =>
    void action.run(async () => {
      onRotated(await rotateSecret(endpointId, hours))
      return ''
    })
  return (
    <Dialog title="Rotate the secret?" closable={!action.busy} onClose={onNo} onSubmit={rotate}>
      <p>The endpoint gets a new secret, which you give to your program.</p>
      <fieldset class="stack tight">
        <legend>The present secret</legend>
        {OVERLAPS.map(([value, words]) => (
          <label key={value} class="tick">
            <input type="radio" name="overlap" checked={hours === value} onChange={() => setHours(value)} />
            <span>{words}</span>
          </label>
        ))}
      </fieldset>
      <RefusedByAge action={action} />
      <Choices busy={action.busy ? 'Rotating…' : undefined} action="Rotate it" away="Cancel" onClose={onNo} />
    </Dialog>
  )
}
