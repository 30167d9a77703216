import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { isRefusal } from '../../api.ts'
import { Ask } from '../../dialog.tsx'
import { getEndpoints, type Endpoint } from '../endpoints/endpoints-api.ts'
import { revokeKey, type ApiKey } from './keys-api.ts'

interface RevokeDialogProps {
  apiKey: ApiKey
  onNo: () => void
  onRevoked: () => void
}

export function RevokeDialog({ apiKey: { id, name, scopes }, onNo, onRevoked }: RevokeDialogProps) {
  const action = useAction()
  const [endpoints, setEndpoints] = useState<Endpoint[]>()
  // The dialog opens with the list, so that nothing in it moves. Without an answer the key can be revoked all the same.
  useEffect(() => {
    getEndpoints().then(
      ({ items }) => setEndpoints(items.filter(({ madeByKey }) => madeByKey?.id === id)),
      () => setEndpoints([]),
    )
  }, [id])
  const revoke = async () => {
    await revokeKey(id).catch((trouble: unknown) => {
      if (!isRefusal(trouble, 'key_not_found')) throw trouble
    })
    onRevoked()
    return ''
  }
  if (!endpoints) return null
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
      {endpoints.length > 0 && (
        <>
          <p>It gave these endpoints their address. They go on hearing of your orders until you remove them:</p>
          <ul class="small">
            {endpoints.map(({ id: endpointId, url }) => (
              <li key={endpointId}>
                <code>{url}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </Ask>
  )
}
