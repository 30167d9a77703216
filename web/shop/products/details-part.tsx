import { useDeed } from '../../account/deed.ts'
import { money } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/notice.tsx'
import type { Product } from '../api.ts'
import { Failed } from '../parts.tsx'
import { DetailsForm } from './details-form.tsx'
import { amountOf, type Draft, type Field } from './draft.ts'
import type { ProductForm } from './form.ts'
import { Part } from './part.tsx'

const FIELD_NAMES: Record<Field, string> = {
  name: 'Name',
  description: 'Description',
  pricing: 'Kind of price',
  price: 'Price',
  suggested: 'Suggestion',
  currency: 'Currency',
  statementSuffix: 'Words on the bank statement',
}
const PRICING_NAMES: Record<Draft['pricing'], string> = {
  fixed: 'one price',
  chosen: 'pay what you want',
  free: 'free',
}

/** What a product is and costs, and whether it is on sale. */
export function DetailsPart({ form, onCreated }: { form: ProductForm; onCreated?: (product: Product) => void }) {
  const deed = useDeed()
  const status = form.product?.status
  const isOnSale = status === 'active'
  const save = (said: string, to?: Product['status']) =>
    deed.run(async () => {
      const isNew = !form.product
      const saved = await form.save(to)
      if (saved && isNew) onCreated?.(saved)
      return saved ? said : ''
    }, to ?? 'save')
  const change = (to: Partial<Draft>) => {
    deed.clear()
    form.change(to)
  }
  return (
    <Part id="details" title="What you sell">
      {form.newest && <Conflict form={form} />}
      {form.theirs && <Theirs form={form} theirs={form.theirs} />}
      {form.restored && !form.newest && (
        <Notice title="What you typed last time is back." icon="back">
          <p>It is not saved yet.</p>
          <button type="button" class="link" onClick={form.discard}>
            Drop it
          </button>
        </Notice>
      )}
      <DetailsForm
        draft={form.draft}
        faults={form.faults}
        tries={form.tries}
        isNew={!form.product}
        onChange={change}
        onSubmit={() => void save(status ? 'Saved.' : 'Created.')}
      >
        {deed.trouble ? <Failed trouble={deed.trouble} /> : null}
        <div class="row save-bar">
          <button type="submit" class="button main short" aria-disabled={deed.busy ? 'true' : undefined}>
            {deed.doing === 'save' && <span class="spinner" aria-hidden="true" />}
            {status ? 'Save' : 'Create the product'}
          </button>
          {status && (
            <button
              type="button"
              class="button"
              aria-disabled={deed.busy ? 'true' : undefined}
              onClick={() =>
                void (isOnSale
                  ? save('It is a draft again: its link says that it is not for sale.', 'draft')
                  : save('It is on sale now: the link is ready to be shared.', 'active'))
              }
            >
              {isOnSale ? 'Take it off sale' : 'Publish'}
            </button>
          )}
          {form.dirty && !deed.said && <span class="small soft">Not saved yet</span>}
          <output class="small saved">
            {deed.said && (
              <>
                <Icon name="check" />
                {deed.said}
              </>
            )}
          </output>
        </div>
      </DetailsForm>
    </Part>
  )
}

/** Two tabs, or two people: nobody's words are written over unseen. */
const Conflict = ({ form }: { form: ProductForm }) => (
  <Notice title="Somebody changed it meanwhile." tone="alarm" role="alert">
    <p>Nothing of yours was saved, and what you typed is still here.</p>
    <div class="row">
      <button type="button" class="button" onClick={() => form.takeNewest(true)}>
        Show the newest, keep what I typed
      </button>
      <button type="button" class="link" onClick={() => form.takeNewest(false)}>
        Drop what I typed
      </button>
    </div>
  </Notice>
)

function Theirs({
  form,
  theirs: { draft, fields },
}: {
  form: ProductForm
  theirs: NonNullable<ProductForm['theirs']>
}) {
  return (
    <Notice title="Both of you changed the same." tone="trial" icon="alert" role="alert">
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
    </Notice>
  )
}

function wordsOf(field: Field, draft: Draft): string {
  if (field === 'pricing') return PRICING_NAMES[draft.pricing]
  const amount = amountOf(draft)
  if (field === 'price' && amount !== undefined) return money(amount, draft.currency)
  return draft[field] || 'nothing'
}
