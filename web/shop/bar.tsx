import { useSignOut } from './sign-out.tsx'

/** The links of the navigation, in the shop and in the account. */
export const ENTRIES = [
  { under: 'overview', name: 'Overview', href: '#/' },
  { under: 'products', name: 'Products', href: '#/products' },
  { under: 'orders', name: 'Orders', href: '#/orders' },
  { under: 'money', name: 'Money', href: '#/money' },
  { under: 'developers', name: 'Developers', href: '#/developers' },
] as const

interface BarProps {
  under: (typeof ENTRIES)[number]['under'] | 'account' | undefined
  onLeave: () => Promise<void>
}

/** The head of the shop and of the account: the same links at the same places. */
export function Bar({ under, onLeave }: BarProps) {
  const { button, below } = useSignOut(onLeave)
  const shop = under === 'account' ? '/shop/' : ''
  return (
    <div>
      <header class="bar shop-bar">
        <a class="mark" href="/">
          <svg viewBox="0 0 22 26" aria-hidden="true" focusable="false">
            <path
              fill="currentColor"
              d="M3 0h16a3 3 0 0 1 3 3v23l-3.7-3-3.6 3-3.7-3-3.7 3-3.6-3L0 26V3a3 3 0 0 1 3-3Zm2 7v2h12V7H5Zm0 5v2h8v-2H5Z"
            />
          </svg>
          Till
        </a>
        <nav aria-label="Main">
          {ENTRIES.map(({ under: entry, name, href }) => (
            <a key={entry} href={shop + href} aria-current={under === entry ? 'page' : undefined}>
              {name}
            </a>
          ))}
          <a href="/account/" aria-current={under === 'account' ? 'page' : undefined}>
            Account
          </a>
        </nav>
        {button}
      </header>
      {below}
    </div>
  )
}
