import '../developers.css'
import '../webhooks.css'
import type { VNode } from 'preact'
import { isRefusal } from '../../api.ts'
import { useLoad } from '../../load.ts'
import { Head, Shown } from '../../parts.tsx'
import { address } from '../../router.ts'
import type { ViewProps } from '../../views.ts'
import { DeliveriesSection } from '../deliveries/deliveries-section.tsx'
import { EndpointHealth } from './endpoint-health.tsx'
import { SettingsSection } from './settings-section.tsx'
import { TestSection } from './test-section.tsx'
import { nameOf } from './endpoint-words.ts'
import { getEndpoint } from './endpoints-api.ts'

/** One endpoint: whether it works, its deliveries, a test, and its settings. */
export default function EndpointView({ id }: ViewProps): VNode {
  const loaded = useLoad(id, () => getEndpoint(id))
  const endpoint = loaded.value
  const isUnknown = isRefusal(loaded.trouble, 'webhook_endpoint_not_found')
  return (
    <>
      <Head title={endpoint ? nameOf(endpoint) : 'Endpoint'} above={<a href={address('developers')}>Developers</a>} />
      {isUnknown ? (
        <p>There is no such endpoint in your shop. It may have been removed.</p>
      ) : (
        <Shown of={loaded}>
          {(value) => (
            <>
              <EndpointHealth endpoint={value} onEndpoint={loaded.put} />
              <DeliveriesSection endpoint={value} onEndpoint={loaded.put} />
              <TestSection endpointId={value.id} />
              <SettingsSection endpoint={value} onEndpoint={loaded.put} />
            </>
          )}
        </Shown>
      )}
    </>
  )
}
