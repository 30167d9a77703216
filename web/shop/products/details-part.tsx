import type { Action } from '../../account/deed.ts'
import { DetailsForm } from './details-form.tsx'
import type { ProductForm } from './form.ts'
import { Part } from './part.tsx'

interface DetailsPartProps {
  form: ProductForm
  deed: Action
  onSave: () => void
}

/** The description and the price of a product. */
export const DetailsPart = ({ form, deed, onSave }: DetailsPartProps) => (
  <Part id="details" title="What you sell">
    <DetailsForm
      draft={form.draft}
      faults={form.faults}
      tries={form.tries}
      isNew={!form.product}
      onChange={(to) => {
        deed.clear()
        form.change(to)
      }}
      onSubmit={onSave}
    />
  </Part>
)
