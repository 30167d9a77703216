import { useEffect, useState } from 'preact/hooks'
import { getProduct, ApiError, type ProductView } from '../ui/api.ts'
import { Notice } from '../ui/notice.tsx'
import { pageData } from '../ui/page-data.ts'
import { sentence } from '../ui/words.ts'
import { CheckoutPage } from './checkout-page.tsx'
import { readKept } from './saved-checkout.ts'
import { SummarySkeleton } from './summary.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

/** Finds the product: in the page when our server made it, else by one request (the page is on a static host). */
export function PayPage({ productId, returned }: { productId: string; returned?: string | undefined }) {
  const [product, setProduct] = useState<ProductView | undefined>(() => given(productId))
  const [trouble, setTrouble] = useState<unknown>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (productId && !given(productId) && refusalOf(undefined) !== 'product_not_found')
      getProduct(productId).then(setProduct, setTrouble)
  }, [productId, tries])
  const again = () => {
    setTrouble(undefined)
    setTries(tries + 1)
  }
  if (!productId) return <Plain title={words.linkIncomplete}>{words.linkIncompleteText}</Plain>
  if (product) return <CheckoutPage product={product} returned={returned} />
  const code = refusalOf(trouble)
  if (code === 'shop_not_open' || code?.endsWith('not_found')) {
    // A buyer who has an order for it, perhaps paid a moment ago, goes to the order's page instead, unless they come from there to pay it.
    const orderId = readKept(productId)?.orderId
    if (orderId && location.hash !== '#pay') {
      location.replace(`/order/?order=${orderId}`)
      return <SummarySkeleton />
    }
    return code === 'shop_not_open' ? (
      <Plain title={words.shopClosed}>{words.comeBackLater}</Plain>
    ) : (
      <Plain title={words.notForSale}>{words.notForSaleText}</Plain>
    )
  }
  if (trouble)
    return (
      <main class="plain stack">
        <h1>{words.shopSilent}</h1>
        <Notice tone="alarm" title={sentence(trouble)} role="alert">
          <button type="button" class="link" onClick={again}>
            {wordsOf('ui').tryAgain}
          </button>
        </Notice>
      </main>
    )
  return <SummarySkeleton />
}

const Plain = ({ title, children }: { title: string; children: string }) => (
  <main class="plain stack">
    <h1>{title}</h1>
    <p class="soft">{children}</p>
    <p>
      {words.alreadyPaid} <a href="/order/">{words.findYourOrder}</a>
    </p>
  </main>
)

function given(productId: string): ProductView | undefined {
  const { product } = pageData
  return product && 'id' in product && product.id === productId ? product : undefined
}

const refusalOf = (trouble: unknown): string | undefined =>
  pageData.product && 'error' in pageData.product
    ? pageData.product.error.code
    : trouble instanceof ApiError
      ? trouble.code
      : undefined
