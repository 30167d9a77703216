import './overview.css'
import { useState } from 'preact/hooks'
import { getAttention, getNewestOrder, getProducts, type Product } from '../api.ts'
import { useLoad } from '../load.ts'
import { Head, Shown } from '../parts.tsx'
import { address } from '../router.ts'
import type { ViewProps } from '../views.ts'
import { AttentionList } from './attention-list.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Sold } from './sold.tsx'

/** The number of products that the overview looks at. */
const MOST = 25

/** The state of the shop: its first steps until there is a link to share, and the sales from then on. */
export default function OverviewView({ seller }: ViewProps) {
  const [round, setRound] = useState(0)
  const products = useLoad(`overview ${round}`, beginOf)
  const [begun, setBegun] = useState(false)
  return (
    <>
      {!products.value && <Head title="Overview" />}
      <Shown of={products}>
        {({ items, shared, isNew }) =>
          begun || isNew ? (
            <FirstSteps
              seller={seller}
              first={items.find(({ status }) => status !== 'archived')}
              onBegun={() => setBegun(true)}
              onDone={() => {
                setBegun(false)
                // The steps have published a product since the list came.
                setRound(round + 1)
              }}
            />
          ) : (
            <Running shared={shared} />
          )
        }
      </Shown>
    </>
  )
}

/** A seller with an order is not new. The seller may have disputes to answer, even if no product is on sale now. */
async function beginOf(): Promise<{ items: Product[]; shared: Product[]; isNew: boolean }> {
  const { items, nextCursor } = await getProducts({ limit: MOST })
  // a product on sale can be older than a page of drafts
  const active = nextCursor ? (await getProducts({ limit: MOST, status: 'active' })).items : items
  const shared = active.filter(({ status, files }) => status === 'active' && files.length > 0)
  // Archived products count, because they were shared once: a seller of many years does not see the first steps.
  const wasShared = shared.length > 0 || items.some(({ status }) => status === 'archived')
  return { items, shared, isNew: !wasShared && (await getNewestOrder()) === undefined }
}

function Running({ shared }: { shared: Product[] }) {
  const attention = useLoad('attention', getAttention)
  return (
    <>
      <Head title="Overview">
        <a class="button main short" href={address('product', 'new')}>
          New product
        </a>
      </Head>
      <Shown of={attention}>{({ items }) => items.length > 0 && <AttentionList items={items} />}</Shown>
      <Sold shared={shared} />
    </>
  )
}
