import './products.css'
import { useEffect, useState } from 'preact/hooks'
import { fromApi } from '../../ui/page-data.ts'
import { getProducts, type Product } from '../api.ts'
import { CopyButton } from '../copy-button.tsx'
import { useList } from '../load.ts'
import { Empty, Head, More, Shown } from '../parts.tsx'
import { address, rewrite } from '../router.ts'
import type { ViewProps } from '../views.ts'
import { priceWords } from '../../ui/price-words.ts'
import { StatusTag } from './status-tag.tsx'

/** A pause of this length means that the seller has stopped typing. */
const PAUSE_MS = 250
const FILTERS = [
  ['', 'All'],
  ['active', 'On sale'],
  ['draft', 'Drafts'],
  ['archived', 'Archived'],
] as const

export default function ProductsView({ query }: ViewProps) {
  const [typed, setTyped] = useState(query.get('q') ?? '')
  const [q, setQ] = useState(typed)
  const [status, setStatus] = useState(query.get('status') ?? '')
  const list = useList(`${status} ${q}`, (cursor) => getProducts({ cursor, status, q }))
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  useEffect(() => rewrite('products', '', { ...(q && { q }), ...(status && { status }) }), [q, status])
  const isFiltered = q !== '' || status !== ''
  return (
    <>
      <Head title="Products">
        <a class="button main short" href={address('product', 'new')}>
          New product
        </a>
      </Head>
      <Filters typed={typed} status={status} onTyped={setTyped} onStatus={setStatus} />
      <Shown of={list}>
        {(items) =>
          items.length > 0 ? (
            <>
              <ul class="rows products">
                {items.map((product) => (
                  <Row key={product.id} product={product} />
                ))}
              </ul>
              <More list={list} />
            </>
          ) : isFiltered ? (
            <Empty title="No product matches">
              <button
                type="button"
                class="button"
                onClick={() => {
                  setTyped('')
                  setQ('')
                  setStatus('')
                }}
              >
                Show all
              </button>
            </Empty>
          ) : (
            <Empty title="Nothing to sell yet">
              <p class="soft">A name, a price and a file: then there is a link that you can share.</p>
              <a class="button main short" href={address('overview')}>
                Take the first steps
              </a>
            </Empty>
          )
        }
      </Shown>
    </>
  )
}

interface FiltersProps {
  typed: string
  status: string
  onTyped: (text: string) => void
  onStatus: (status: string) => void
}

function Filters({ typed, status, onTyped, onStatus }: FiltersProps) {
  return (
    <search class="product-filters">
      <div class="field">
        <label class="unseen" for="q">
          Search by name
        </label>
        <input
          id="q"
          type="search"
          placeholder="Search by name"
          autoComplete="off"
          maxLength={200}
          value={typed}
          onInput={(event) => onTyped(event.currentTarget.value)}
        />
      </div>
      <fieldset class="row" aria-label="Show">
        {FILTERS.map(([value, name]) => (
          <button
            key={value}
            type="button"
            class="state-choice"
            aria-pressed={status === value}
            onClick={() => onStatus(value)}
          >
            {name}
          </button>
        ))}
      </fieldset>
    </search>
  )
}

function Row({ product }: { product: Product }) {
  const { id, name, status, files, payUrl } = product
  const picture = product.images?.['320'] ?? product.imageUrl
  return (
    <li>
      {picture ? (
        <img class="thumb" src={fromApi(picture)} alt="" width="80" height="42" loading="lazy" />
      ) : (
        <span class="thumb" aria-hidden="true">
          {Array.from(name)[0]}
        </span>
      )}
      <div>
        <a class="name" href={address('product', id)}>
          {name}
        </a>
        <p class="small soft">
          {priceWords(product)} · {filesWords(files.length)}
        </p>
      </div>
      <StatusTag status={status} />
      {status === 'active' ? <CopyButton text={payUrl} name={`the link to ${name}`} /> : <span />}
    </li>
  )
}

const filesWords = (count: number): string => (count === 0 ? 'no files' : count === 1 ? '1 file' : `${count} files`)
