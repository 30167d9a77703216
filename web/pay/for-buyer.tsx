import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { wordsOf } from '../ui/language.ts'
import { keep } from './saved-checkout.ts'
import type { StepProps } from './step-props.ts'

/**
 * A step of an order that was paid or has ended. The service answers only the order's own address with a token. Where this browser's address
 * gets none, the order has moved to a corrected one: then the page can say nothing true about its receipt and its files, and each further
 * question would count as a wrong address. The order's page knows the new address, or asks for it.
 */
export const forBuyer = (Step: ComponentType<StepProps>) =>
  function StepForBuyer(props: StepProps) {
    const { order, kept } = props.state
    const moved = order && !order.statusToken && !kept?.link ? order.orderId : undefined
    const productId = props.product.id
    useEffect(() => {
      if (!moved) return
      keep(productId, undefined)
      location.replace(`/order/?order=${moved}`)
    }, [moved, productId])
    return moved ? <p class="soft">{wordsOf('pay').lookingUpText}</p> : <Step {...props} />
  }
