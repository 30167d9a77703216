import type { Action } from '../../ui/action.ts'
import { Icon } from '../../ui/icon.tsx'
import type { Product } from '../api.ts'
import { CopyButton } from '../copy-button.tsx'
import { Refused } from '../parts.tsx'
import { StatusTag } from './status-tag.tsx'

interface SalePartProps {
  product: Product
  /** The form has unsaved text, which publishing saves too. */
  dirty: boolean
  action: Action
  /** The result of the last press appears here, because its button is here. */
  tells: boolean
  onStatus: (to: Product['status'], said: string) => void
}

const ABOUT: Record<Product['status'], string> = {
  draft: 'Only you can see it. Published, it has a link that sells.',
  active: 'Whoever has the link can buy it.',
  archived:
    'It has left your shop, and its link no longer sells. Buyers keep their files, and orders stay as they are.',
}

/** A product without files is not sold, whatever status an older version of the service has left. */
const ABOUT_EMPTY: Record<Product['status'], string> = {
  draft: 'Only you can see it. Add a file below; then you can publish it, and it has a link that sells.',
  active: 'It has no files, so its link does not sell. Add a file below.',
  archived: ABOUT.archived,
}

/** The status of the product, and its link. */
export function SalePart({ product: { status, payUrl, files }, dirty, action, tells, onStatus }: SalePartProps) {
  const button = (to: Product['status'], name: string, said: string, main = false) => (
    <button
      type="button"
      class={`button ${main ? 'main short' : ''}`}
      aria-disabled={action.busy ? 'true' : undefined}
      onClick={() => onStatus(to, said)}
    >
      {action.doing === to && <span class="spinner" aria-hidden="true" />}
      {name}
    </button>
  )
  const onSale = 'It is on sale now: the link is ready to be shared.'
  return (
    <section class={`panel stack sale ${status}`} aria-labelledby="sale-title">
      <h2 class="unseen" id="sale-title" tabIndex={-1}>
        On sale or not
      </h2>
      <p>
        <StatusTag status={status} />
      </p>
      <p class="small soft">{(files.length > 0 ? ABOUT : ABOUT_EMPTY)[status]}</p>
      {status === 'active' && (
        <>
          <code>{payUrl}</code>
          <div class="row">
            <CopyButton text={payUrl} name="the link" main>
              Copy the link
            </CopyButton>
            <a class="link" href={payUrl} target="_blank" rel="noopener">
              Open the page
            </a>
          </div>
        </>
      )}
      <div class="row">
        {status === 'active' &&
          button('draft', 'Take it off sale', 'It is a draft again: its link says that it is not for sale.')}
        {status === 'draft' && button('active', dirty ? 'Save and publish' : 'Publish', onSale, true)}
        {status === 'archived' && (
          <>
            {button('active', dirty ? 'Save and sell again' : 'Put it back on sale', onSale)}
            {button('draft', 'Make it a draft', 'It is a draft again.')}
          </>
        )}
      </div>
      {tells && <Refused action={action} />}
      <output class="small saved">
        {tells && action.said && (
          <>
            <Icon name="check" />
            {action.said}
          </>
        )}
      </output>
    </section>
  )
}
