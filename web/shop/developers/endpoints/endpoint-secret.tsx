import { useEffect, useRef } from 'preact/hooks'
import { moment } from '../../../ui/format.ts'
import { CopyButton } from '../../copy-button.tsx'

interface EndpointSecretProps {
  secret: string
  /** After a rotation: how long the secret before it signs too. */
  oldSecretUntil?: string | undefined
  onClose: () => void
}

/** Shows the secret of an endpoint, once. */
export function EndpointSecret({ secret, oldSecretUntil, onClose }: EndpointSecretProps) {
  const place = useRef<HTMLHeadingElement>(null)
  useEffect(() => place.current?.focus(), [])
  return (
    <section class="panel stack secret" aria-labelledby="endpoint-secret-title">
      <h3 id="endpoint-secret-title" ref={place} tabIndex={-1}>
        The secret of this endpoint
      </h3>
      <p>
        Copy it now, it is shown this once. Your program checks with it that an event is from us.
        {oldSecretUntil && ` Until ${moment(oldSecretUntil)} the old secret signs too.`}
      </p>
      <p class="row">
        <code class="secret-text">{secret}</code>
        <CopyButton text={secret} name="the secret">
          Copy
        </CopyButton>
      </p>
      <div class="row">
        <button type="button" class="button" onClick={onClose}>
          I have it
        </button>
      </div>
    </section>
  )
}
