import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { isRefusal } from '../../api.ts'
import { Ask } from '../../dialog.tsx'
import { getEndpoints, type Endpoint } from '../endpoints/endpoints-api.ts'
import { revokeKey, type ApiKey } from './keys-api.ts'

interface Revoking {
  apiKey: ApiKey
  /** The endpoints that the key has made. Undefined: they could not be read. */
  endpoints: Endpoint[] | undefined
}

/**
 * Looks up what a key leaves behind, one key at a time. The dialog opens with the list, so that nothing in it moves. Without an answer
 * the key can be revoked all the same.
 */
export function useRevoking() {
  const [revoking, setRevoking] = useState<Revoking>()
  const asking = useAction()
  const askToRevoke = (apiKey: ApiKey) =>
    void asking.run(async () => {
      const endpoints = await getEndpoints().then(
        ({ items }) => items.filter(({ madeByKey }) => madeByKey?.id === apiKey.id),
        () => undefined,
      )
      setRevoking({ apiKey, endpoints })
      return ''
    }, apiKey.id)
  return { revoking, asking, askToRevoke, endRevoking: () => setRevoking(undefined) }
}

interface RevokeDialogProps extends Revoking {
  onNo: () => void
  onRevoked: () => void
}

export function RevokeDialog({ apiKey: { id, name, scopes }, endpoints, onNo, onRevoked }: RevokeDialogProps) {
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
      {!endpoints && (
        <p>We could not read whether it made endpoints. Those go on hearing of your orders until you remove them.</p>
      )}
      {endpoints && endpoints.length > 0 && (
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
