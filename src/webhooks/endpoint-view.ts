import type { EndpointRow } from './endpoints.ts'
import type { WebhookEndpoint } from './schema.ts'

/** An endpoint as its seller sees it. */
export function endpointView({
  paused,
  pausedAt: _,
  failingSince,
  heldUntil,
  oldSecretUntil,
  createdAt,
  madeByKey,
  ...row
}: EndpointRow): WebhookEndpoint {
  return {
    ...row,
    status: paused ? 'paused' : failingSince ? 'failing' : 'active',
    ...(paused && { pausedBecause: paused }),
    ...(failingSince && { failingSince: failingSince.toISOString() }),
    ...(heldUntil && { heldUntil: heldUntil.toISOString() }),
    ...(oldSecretUntil && { oldSecretUntil: oldSecretUntil.toISOString() }),
    createdAt: createdAt.toISOString(),
    ...(madeByKey && {
      madeByKey: { id: madeByKey.id, ...(madeByKey.name !== null && { name: madeByKey.name }), ended: madeByKey.ended },
    }),
  }
}
