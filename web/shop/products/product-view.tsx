import './products.css'
import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { archiveProduct, getProduct, type Product, type Versioned } from '../api.ts'
import { focusSection } from '../developers/section.tsx'
import { Ask } from '../dialog.tsx'
import { useLoad } from '../load.ts'
import { Head, Shown } from '../parts.tsx'
import { address, go, isAt } from '../router.ts'
import type { ViewProps } from '../views.ts'
import { DetailsPart } from './details-part.tsx'
import { DiscountsPart } from './discounts-part.tsx'
import { FilesPart } from './files-part.tsx'
import { NEW, useProductForm, type ProductForm } from './form.ts'
import { ImagePart } from './image-part.tsx'
import { Part } from './part.tsx'
import { Preview } from './preview.tsx'
import { SalePart } from './sale-part.tsx'
import { SaveBar } from './save-bar.tsx'
import { SharePart } from './share-part.tsx'

const above = <a href={address('products')}>Products</a>

export default function ProductView({ seller, id }: ViewProps) {
  return id === NEW ? <NewProduct seller={seller} /> : <Existing seller={seller} id={id} />
}

function NewProduct({ seller }: Pick<ViewProps, 'seller'>) {
  const form = useProductForm(seller, undefined)
  const { action, save } = useSaving(form, ({ id }) => {
    // The seller may have gone to another view before the answer.
    if (isAt('product', NEW)) go('product', id, {}, true)
  })
  return (
    <>
      <Head title="New product" above={above} />
      <div class="editor">
        <div class="editor-parts">
          <DetailsPart form={form} action={action} onSave={() => save('Created.')} />
        </div>
        <Preview seller={seller} draft={form.draft} />
      </div>
      <SaveBar form={form} action={action} tells />
    </>
  )
}

/**
 * Saves the typed text, with the new status when the seller publishes. A button for a draft saves only that status.
 * `pressed` is the status: the result appears beside its button.
 */
function useSaving(form: ProductForm, onCreated?: (product: Product) => void) {
  const action = useAction()
  const [pressed, setPressed] = useState<Product['status']>()
  const save = (said: string, to?: Product['status']) => {
    if (!action.busy) setPressed(to)
    void action.run(async () => {
      const isNew = !form.product
      const saved = await form.save(to)
      if (saved && isNew) onCreated?.(saved)
      return saved ? said : ''
    }, to ?? 'save')
  }
  return { action, save, pressed }
}

function Existing({ seller, id }: Pick<ViewProps, 'seller' | 'id'>) {
  const loaded = useLoad(id, () => getProduct(id))
  return (
    <>
      {!loaded.value && <Head title="Product" above={above} />}
      <Shown of={loaded}>{(first) => <Editor seller={seller} first={first} />}</Shown>
    </>
  )
}

function Editor({ seller, first }: Pick<ViewProps, 'seller'> & { first: Versioned }) {
  const form = useProductForm(seller, first)
  const { action, save, pressed } = useSaving(form)
  const product = form.product!
  const isOnSale = product.status === 'active'
  return (
    <>
      <Head title={product.name} above={above} />
      <div class="editor">
        <SalePart
          product={product}
          dirty={form.dirty}
          action={action}
          tells={pressed !== undefined}
          onStatus={(to, said) => save(said, to)}
        />
        <div class="editor-parts">
          <DetailsPart form={form} action={action} onSave={() => save('Saved.')} />
          <FilesPart product={product} onChanged={form.refresh} unread={form.unread} />
          <ImagePart product={product} onChanged={form.refresh} />
          <DiscountsPart product={product} />
          {isOnSale && <SharePart product={product} />}
          {product.status !== 'archived' && <ArchivePart form={form} />}
        </div>
        <Preview seller={seller} draft={form.draft} product={product} />
      </div>
      <SaveBar form={form} action={action} tells={pressed === undefined} />
    </>
  )
}

function ArchivePart({ form }: { form: ProductForm }) {
  const [asking, setAsking] = useState(false)
  const action = useAction()
  const product = form.product!
  return (
    <Part id="archive" title="Archive">
      <p class="soft">It leaves your shop and its link stops selling. Who bought it keeps the files.</p>
      <div class="row">
        <button type="button" class="button" onClick={() => setAsking(true)}>
          Archive this product…
        </button>
      </div>
      {asking && (
        <Ask
          title="Archive this product?"
          action="Archive it"
          grave
          busy={action.busy}
          trouble={action.trouble}
          onNo={() => setAsking(false)}
          onYes={() =>
            void action.run(async () => {
              await archiveProduct(product.id)
              const isRead = await form.refresh()
              setAsking(false)
              // The files have the trouble of a reading. The part about the sale still shows the state before.
              if (isRead) scrollTo(0, 0)
              focusSection(isRead ? 'sale' : 'files')
              return ''
            })
          }
        >
          <p class="cut">
            <b>{product.name}</b>
          </p>
          <p>
            Its link says from then on that the product is not for sale. Orders stay as they are, and buyers keep their
            files. You can bring it back at any time.
          </p>
        </Ask>
      )}
    </Part>
  )
}
