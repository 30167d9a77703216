import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { money, moment } from '../../ui/format.ts'
import { changeDiscount, getDiscounts, isRefusal, type Discount, type Product } from '../api.ts'
import { CopyButton } from '../copy-button.tsx'
import { Ask } from '../dialog.tsx'
import { useList } from '../load.ts'
import { More, Refused, Shown } from '../parts.tsx'
import { DiscountForm } from './discount-form.tsx'
import { Part } from './part.tsx'

/** The discount codes of this product. */
export function DiscountsPart({ product }: { product: Product }) {
  const list = useList(product.id, (cursor) => getDiscounts({ productId: product.id, cursor }))
  const [adding, setAdding] = useState(false)
  const [ending, setEnding] = useState<Discount>()
  const [said, setSaid] = useState('')
  const replace = (changed: Discount, text: string) => {
    list.change((items) => items.map((one) => (one.id === changed.id ? changed : one)))
    setSaid(text)
  }
  const close = () => {
    setAdding(false)
    setEnding(undefined)
    requestAnimationFrame(() => document.getElementById('discounts-title')?.focus())
  }
  if (product.amount === 0 && !product.payWhatYouWant) return null
  return (
    <Part id="discounts" title="Discount codes">
      <Shown of={list}>
        {(items) =>
          items.length > 0 ? (
            <>
              <DiscountRows
                product={product}
                discounts={items}
                onEnd={setEnding}
                onResumed={(discount) => replace(discount, resumedWords(discount))}
              />
              <More list={list} />
            </>
          ) : (
            !adding && (
              <p class="soft">None yet. Buyers type a code on the payment page, or follow a link that has it.</p>
            )
          )
        }
      </Shown>
      {adding ? (
        <DiscountForm
          product={product}
          onCancel={close}
          onUnknown={list.again}
          onCreated={(made) => {
            list.change((items) => [made, ...items])
            setSaid(`${made.code} works from now on.`)
            close()
          }}
        />
      ) : (
        // Not before the list, which would push it away from under the pointer.
        (list.value !== undefined || list.trouble !== undefined) && (
          <NewCode said={said} onPress={() => (setSaid(''), setAdding(true))} />
        )
      )}
      {ending && (
        <Ending
          discount={ending}
          onNo={close}
          onEnded={() => {
            replace({ ...ending, active: false }, `${ending.code} has ended.`)
            close()
          }}
        />
      )}
    </Part>
  )
}

const NewCode = ({ said, onPress }: { said: string; onPress: () => void }) => (
  <div class="row">
    <button type="button" class="button" onClick={onPress}>
      New code
    </button>
    <output class="small saved">{said}</output>
  </div>
)

interface DiscountRowsProps {
  product: Product
  discounts: Discount[]
  onEnd: (discount: Discount) => void
  onResumed: (discount: Discount) => void
}

function DiscountRows({ product, discounts, onEnd, onResumed }: DiscountRowsProps) {
  const [resumed, setResumed] = useState<string>()
  const action = useAction()
  const resume = (id: string) => {
    void action.run(async () => {
      setResumed(id)
      onResumed(await changeDiscount(id, { active: true }))
      return ''
    }, id)
  }
  return (
    <ul class="rows discounts" aria-label="Discount codes">
      {discounts.map((one) => (
        <li key={one.id}>
          <div>
            <p class="name mono">{one.code}</p>
            <p class="small soft">{wordsOf(one)}</p>
          </div>
          {one.active && !isOver(one) ? (
            <div class="row">
              <CopyButton text={linkWith(product, one)} name={`the link with ${one.code}`} />
              <button type="button" class="link small" onClick={() => onEnd(one)}>
                End<span class="unseen"> {one.code}</span>
              </button>
            </div>
          ) : (
            <div class="row">
              <span class="tag quiet">Ended</span>
              {!isOver(one) && (
                <button
                  type="button"
                  class="link small"
                  aria-disabled={action.busy ? 'true' : undefined}
                  onClick={() => resume(one.id)}
                >
                  Use again<span class="unseen">: {one.code}</span>
                </button>
              )}
            </div>
          )}
          {resumed === one.id && <Refused action={action} />}
        </li>
      ))}
    </ul>
  )
}

function Ending({ discount, onNo, onEnded }: { discount: Discount; onNo: () => void; onEnded: () => void }) {
  const action = useAction()
  const end = async () => {
    await changeDiscount(discount.id, { active: false }).catch((trouble: unknown) => {
      if (!isRefusal(trouble, 'discount_not_found')) throw trouble
    })
    onEnded()
    return ''
  }
  return (
    <Ask
      title={`End ${discount.code}?`}
      action="End it"
      grave
      busy={action.busy}
      trouble={action.trouble}
      onNo={onNo}
      onYes={() => void action.run(end)}
    >
      <p>From then on it cannot be used. Orders that were made with it keep their price.</p>
    </Ask>
  )
}

/** Its last day is past: then no press makes it work again. */
const isOver = ({ expiresAt }: Pick<Discount, 'expiresAt'>): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) < Date.now()

const resumedWords = (discount: Discount): string =>
  isOver(discount) ? `The last day of ${discount.code} is past.` : `${discount.code} works again.`

function wordsOf({ percentOff, amounts = [], uses, limit, expiresAt, productId }: Discount): string {
  const off = percentOff
    ? `${percentOff}% off`
    : `${amounts.map((one) => money(one.amount, one.currency)).join(' or ')} off`
  return [
    off,
    limit
      ? `used ${uses} of ${limit} times`
      : uses === 0
        ? 'not used yet'
        : uses === 1
          ? 'used once'
          : `used ${uses} times`,
    expiresAt && `${isOver({ expiresAt }) ? 'ended' : 'until'} ${moment(expiresAt)}`,
    !productId && 'for all your products',
  ]
    .filter(Boolean)
    .join(' · ')
}

function linkWith({ payUrl }: Product, { code }: Discount): string {
  const url = new URL(payUrl)
  url.searchParams.set('code', code)
  return url.href
}
