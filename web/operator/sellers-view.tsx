import { day } from '../ui/format.ts'
import { useList } from '../shop/load.ts'
import { Head, More, Shown } from '../shop/parts.tsx'
import { type FoundSeller, getSellers } from './api.ts'
import type { ViewProps } from './view-props.ts'
import { SearchForm } from './search-form.tsx'

const STANDINGS: Record<FoundSeller['standing'], [label: string, tone: string]> = {
  active: ['May sell', 'good'],
  awaiting_approval: ['Awaits approval', 'quiet'],
  suspended: ['Suspended', 'bad'],
}
const OPTIONS = Object.entries(STANDINGS).map(([value, [label]]) => [value, label] as const)

/** A seller who is locked out or has no account yet cannot sell, whatever an operator has decided about the shop. */
export function StandingTag({ of: { standing, lockedOutAt, awaitsAccount } }: { of: FoundSeller }) {
  const isWaiting = standing === 'active' && awaitsAccount
  const [label, tone] = lockedOutAt
    ? ['Locked out', 'bad']
    : isWaiting
      ? ['Awaits an account', 'quiet']
      : STANDINGS[standing]
  return <span class={`tag ${tone}`}>{label}</span>
}

/** All sellers, the newest first. */
export function SellersView({ query }: ViewProps) {
  const [q, standing] = [query.get('q') ?? '', query.get('standing') ?? '']
  const list = useList(`${q} ${standing}`, (cursor) => getSellers(q, standing, cursor))
  return (
    <>
      <Head title="Sellers" />
      <SearchForm
        view="sellers"
        label="Search sellers"
        hint="The beginning of an address or a name, or an id."
        q={q}
        filter={{ name: 'standing', label: 'Standing', value: standing, options: OPTIONS }}
      />
      <Shown of={list}>
        {(sellers) =>
          sellers.length === 0 ? (
            <p class="soft">No seller was found.</p>
          ) : (
            <ul class="rows found">
              {sellers.map((seller) => (
                <li key={seller.sellerId}>
                  <a class="name" href={`#/sellers/${seller.sellerId}`}>
                    {seller.name}
                  </a>
                  <StandingTag of={seller} />
                  <p class="small soft">
                    {seller.email} · {seller.products} {seller.products === 1 ? 'product' : 'products'} · since{' '}
                    {day(seller.createdAt)}
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More list={list} />
    </>
  )
}
