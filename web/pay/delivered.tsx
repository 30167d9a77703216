import type { OrderStatus } from '../ui/api.ts'
import { Files } from '../ui/files.tsx'
import { money } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Notice } from '../ui/notice.tsx'
import { sentence } from '../ui/words.ts'
import type { StepProps } from './step-props.ts'
import { OrderLink } from './order-link.tsx'
import { say, saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

/** Paid: the files, and nothing that asks for money. */
export function Delivered({ checkout, state }: StepProps) {
  const { order, kept, trouble } = state
  if (!order) return null
  const twice = order.timeline?.some((one) => one.what === 'duplicate_refunded')
  return (
    <div class="stack">
      <div class="done">
        <span class="seal">
          <Icon name="check" />
        </span>
        <div>
          <h2 tabIndex={-1}>{order.amount > 0 ? words.paidYours : words.itsYours}</h2>
          <p class="soft">
            {/* A mailbox gets a limited number of receipts for free orders, so the text promises none. */}
            {saying(order.amount > 0 ? words.receiptTo : words.orderKeptFor, {
              email: <span class="address">{kept?.email}</span>,
            })}
          </p>
        </div>
      </div>
      {order.status === 'partially_refunded' && <PartlyBack order={order} />}
      {twice && (
        <Notice title={words.twice} icon="back">
          <p>{words.twiceText}</p>
        </Notice>
      )}
      {kept?.link ? (
        <p class="soft">{words.filesInReceipt}</p>
      ) : order.downloads.length > 0 ? (
        <>
          <Files downloads={order.downloads} renew={checkout.renew} />
          <p class="soft small">{words.linksLast}</p>
        </>
      ) : order.timeline || !order.statusToken ? (
        <Notice title={words.noFile} tone="alarm">
          <p>{words.noFileText}</p>
        </Notice>
      ) : trouble ? (
        <Notice title={sentence(trouble)} tone="alarm" role="alert">
          <button type="button" class="link" onClick={() => void checkout.check()}>
            {shared.tryAgain}
          </button>
        </Notice>
      ) : (
        // The answer that makes a free order has no files and no timeline. The status brings both, but of an order that has moved to
        // another address neither, and no token.
        <p class="busy-line soft">
          <span class="spinner" aria-hidden="true" /> {shared.oneMoment}
        </p>
      )}
      {order.seller && (
        <p class="small">
          {say(shared.soldBy, { seller: order.seller.name })} {shared.questions}{' '}
          <a href={`mailto:${order.seller.supportEmail}`}>{order.seller.supportEmail}</a>
        </p>
      )}
      <OrderLink kept={kept} />
      {order.amount > 0 && !kept?.link && (
        <p>
          <button type="button" class="link small" onClick={checkout.startOver}>
            {words.buyAnother}
          </button>
        </p>
      )}
    </div>
  )
}

/** The service does not say how much went back to a visitor who has only the link to pay the order. */
function PartlyBack({ order: { refundedAmount, chargedBackAmount = 0, currency } }: { order: OrderStatus }) {
  if (refundedAmount === undefined) return <Notice title={words.keepFiles} icon="back" />
  return (
    <Notice title={say(words.partlyBack, { amount: money(refundedAmount + chargedBackAmount, currency) })} icon="back">
      <p>{words.keepFiles}</p>
    </Notice>
  )
}
