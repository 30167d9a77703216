import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../ui/api.ts'
import type { Seller } from '../../ui/auth-api.ts'
import { changeProduct, createProduct, getProduct, isRefusal, type Product, type Versioned } from '../api.ts'
import {
  changesOf,
  differs,
  draftOf,
  faultsOf,
  inputOf,
  keepDraft,
  newDraft,
  rebase,
  readDraft,
  rememberCurrency,
  type Draft,
  type Faults,
  type Field,
} from './draft.ts'

/** Stands for the id of a product that does not exist yet. */
export const NEW = 'new'

interface State {
  product: Product | undefined
  /** The version of `base`. */
  version: string
  /** The form's contents at the beginning. */
  base: Draft
  draft: Draft
  faults: Faults
  tries: number
  /** The version that another person has saved meanwhile. */
  newest?: Versioned | undefined
  /** The fields that both have changed, with the other person's values. */
  theirs?: { draft: Draft; fields: Field[] } | undefined
  /** The form shows text that was typed on an earlier visit. */
  restored: boolean
}

/** A product's form: the typed text, the saved version, and the version that another person has saved meanwhile. */
export function useProductForm(seller: Seller, first: Versioned | undefined) {
  const [state, setState] = useState<State>(() => begin(seller, first))
  // An answer that arrives later reads the present state here: more may have been typed since the request.
  const latestRef = useRef(state)
  const { product, version, base, draft } = state
  const id = product?.id ?? NEW
  const dirty = differs(draft, base)
  useEffect(() => {
    if (!dirty) return
    // The tab keeps the typed text, but not when the tab is closed.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [dirty])
  const show = (to: Partial<State>): State => {
    latestRef.current = { ...latestRef.current, ...to }
    setState(latestRef.current)
    return latestRef.current
  }
  const set = (to: Partial<State>) => {
    const next = show(to)
    const unsaved = differs(next.draft, next.base)
    const kept = { draft: next.draft, base: next.base, version: next.version }
    keepDraft(seller.id, next.product?.id ?? NEW, unsaved ? kept : undefined)
  }

  /** Saves the changes, and `status` where one is given. Returns the product, or undefined where it was not saved. */
  async function save(status?: Product['status']): Promise<Product | undefined> {
    const faults = faultsOf(draft)
    const tries = state.tries + 1
    set({ faults, tries })
    if (Object.keys(faults).length > 0) return undefined
    // A conflict that still exists is shown anew and takes the focus again.
    set({ newest: undefined })
    try {
      const saved = product
        ? await changeProduct(id, { ...changesOf(draft, base), ...(status && { status }) }, version)
        : await createProduct({ ...inputOf(draft), status: status ?? 'draft' })
      rememberCurrency(saved.product.currency)
      if (!product) keepDraft(seller.id, NEW, undefined)
      const { draft: typed } = latestRef.current
      // Text that was typed during the request stays, on top of the saved version.
      set({ ...settled(saved), draft: rebase(typed, draft, draftOf(saved.product)).draft, tries })
      return saved.product
    } catch (trouble) {
      if (isRefusal(trouble, 'changed_meanwhile')) {
        const newest = await getProduct(id)
        set({ newest, tries })
        return undefined
      }
      const told = trouble instanceof ApiError ? faultsIn(trouble) : {}
      set({ faults: told, tries })
      if (Object.keys(told).length === 0) throw trouble
      return undefined
    }
  }

  return {
    ...state,
    dirty,
    save,
    change: (to: Partial<Draft>) =>
      set({
        draft: { ...latestRef.current.draft, ...to },
        faults: Object.fromEntries(Object.entries(latestRef.current.faults).filter(([field]) => !(field in to))),
      }),
    discard: () => set({ draft: base, faults: {}, restored: false, theirs: undefined }),
    /** Shows the newest version. The typed changes stay if `keepMine` is true. */
    takeNewest: (keepMine: boolean) => {
      const { newest } = state
      if (!newest) return
      const newer = draftOf(newest.product)
      const merged = rebase(draft, base, newer)
      set({
        ...settled(newest),
        ...(keepMine && { draft: merged.draft }),
        ...(keepMine && merged.both.length > 0 && { theirs: { draft: newer, fields: merged.both } }),
      })
    },
    /**
     * After a change to the files or the image: the typed text stays, and saving it still demands the version it began
     * with.
     */
    refresh: async () => {
      const newest = await getProduct(id)
      const present = latestRef.current
      const newer = draftOf(newest.product)
      if (!differs(newer, present.base)) show({ product: newest.product, version: newest.version })
      else if (!differs(present.draft, present.base)) show(settled(newest))
      else show({ product: newest.product })
    },
  }
}

export type ProductForm = ReturnType<typeof useProductForm>

const settled = ({ product, version }: Versioned) => ({
  product,
  version,
  base: draftOf(product),
  draft: draftOf(product),
  faults: {},
  newest: undefined,
  theirs: undefined,
  restored: false,
})

function begin(seller: Seller, first: Versioned | undefined): State {
  const kept = readDraft(seller.id, first?.product.id ?? NEW)
  const empty = newDraft()
  const fresh: State = first
    ? { ...settled(first), tries: 0 }
    : { product: undefined, version: '', base: empty, draft: empty, faults: {}, tries: 0, restored: false }
  return kept ? { ...fresh, draft: kept.draft, base: kept.base, version: kept.version, restored: true } : fresh
}

/** The form's field for each member of the API. */
const FIELD_OF: Record<string, Field> = {
  name: 'name',
  description: 'description',
  amount: 'price',
  suggestedAmount: 'suggested',
  currency: 'price',
  statementSuffix: 'statementSuffix',
}

const faultsIn = ({ fields }: ApiError): Faults =>
  Object.fromEntries(
    fields.flatMap(({ path, message }) => {
      const field = FIELD_OF[path.replace(/^.*[./]/, '')]
      return field ? [[field, message]] : []
    }),
  )
