import { useAction } from '../../../ui/action.ts'
import { isRefusal } from '../../api.ts'
import { Choices, Dialog } from '../../dialog.tsx'
import { RefusedByAge } from '../refused-by-age.tsx'
import { nameOf } from './endpoint-words.ts'
import { removeEndpoint, type Endpoint } from './endpoints-api.ts'

interface RemoveDialogProps {
  endpoint: Endpoint
  onRemoved: () => void
  onNo: () => void
}

export function RemoveDialog({ endpoint, onRemoved, onNo }: RemoveDialogProps) {
  const action = useAction()
  const remove = () =>
    void action.run(async () => {
      await removeEndpoint(endpoint.id).catch((trouble: unknown) => {
        if (!isRefusal(trouble, 'webhook_endpoint_not_found')) throw trouble
      })
      onRemoved()
      return ''
    })
  return (
    <Dialog title={`Remove “${nameOf(endpoint)}”?`} closable={!action.busy} onClose={onNo} onSubmit={remove}>
      <p>Nothing more is sent there, not even what is waiting now. Its list of deliveries goes with it.</p>
      <RefusedByAge action={action} />
      <Choices busy={action.busy ? 'Remove it' : undefined} action="Remove it" away="Cancel" grave onClose={onNo} />
    </Dialog>
  )
}
