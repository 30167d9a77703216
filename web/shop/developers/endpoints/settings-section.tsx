import { useState } from 'preact/hooks'
import { moment } from '../../../ui/format.ts'
import { go } from '../../router.ts'
import { Section, focusSection } from '../section.tsx'
import { EndpointForm, hasTyped } from './endpoint-form.tsx'
import { EndpointSecret } from './endpoint-secret.tsx'
import { eventWords, keyWords } from './endpoint-words.ts'
import { RemoveDialog } from './remove-dialog.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import { typedOf } from './typed-endpoint.ts'
import { changeEndpoint, getEndpoint, type Endpoint, type EndpointInput, type NewSecret } from './endpoints-api.ts'

interface SettingsProps {
  endpoint: Endpoint
  onEndpoint: (endpoint: Endpoint) => void
}

/** The endpoint's address, its events, and its secret. */
export function SettingsSection({ endpoint, onEndpoint }: SettingsProps) {
  const { id, url, createdAt, oldSecretUntil } = endpoint
  const [doing, setDoing] = useState<'change' | 'rotate' | 'remove' | undefined>(() =>
    hasTyped(id) ? 'change' : undefined,
  )
  /** Shown only here: no later page shows the secret. */
  const [made, setMade] = useState<NewSecret>()
  const close = () => {
    setDoing(undefined)
    focusSection('settings')
  }
  const forget = () => (setMade(undefined), focusSection('settings'))
  const change = async (input: EndpointInput) => {
    onEndpoint(await changeEndpoint(id, input))
    close()
  }
  const rotated = (answer: NewSecret) => {
    setDoing(undefined)
    setMade(answer)
    // the endpoint says until when the old secret signs; if this request fails, the next look brings it
    void getEndpoint(id).then(onEndpoint, () => {})
  }
  return (
    <Section id="settings" title="Settings" about={keyWords(endpoint) ?? `Made ${moment(createdAt)}.`}>
      {made && <EndpointSecret key={made.secret} {...made} onClose={forget} />}
      {doing === 'change' ? (
        <EndpointForm
          id={id}
          initial={typedOf(endpoint)}
          title="Change the endpoint"
          submit="Save"
          onSubmit={change}
          onCancel={close}
        />
      ) : (
        <>
          <dl class="settings">
            <dt>Address</dt>
            <dd>
              <code>{url}</code>
            </dd>
            <dt>Hears of</dt>
            <dd>{eventWords(endpoint)}</dd>
            {oldSecretUntil && (
              <>
                <dt>Old secret</dt>
                <dd>signs too until {moment(oldSecretUntil)}</dd>
              </>
            )}
          </dl>
          <div class="row">
            <button type="button" class="button" onClick={() => setDoing('change')}>
              Change
            </button>
            <button type="button" class="button" onClick={() => setDoing('rotate')}>
              Rotate the secret
            </button>
            <button type="button" class="link" onClick={() => setDoing('remove')}>
              Remove the endpoint
            </button>
          </div>
        </>
      )}
      {doing === 'rotate' && <RotateDialog endpointId={id} onRotated={rotated} onNo={() => setDoing(undefined)} />}
      {doing === 'remove' && (
        <RemoveDialog endpoint={endpoint} onRemoved={() => go('developers')} onNo={() => setDoing(undefined)} />
      )}
    </Section>
  )
}
