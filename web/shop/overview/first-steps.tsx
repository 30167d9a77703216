import '../products/products.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { UNNAMED } from '../../ui/seller-name.ts'
import type { Seller } from '../../ui/auth-api.ts'
import { Icon } from '../../ui/icon.tsx'
import { useStore } from '../../ui/store.ts'
import { TextField } from '../../ui/text-field.tsx'
import type { Product } from '../api.ts'
import { CopyButton } from '../copy-button.tsx'
import { Head, Refused } from '../parts.tsx'
import { address } from '../router.ts'
import { FilesPart } from '../products/files-part.tsx'
import { useProductForm, type ProductForm } from '../products/form.ts'
import { PriceFields } from '../products/price-fields.tsx'
import { priceWords } from '../../ui/price-words.ts'
import { uploads } from '../uploads/uploads.ts'

interface FirstStepsProps {
  seller: Seller
  /** The step at which an earlier visit stopped. */
  first: Product | undefined
  /** From this step on, the steps stay on the screen until the last one is done. */
  onBegun: () => void
  onDone: () => void
}

/** Leads from an empty shop to a link that can be shared. Each step is done on the spot. */
export function FirstSteps({ seller, first, onBegun, onDone }: FirstStepsProps) {
  const form = useProductForm(seller, first && { product: first, version: '' })
  const { product } = form
  const { items } = useStore(uploads)
  // After the first of several files, buyers would not get them all yet.
  const isSending = items.some(({ productId }) => productId === product?.id)
  const at = !product ? 1 : product.files.length === 0 || isSending ? 2 : product.status === 'draft' ? 3 : 4
  return (
    <>
      <Head title={at === 4 ? 'Your link is ready' : 'Three steps to your first sale'} />
      {seller.name === UNNAMED && (
        <p class="soft">
          Buyers read “{UNNAMED}” as your name so far. <a href="/account/">Choose a name</a>
        </p>
      )}
      <ol class="steps">
        <Step number={1} at={at} title="What you sell, and its price">
          {product ? (
            <p class="cut">
              {product.name}, {priceWords(product)}
            </p>
          ) : (
            <NameStep form={form} onCreated={onBegun} />
          )}
        </Step>
        <Step number={2} at={at} title="The file that buyers get">
          {product && at === 2 && (
            <FilesPart
              title="Files"
              product={product}
              unread={form.unread}
              onChanged={() => {
                onBegun()
                return form.refresh()
              }}
            />
          )}
          {product && at > 2 && <p class="cut">{product.files.map(({ name }) => name).join(', ')}</p>}
        </Step>
        <Step number={3} at={at} title="Publish it, and share the link">
          {product && at === 3 && <PublishStep product={product} publish={form.publish} onPublished={onBegun} />}
          {product && at === 4 && <Ready product={product} onDone={onDone} />}
        </Step>
      </ol>
    </>
  )
}

interface StepProps {
  number: number
  at: number
  title: string
  children: ComponentChildren
}

function Step({ number, at, title, children }: StepProps) {
  const place = useRef<HTMLHeadingElement>(null)
  const isNow = at === number || (at === 4 && number === 3)
  const [began] = useState(at)
  useEffect(() => {
    // The previous step has left the page together with the focused element.
    if (isNow && at !== began) place.current?.focus()
  }, [isNow, at, began])
  return (
    <li class={at > number ? 'past' : isNow ? 'present' : 'ahead'} aria-current={isNow ? 'step' : undefined}>
      <span class="seal" aria-hidden="true">
        {at > number ? <Icon name="check" /> : number}
      </span>
      <div class="stack">
        <h2 ref={place} tabIndex={-1}>
          <span class="unseen">{at > number ? 'Done: ' : `Step ${number}: `}</span>
          {title}
        </h2>
        {children}
      </div>
    </li>
  )
}

function NameStep({ form, onCreated }: { form: ProductForm; onCreated: () => void }) {
  const action = useAction()
  return (
    <form
      class="stack details"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(async () => {
          if (await form.save()) onCreated()
          return ''
        })
      }}
    >
      <TextField
        id="name"
        label="Name"
        value={form.draft.name}
        onValue={(name) => form.change({ name })}
        fault={form.faults.name}
        tries={form.tries}
        input={{ maxLength: 200, autoComplete: 'off', autoCapitalize: 'sentences', spellcheck: true, required: true }}
      />
      <PriceFields draft={form.draft} faults={form.faults} tries={form.tries} onChange={form.change} />
      <Refused action={action} />
      <FaultElsewhere key={form.tries} {...form.faults} />
      <div class="row">
        <button type="submit" class="button main short" aria-disabled={action.busy ? 'true' : undefined}>
          {action.busy && <span class="spinner" aria-hidden="true" />}
          Continue
        </button>
        <span class="small soft">A description and a picture can follow later.</span>
      </div>
    </form>
  )
}

/** The text that was typed under “New product” is here too, also in fields that this step does not show. */
const FaultElsewhere = ({ statementSuffix, description }: ProductForm['faults']) =>
  (statementSuffix ?? description) ? (
    <p class="fault" role="alert">
      <Icon name="alert" />
      <span>
        {statementSuffix ? 'Statement descriptor' : 'Description'}: {statementSuffix ?? description}{' '}
        <a href={address('product', 'new')}>Correct it in the whole form</a>
      </span>
    </p>
  ) : null

interface PublishStepProps extends Pick<ProductForm, 'publish'> {
  product: Product
  onPublished: () => void
}

function PublishStep({ product, publish, onPublished }: PublishStepProps) {
  const action = useAction()
  const press = async () => {
    await publish()
    onPublished()
    return ''
  }
  return (
    <>
      <p class="soft">From then on whoever has the link can buy it. You can take it off sale at any time.</p>
      <Refused action={action} />
      <div class="row">
        <button
          type="button"
          class="button main short"
          aria-disabled={action.busy ? 'true' : undefined}
          onClick={() => void action.run(press)}
        >
          {action.busy && <span class="spinner" aria-hidden="true" />}
          Publish
        </button>
        <a class="link" href={address('product', product.id)}>
          Preview it first
        </a>
      </div>
    </>
  )
}

const Ready = ({ product, onDone }: { product: Product; onDone: () => void }) => (
  <>
    <code class="panel ready-link">{product.payUrl}</code>
    <div class="row">
      <CopyButton text={product.payUrl} name="the link" main>
        Copy the link
      </CopyButton>
      <a class="button" href={product.payUrl} target="_blank" rel="noopener">
        Open the page
      </a>
    </div>
    <div class="row">
      <a class="link" href={address('product', product.id)}>
        Add a description, a picture, discounts
      </a>
      <button type="button" class="link" onClick={onDone}>
        Go to the overview
      </button>
    </div>
  </>
)
