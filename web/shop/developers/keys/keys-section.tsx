import { useState } from 'preact/hooks'
import { useList } from '../../load.ts'
import { More, Shown } from '../../parts.tsx'
import { Section, focusSection } from '../section.tsx'
import { KeyForm, hasTyped } from './key-form.tsx'
import { KeyRow } from './key-row.tsx'
import { RevokeDialog, useRevoking } from './revoke-dialog.tsx'
import { RollDialog } from './roll-dialog.tsx'
import { SecretPanel } from './secret-panel.tsx'
import { getKeys, type ApiKey, type MadeKey } from './keys-api.ts'

/** The seller's API keys: to make, roll and revoke. */
export function KeysSection() {
  const list = useList('keys', (cursor) => getKeys({ cursor }))
  const [adding, setAdding] = useState(hasTyped)
  const [rolling, setRolling] = useState<ApiKey>()
  const { revoking, asking, askToRevoke, endRevoking } = useRevoking()
  /** Only here: after this page the secret is nowhere. */
  const [made, setMade] = useState<MadeKey>()
  const close = () => {
    setAdding(false)
    setRolling(undefined)
    endRevoking()
    focusSection('keys')
  }
  const forget = () => {
    setMade(undefined)
    focusSection('keys')
  }
  const show = (answer: MadeKey) => {
    setMade(answer)
    list.change((items) =>
      items.some(({ id }) => id === answer.key.id)
        ? items.map((one) => (one.id === answer.key.id ? answer.key : one))
        : [answer.key, ...items],
    )
    setAdding(false)
    setRolling(undefined)
  }
  return (
    <Section
      id="keys"
      title="API keys"
      about="A program sends a key with each request, and does what the key may. Give each program a key of its own."
    >
      {made && <SecretPanel key={made.secret} made={made} onClose={forget} />}
      {adding ? (
        <KeyForm onCreated={show} onUnknown={list.again} onCancel={close} />
      ) : (
        <NewKey onPress={() => setAdding(true)} />
      )}
      <Shown of={list}>
        {(items) =>
          items.length > 0 ? (
            <ul class="rows keys" aria-label="API keys">
              {items.map((one) => (
                <KeyRow key={one.id} apiKey={one} asking={asking} onRoll={setRolling} onRevoke={askToRevoke} />
              ))}
            </ul>
          ) : (
            !adding && <p class="soft">None yet.</p>
          )
        }
      </Shown>
      <More list={list} />
      {rolling && <RollDialog apiKey={rolling} onRolled={show} onNo={close} />}
      {revoking && (
        <RevokeDialog
          {...revoking}
          onNo={close}
          onRevoked={() => {
            // keys that this one made have ended with it
            list.again()
            if (made?.key.id === revoking.apiKey.id) setMade(undefined)
            close()
          }}
        />
      )}
    </Section>
  )
}

const NewKey = ({ onPress }: { onPress: () => void }) => (
  <div class="row">
    <button type="button" class="button" onClick={onPress}>
      New key
    </button>
  </div>
)
