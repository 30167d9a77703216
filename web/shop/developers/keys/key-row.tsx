import { day, moment } from '../../../ui/format.ts'
import type { Action } from '../../../ui/action.ts'
import type { ApiKey } from './keys-api.ts'
import { inWords } from './typed-key.ts'

interface KeyRowProps {
  apiKey: ApiKey
  /** Looks up what revoking the key would leave. Until it ends, no dialog opens. */
  asking: Pick<Action, 'busy' | 'doing'>
  onRoll: (apiKey: ApiKey) => void
  onRevoke: (apiKey: ApiKey) => void
}

/** One key of the list, with all that tells whether it is still needed. */
export function KeyRow({ apiKey, asking, onRoll, onRevoke }: KeyRowProps) {
  const waits = asking.busy ? 'true' : undefined
  const { name, prefix, lastFour, status, scopes, productIds, replaced } = apiKey
  return (
    <li>
      <div class="key-head">
        <p class="name">{name}</p>
        {status !== 'active' && <span class="tag quiet">{status === 'expired' ? 'Expired' : 'Revoked'}</span>}
      </div>
      <p class="small">
        <code>
          {prefix}…{lastFour}
        </code>
      </p>
      <p class="small soft">{inWords(scopes)}</p>
      {productIds && (
        <p class="small soft">Only for {productIds.length === 1 ? 'one product' : `${productIds.length} products`}</p>
      )}
      <p class="small soft">
        {usedWords(apiKey)} · {endWords(apiKey)}
      </p>
      {replaced.map(({ lastFour: old, endsAt }) => (
        <p key={old + endsAt} class="small soft">
          The secret before it, <code>…{old}</code>, works until {moment(endsAt)}.
        </p>
      ))}
      {status === 'active' && (
        <div class="row">
          <button type="button" class="link small" aria-disabled={waits} onClick={() => asking.busy || onRoll(apiKey)}>
            Roll<span class="unseen"> {name}</span>
          </button>
          <button type="button" class="link small" aria-disabled={waits} onClick={() => onRevoke(apiKey)}>
            {asking.doing === apiKey.id && <span class="spinner" aria-hidden="true" />}
            Revoke<span class="unseen"> {name}</span>
          </button>
        </div>
      )}
    </li>
  )
}

const HOUR_MS = 3_600_000

function usedWords({ lastUsedAt, lastUsedRoute }: ApiKey): string {
  if (!lastUsedAt) return 'Never used'
  const isNow = Date.now() - Date.parse(lastUsedAt) < HOUR_MS
  return `Last used ${isNow ? 'within the hour' : `around ${moment(lastUsedAt)}`}, for ${lastUsedRoute ?? ''}`
}

function endWords({ status, expiresAt, revokedAt }: ApiKey): string {
  if (status === 'revoked') return `revoked ${moment(revokedAt!)}`
  if (!expiresAt) return 'never ends'
  return status === 'expired' ? `ended ${day(expiresAt)}` : `until ${day(expiresAt)}`
}
