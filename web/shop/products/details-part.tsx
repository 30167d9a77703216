import type { Action } from '../../ui/action.ts'
import { DetailsForm } from './details-form.tsx'
import type { ProductForm } from './form.ts'
import { Part } from './part.tsx'

interface DetailsPartProps {
  form: ProductForm
  action: Action
  onSave: () => void
}

/** The description and the price of a product. */
export const DetailsPart = ({ form, action, onSave }: DetailsPartProps) => (
  <Part id="details" title="What you sell">
    <DetailsForm
      draft={form.draft}
      faults={form.faults}
      tries={form.tries}
      isNew={!form.product}
      onChange={(to) => {
        action.clear()
        form.change(to)
      }}
      onSubmit={onSave}
    />
  </Part>
)
