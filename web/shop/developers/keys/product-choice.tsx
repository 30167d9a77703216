import { useState } from 'preact/hooks'
import { getProducts } from '../../api.ts'
import { useList } from '../../load.ts'
import { More, Shown } from '../../parts.tsx'

interface ProductChoiceProps {
  /** Empty: all products. */
  chosen: readonly string[]
  onChoose: (productIds: string[]) => void
}

/** Binds the key to some products. The list is asked for only when the seller opens it. */
export function ProductChoice({ chosen, onChoose }: ProductChoiceProps) {
  const [open, setOpen] = useState(chosen.length > 0)
  return (
    <details class="small" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{chosen.length === 0 ? 'For all products' : `Only for ${chosen.length} of your products`}</summary>
      {open && <Products chosen={chosen} onChoose={onChoose} />}
    </details>
  )
}

function Products({ chosen, onChoose }: ProductChoiceProps) {
  const list = useList('products of a key', (cursor) => getProducts({ cursor, limit: 50 }))
  const toggle = (id: string) => onChoose(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])
  return (
    <fieldset class="stack tight">
      <legend class="soft">Tick products to bind the key to them and their orders. It then sees no balance.</legend>
      <Shown of={list}>
        {(items) =>
          items.length === 0 ? (
            <p class="soft">You have no products yet.</p>
          ) : (
            items.map(({ id, name }) => (
              <label key={id} class="tick">
                <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
                <span>{name}</span>
              </label>
            ))
          )
        }
      </Shown>
      <More list={list} />
    </fieldset>
  )
}
