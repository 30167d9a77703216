import type { ProductView } from './api.ts'
import { fromApi } from './page-data.ts'
import { wordsOf } from './language.ts'

const words = wordsOf('ui')

/** The seller as a page shows them. Orders have the same fields as products. */
export type Seller = ProductView['seller']

/** Puts the seller's colours on the page. They are legible in the light and in the dark: the service has seen to it. */
export function wear({ theme }: Seller): void {
  // A browser that does not know these pairs of colours keeps ours.
  if (!theme || !CSS.supports('color', theme.accent)) return
  const { style } = document.documentElement
  style.setProperty('--accent', theme.accent)
  style.setProperty('--accent-deep', theme.accentDeep)
  style.setProperty('--on-accent', theme.onAccent)
  style.setProperty('--wash', 'color-mix(in srgb, var(--accent) 8%, var(--paper))')
}

/** The logo, or the first letter of the name. */
export const Mark = ({ seller: { name, logoUrl } }: { seller: Pick<Seller, 'name' | 'logoUrl'> }) =>
  logoUrl ? (
    <img class="logo" src={fromApi(logoUrl)} alt="" />
  ) : (
    <span class="initial" aria-hidden="true">
      {Array.from(name)[0]}
    </span>
  )

/**
 * The seller's own information: the refund policy, and links to their own pages, which open beside the checkout. Without
 * `contact` where the page has the address already.
 */
export function SellerLinks({ seller, contact = true }: { seller: Seller; contact?: boolean }) {
  const { refundPolicy, supportEmail, websiteUrl, termsUrl, privacyUrl } = seller
  const links = [
    [words.website, websiteUrl],
    [words.terms, termsUrl],
    [words.privacy, privacyUrl],
    [words.contact, contact && supportEmail && `mailto:${supportEmail}`],
  ] as const
  return (
    <div class="seller-links small">
      {refundPolicy && (
        <details>
          <summary>{words.refundPolicy}</summary>
          <p class="soft" dir="auto">
            {refundPolicy}
          </p>
        </details>
      )}
      {links.map(
        ([name, url]) =>
          url && (
            <a key={name} href={url} target="_blank" rel="noopener" aria-label={`${name}, ${seller.name}`}>
              {name}
            </a>
          ),
      )}
    </div>
  )
}
