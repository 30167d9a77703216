import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { readTab, writeTab } from '../../../ui/tab-storage.ts'
import { TextField } from '../../../ui/text-field.tsx'
import { isUnknown } from '../../api.ts'
import { DRAFTS } from '../../drafts.ts'
import { ProductChoice } from './product-choice.tsx'
import { RefusedByAge } from '../refused-by-age.tsx'
import { ScopeChoice } from './scope-choice.tsx'
import { createKey, type MadeKey } from './keys-api.ts'
import { LIFETIMES, NO_KEY, keyFaults, keyInput, type KeyFaults, type Lifetime, type TypedKey } from './typed-key.ts'

/** Keeps the typed text, because a fresh sign-in leads away from the page and back. */
const TYPED = `${DRAFTS}api-key`
export const hasTyped = (): boolean => readTab<TypedKey>(TYPED) !== undefined

interface KeyFormProps {
  onCreated: (made: MadeKey) => void
  /** No good answer came: the key may be there, and its secret is lost. */
  onUnknown: () => void
  onCancel: () => void
}

export function KeyForm({ onCreated, onUnknown, onCancel }: KeyFormProps) {
  const [typed, setTyped] = useState<TypedKey>(() => readTab<TypedKey>(TYPED) ?? NO_KEY)
  // Read once: on a later visit the form does not open by itself.
  useEffect(() => writeTab(TYPED, undefined), [])
  const [faults, setFaults] = useState<KeyFaults>({})
  const [tries, setTries] = useState(0)
  const action = useAction()
  const type = (change: Partial<TypedKey>) => {
    setTyped((before) => ({ ...before, ...change }))
    setFaults({})
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const wrong = keyFaults(typed)
    setFaults(wrong)
    setTries(tries + 1)
    if (Object.keys(wrong).length > 0) return
    void action.run(async () => {
      // Kept before it is sent: when the session is over, the answer leads straight to the sign-in page.
      writeTab(TYPED, typed)
      const made = await createKey(keyInput(typed)).catch((trouble: unknown) => {
        if (isUnknown(trouble)) onUnknown()
        throw trouble
      })
      writeTab(TYPED, undefined)
      onCreated(made)
      return ''
    })
  }
  return (
    <form class="panel stack" noValidate onSubmit={submit} aria-label="New API key">
      <TextField
        id="key-name"
        label="Name"
        hint="The program, and where it runs."
        value={typed.name}
        onValue={(name) => type({ name })}
        fault={faults.name}
        tries={tries}
        focus
        input={{ maxLength: 100, autoComplete: 'off', autoCapitalize: 'sentences' }}
      />
      <ScopeChoice scopes={typed.scopes} fault={faults.scopes} onScopes={(scopes) => type({ scopes })} />
      <LifetimeField value={typed.lifetime} onValue={(lifetime) => type({ lifetime })} />
      <ProductChoice chosen={typed.productIds} onChoose={(productIds) => type({ productIds })} />
      <RefusedByAge
        action={action}
        ifUnknown="The key may have been made all the same. If the list below has it, cancel here, and roll it to get a secret, or revoke it."
      />
      <div class="row">
        <button type="submit" class="button main short" aria-disabled={action.busy ? 'true' : undefined}>
          {action.busy && <span class="spinner" aria-hidden="true" />}
          Make the key
        </button>
        <button
          type="button"
          class="link"
          onClick={() => {
            writeTab(TYPED, undefined)
            onCancel()
          }}
        >
          Cancel
        </button>
      </div>
    </form>
  )
}

const LifetimeField = ({ value, onValue }: { value: Lifetime; onValue: (value: Lifetime) => void }) => (
  <div class="field">
    <label for="key-lifetime">How long it works</label>
    <select id="key-lifetime" value={value} onChange={(event) => onValue(event.currentTarget.value as Lifetime)}>
      {LIFETIMES.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  </div>
)
