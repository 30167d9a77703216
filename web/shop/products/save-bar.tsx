import type { Action } from '../../ui/action.ts'
import { money } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Refusal } from '../../ui/refusal.tsx'
import { Refused } from '../parts.tsx'
import { DETAILS_FORM } from './details-form.tsx'
import { amountOf, type Draft, type Field } from './draft.ts'
import type { ProductForm } from './form.ts'

const FIELD_NAMES: Record<Field, string> = {
  name: 'Name',
  description: 'Description',
  pricing: 'Kind of price',
  price: 'Price',
  suggested: 'Suggestion',
  currency: 'Currency',
  further: 'Prices in other currencies',
  statementSuffix: 'Statement descriptor',
}
const PRICING_NAMES: Record<Draft['pricing'], string> = {
  fixed: 'one price',
  chosen: 'pay what you want',
  free: 'free',
}

interface SaveBarProps {
  form: ProductForm
  action: Action
  /** The result of the last press appears here, because its button is here. */
  tells: boolean
}

/**
 * The only way to save the form. It stays at the foot of the window while something is not saved, and says there why
 * saving failed.
 */
export function SaveBar({ form, action, tells }: SaveBarProps) {
  const isNew = !form.product
  const isShown =
    isNew || form.dirty || form.newest || form.theirs || (tells && (action.busy || action.said || action.trouble))
  return (
    <section class={`save-bar ${isShown ? '' : 'at-rest'}`} aria-label="Save">
      {form.newest && <Conflict form={form} />}
      {form.theirs && <Theirs key={form.version} form={form} theirs={form.theirs} />}
      {form.restored && !form.newest && (
        <Notice title="We restored what you typed last time." icon="back">
          <p>It is not saved yet.</p>
        </Notice>
      )}
      {tells && !form.newest && <Refused action={action} />}
      <div class="row">
        <p class="small save-state">
          {/* Text that was typed while saving is not saved. */}
          {tells && action.said && !form.dirty ? (
            <output class="saved">
              <Icon name="check" />
              {action.said}
            </output>
          ) : form.dirty ? (
            'Not saved yet'
          ) : (
            <span class="soft">{isNew ? 'A draft, until you publish it' : 'Everything is saved'}</span>
          )}
        </p>
        {form.dirty && !isNew && !form.newest && (
          <button type="button" class="link" onClick={() => (action.clear(), form.discard())}>
            Discard changes
          </button>
        )}
        <button
          type="submit"
          form={DETAILS_FORM}
          class={form.dirty || isNew ? 'button main short' : 'button'}
          aria-disabled={action.busy ? 'true' : undefined}
        >
          {action.doing === 'save' && <span class="spinner" aria-hidden="true" />}
          {isNew ? 'Create the product' : 'Save'}
        </button>
      </div>
    </section>
  )
}

/** Another tab or another person has saved meanwhile: the seller decides before anything is overwritten. */
const Conflict = ({ form }: { form: ProductForm }) => (
  <Refusal title="This was changed in the meantime.">
    <p>Your changes were not saved. What you typed is still here.</p>
    <div class="row">
      <button type="button" class="button" onClick={() => form.takeNewest(true)}>
        Show the latest, keep what I typed
      </button>
      <button type="button" class="link" onClick={() => form.takeNewest(false)}>
        Discard what I typed
      </button>
    </div>
  </Refusal>
)

function Theirs({
  form,
  theirs: { draft, fields },
}: {
  form: ProductForm
  theirs: NonNullable<ProductForm['theirs']>
}) {
  return (
    <Refusal title="You both changed the same field." tone="trial" icon="alert">
      <p>Yours is in the form. When you save, it takes the place of this:</p>
      <dl class="theirs">
        {fields.map((field) => (
          <div key={field}>
            <dt>{FIELD_NAMES[field]}</dt>
            <dd>{wordsOf(field, draft)}</dd>
          </div>
        ))}
      </dl>
      <button
        type="button"
        class="link"
        onClick={() => form.change(Object.fromEntries(fields.map((field) => [field, draft[field]])))}
      >
        Take theirs
      </button>
    </Refusal>
  )
}

function wordsOf(field: Field, draft: Draft): string {
  if (field === 'pricing') return PRICING_NAMES[draft.pricing]
  const amount = amountOf(draft)
  if (field === 'price' && amount !== undefined) return money(amount, draft.currency)
  if (field === 'further') return draft.further.map((one) => `${one.currency} ${one.price}`).join(', ') || 'nothing'
  return draft[field] || 'nothing'
}
