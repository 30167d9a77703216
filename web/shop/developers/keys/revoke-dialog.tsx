import { useAction } from '../../../ui/action.ts'
import { isRefusal } from '../../api.ts'
import { Ask } from '../../dialog.tsx'
import { revokeKey, type ApiKey } from './keys-api.ts'

interface RevokeDialogProps {
  apiKey: ApiKey
  onNo: () => void
  onRevoked: () => void
}

export function RevokeDialog({ apiKey: { id, name, scopes }, onNo, onRevoked }: RevokeDialogProps) {
  const action = useAction()
  const revoke = async () => {
    await revokeKey(id).catch((trouble: unknown) => {
      if (!isRefusal(trouble, 'key_not_found')) throw trouble
    })
    onRevoked()
    return ''
  }
  return (
    <Ask
      title={`Revoke “${name}”?`}
      action="Revoke it"
      grave
      busy={action.busy}
      trouble={action.trouble}
      onNo={onNo}
      onYes={() => void action.run(revoke)}
    >
      <p>
        Programs that use it are refused from this moment.
        {scopes.includes('keys:write') && ' The keys that it made end with it.'}
      </p>
    </Ask>
  )
}
