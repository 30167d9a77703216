import { useEffect, useRef } from 'preact/hooks'
import { apiBase } from '../../../ui/page-data.ts'
import { CopyButton } from '../../copy-button.tsx'
import type { MadeKey } from './keys-api.ts'

interface SecretPanelProps {
  made: MadeKey
  onClose: () => void
}

/** Shows a secret, once. */
export function SecretPanel({ made: { key, secret }, onClose }: SecretPanelProps) {
  const place = useRef<HTMLHeadingElement>(null)
  useEffect(() => place.current?.focus(), [])
  const origin = apiBase || location.origin
  return (
    <section class="panel stack secret" aria-labelledby="secret-title">
      <h3 id="secret-title" ref={place} tabIndex={-1}>
        The key “{key.name}”
      </h3>
      <p>Copy it now. It is shown this once: we store only a fingerprint of it.</p>
      <p class="row">
        <code class="secret-text">{secret}</code>
        <CopyButton text={secret} name="the key">
          Copy
        </CopyButton>
      </p>
      <details class="small">
        <summary>Try it</summary>
        <pre>{`curl -H "Authorization: Bearer $KEY" ${origin}${firstRoute(key.scopes)}`}</pre>
      </details>
      <div class="row">
        <button type="button" class="button" onClick={onClose}>
          I have it
        </button>
      </div>
    </section>
  )
}

const ROUTES: [string, string][] = [
  ['orders:read', '/api/orders'],
  ['products:read', '/api/products'],
  ['balance:read', '/api/balance'],
]
const firstRoute = (scopes: readonly string[]): string =>
  ROUTES.find(([scope]) => scopes.includes(scope))?.[1] ?? '/api/…'
