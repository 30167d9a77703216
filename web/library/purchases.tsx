import { useEffect, useRef } from 'preact/hooks'
import type { Download } from '../ui/api.ts'
import { Files } from '../ui/files.tsx'
import { fileSize } from '../ui/file-size.ts'
import { day, money } from '../ui/format.ts'
import { rememberOrder } from '../ui/my-orders.ts'
import { Notice } from '../ui/notice.tsx'
import { RecalledFiles } from '../ui/recalled.tsx'
import { fromApi } from '../ui/page-data.ts'
import type { Purchase } from './library-api.ts'
import type { Library, LibraryState } from './library.ts'
import { say, saySome, saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('library')

/** More files than this are folded behind a line with their number. */
const FILES_SHOWN = 3

export function Purchases({ library, state }: { library: Library; state: LibraryState }) {
  const { email, purchases, nextCursor, busy, message, tries, byHand } = state
  const heading = useRef<HTMLHeadingElement>(null)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (byHand) heading.current?.focus()
  }, [byHand])
  const more = async () => {
    const before = purchases.length
    await library.more()
    // Moves the focus to the first new purchase, for buyers who use the keyboard.
    list.current?.querySelectorAll('h2')[before]?.focus()
  }
  return (
    <div class="library stack">
      <header class="top">
        <div>
          <h1 tabIndex={-1} ref={heading}>
            {words.title}
          </h1>
          <p class="soft">{saying(words.boughtWith, { email: <span class="address">{email}</span> })}</p>
        </div>
        <button
          type="button"
          class="button"
          aria-disabled={busy ? 'true' : undefined}
          onClick={() => void library.forget()}
        >
          {words.forget}
        </button>
      </header>
      {message && (
        <Notice key={tries} tone="alarm" title={message.title} role="alert">
          {message.text && <p>{message.text}</p>}
        </Notice>
      )}
      {purchases.length === 0 && <Nothing />}
      <ul class="stack" ref={list}>
        {purchases.map((one) => (
          <Bought key={one.orderId} purchase={one} email={email} renew={() => library.renew(one.orderId)} />
        ))}
      </ul>
      {nextCursor !== null && (
        <p>
          <button type="button" class="button" aria-disabled={busy ? 'true' : undefined} onClick={() => void more()}>
            {busy && <span class="spinner" aria-hidden="true" />}
            {words.more}
          </button>
        </p>
      )}
      <output class="unseen">{busy}</output>
    </div>
  )
}

const names = wordsOf('invoice')
const KINDS = { invoice: names.invoice, credit_note: names.creditNote, correction: names.correction }

const Documents = ({ invoices }: Pick<Purchase, 'invoices'>) => (
  <>
    {invoices?.map(({ invoiceId, kind, number, url }) => (
      <a key={invoiceId} class="link small" href={fromApi(url)} target="_blank" rel="noopener">
        {KINDS[kind]} <bdi>{number}</bdi> (PDF)
      </a>
    ))}
  </>
)

const Nothing = () => (
  <Notice title={words.nothing} icon="file">
    <p>{words.nothingText}</p>
  </Notice>
)

/** Explains why an order has no files. */
const WITHOUT: Partial<Record<Purchase['status'], string>> = {
  refunded: words.refunded,
  disputed: words.disputed,
  charged_back: words.chargedBack,
}
/** Paid without files: all the money is on its way back, or the seller has added no file. */
const NONE_NOW = words.noneNow

function Bought({ purchase, email, renew }: { purchase: Purchase; email: string; renew: () => Promise<Download[]> }) {
  const { orderId, product, seller, status, downloads, amount, currency } = purchase
  const id = `name-${orderId}`
  return (
    <li class="bought" aria-labelledby={id}>
      {product.imageUrl ? (
        <img class="picture" src={fromApi(product.imageUrl)} alt="" width="160" height="160" loading="lazy" />
      ) : (
        <div class="picture" aria-hidden="true">
          {Array.from(product.name)[0]}
        </div>
      )}
      <div class="about">
        <h2 id={id} tabIndex={-1}>
          <bdi>{product.name}</bdi>
        </h2>
        <p class="soft small">
          {seller.logoUrl && <img class="logo" src={fromApi(seller.logoUrl)} alt="" />}{' '}
          {say(words.by, { seller: seller.name })} · {day(purchase.paidAt ?? purchase.createdAt)} ·{' '}
          {amount === 0 ? words.free : money(amount, currency)}
          {status === 'partially_refunded' && ` · ${words.partly}`}
        </p>
        <p class="small">
          {wordsOf('ui').questions} <a href={`mailto:${seller.supportEmail}`}>{seller.supportEmail}</a>
        </p>
        <a
          class="link small"
          id={`open-${orderId}`}
          aria-labelledby={`open-${orderId} ${id}`}
          href={`/order/?order=${encodeURIComponent(orderId)}`}
          onClick={() => rememberOrder(orderId, email)}
        >
          {words.details}
        </a>
        <Documents invoices={purchase.invoices} />
      </div>
      <div class="its-files">
        <RecalledFiles files={purchase.withdrawnFiles} />
        {downloads.length === 0 ? (
          <p class="soft">{WITHOUT[status] ?? NONE_NOW}</p>
        ) : downloads.length <= FILES_SHOWN ? (
          <Files downloads={downloads} renew={renew} />
        ) : (
          <details>
            <summary>
              {saySome(words.files, downloads.length, {
                size: fileSize(downloads.reduce((sum, { size }) => sum + size, 0)),
              })}
            </summary>
            <Files downloads={downloads} renew={renew} />
          </details>
        )}
      </div>
    </li>
  )
}
