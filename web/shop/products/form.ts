import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../../ui/api.ts'
import type { Seller } from '../../ui/auth-api.ts'
import {
  changeProduct,
  createProduct,
  getProduct,
  isRefusal,
  type Product,
  type ProductInput,
  type Versioned,
} from '../api.ts'
import { useLeavingQuestion } from '../leaving.ts'
import {
  changesOf,
  differs,
  draftOf,
  faultsOf,
  forgetKey,
  keyOf,
  newDraft,
  newInputOf,
  rebase,
  rememberCurrency,
  savedDraft,
  saveDraft,
  type Draft,
  type Faults,
  type Field,
} from './draft.ts'
import { useReading } from './use-reading.ts'

/** Stands for the id of a product that does not exist yet. */
export const NEW = 'new'

interface State {
  product: Product | undefined
  /** The version of `base`. */
  version: string
  /** The newest version that the page has read. It is newer than `base` while typed text waits on top of an older one. */
  seen: Versioned | undefined
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
  const kept = useFormState(seller, first)
  const { state, latest, show, set } = kept
  const { product, version, base, draft } = state
  const id = product?.id ?? NEW
  // More may have been typed during the request.
  const { refresh, saving, trouble: unread } = useReading(id, (newest) => show(refreshed(latest(), newest)))
  const dirty = differs(draft, base)
  // The tab keeps the typed text, but not when the tab is closed.
  useLeavingQuestion(dirty)

  async function create(input: Partial<ProductInput>): Promise<Versioned> {
    const saved = await createProduct(input, keyOf(seller.id, input))
    forgetKey(seller.id)
    return saved
  }

  /** Saves the changes and `status`. For a draft it saves only the status. Returns the product, or undefined where it was not saved. */
  async function save(status?: Product['status']): Promise<Product | undefined> {
    if (product && status === 'draft') return makeDraft(id, kept)
    const faults = faultsOf(draft)
    const tries = state.tries + 1
    set({ faults, tries })
    if (Object.keys(faults).length > 0) return undefined
    // A conflict that still exists is shown anew and takes the focus again.
    set({ newest: undefined })
    try {
      const saved = product
        ? await changeProduct(id, { ...changesOf(draft, base), ...(status && { status }) }, version)
        : await create({ ...newInputOf(draft), status: status ?? 'draft' })
      rememberCurrency(saved.product.currency)
      if (!product) saveDraft(seller.id, NEW, undefined)
      // Text that was typed during the request stays, on top of the saved version.
      set({ ...settled(saved), draft: rebase(latest().draft, draft, draftOf(saved.product)).draft, tries })
      return saved.product
    } catch (trouble) {
      if (isRefusal(trouble, 'changed_meanwhile')) {
        const newest = await getProduct(id)
        const newer = draftOf(newest.product)
        // The answer to an earlier press was lost, and the service has all that was sent.
        if (has(newest, rebase(draft, base, newer).draft, status)) {
          set({ ...settled(newest), draft: rebase(latest().draft, draft, newer).draft, tries })
          return newest.product
        }
        set({ newest, seen: newest, tries })
        return undefined
      }
      const refused = trouble instanceof ApiError ? faultsIn(trouble) : {}
      set({ faults: refused, tries })
      if (Object.keys(refused).length === 0) throw trouble
      return undefined
    }
  }

  return {
    ...state,
    dirty,
    save: (status?: Product['status']) => saving(() => save(status)),
    /** Saves only that it is on sale, and none of the typed text. */
    publish: () => saving(() => publish(id, kept)),
    change: (to: Partial<Draft>) =>
      set({
        draft: { ...latest().draft, ...to },
        faults: Object.fromEntries(
          Object.entries(latest().faults).filter(([field]) => !(field.replace(/\d+$/, '') in to)),
        ),
      }),
    discard: () => {
      if (!product) forgetKey(seller.id)
      set(state.seen ? settled(state.seen) : { draft: base, faults: {}, restored: false })
    },
    /** Shows the newest version. The typed changes stay if `keepMine` is true. */
    takeNewest: (keepMine: boolean) => {
      if (state.newest) set(keepMine ? withMine(state, state.newest) : settled(state.newest))
    },
    /** After a change to the files or the image. Returns whether the product was read. */
    refresh,
    /** Why it was not read. */
    unread,
  }
}

/** The form's state, of which this tab keeps the typed values. */
function useFormState(seller: Seller, first: Versioned | undefined) {
  const [state, setState] = useState<State>(() => begin(seller, first))
  // An answer that arrives later reads the present state here: more may have been typed since the request.
  const latestRef = useRef(state)
  const show = (to: Partial<State>): void => {
    latestRef.current = { ...latestRef.current, ...to }
    setState(latestRef.current)
  }
  const set = (to: Partial<State>): void => {
    show(to)
    const { product, draft, base, version } = latestRef.current
    saveDraft(seller.id, product?.id ?? NEW, differs(draft, base) ? { draft, base, version } : undefined)
  }
  return { state, latest: () => latestRef.current, show, set }
}

async function publish(id: string, { latest, set }: ReturnType<typeof useFormState>): Promise<void> {
  const saved = await changeProduct(id, { status: 'active' })
  set(refreshed(latest(), saved))
}

/** The typed text stays unsaved: neither a half-typed price nor a fault may keep a product on sale. */
async function makeDraft(
  id: string,
  { state, latest, set }: ReturnType<typeof useFormState>,
): Promise<Product | undefined> {
  set({ newest: undefined })
  try {
    const saved = await changeProduct(id, { status: 'draft' }, state.seen?.version)
    set(refreshed(latest(), saved))
    return saved.product
  } catch (trouble) {
    if (!isRefusal(trouble, 'changed_meanwhile')) throw trouble
    const newest = await getProduct(id)
    const isDraft = newest.product.status === 'draft'
    set(isDraft ? refreshed(latest(), newest) : { newest, seen: newest })
    return isDraft ? newest.product : undefined
  }
}

/** The product has these values, and this status where one is given. */
const has = ({ product }: Versioned, draft: Draft, status: Product['status'] | undefined): boolean =>
  Object.keys(changesOf(draft, draftOf(product))).length === 0 && (status ?? product.status) === product.status

/** The newest version with the typed changes on top. Names the fields that both have changed. */
function withMine({ draft, base }: State, newest: Versioned): Partial<State> {
  const newer = draftOf(newest.product)
  const merged = rebase(draft, base, newer)
  return {
    ...settled(newest),
    draft: merged.draft,
    ...(merged.both.length > 0 && { theirs: { draft: newer, fields: merged.both } }),
  }
}

/** The typed text stays, and saving it still demands the version it began with. */
function refreshed({ base, draft }: State, newest: Versioned): Partial<State> {
  const { product, version } = newest
  if (!differs(draftOf(product), base)) return { product, version, seen: newest }
  return differs(draft, base) ? { product, seen: newest } : settled(newest)
}

export type ProductForm = ReturnType<typeof useProductForm>

const settled = (seen: Versioned) => ({
  product: seen.product,
  version: seen.version,
  seen,
  base: draftOf(seen.product),
  draft: draftOf(seen.product),
  faults: {},
  newest: undefined,
  theirs: undefined,
  restored: false,
})

function begin(seller: Seller, first: Versioned | undefined): State {
  const saved = savedDraft(seller.id, first?.product.id ?? NEW)
  const empty = newDraft()
  const fresh: State = first
    ? { ...settled(first), tries: 0 }
    : {
        product: undefined,
        version: '',
        seen: undefined,
        base: empty,
        draft: empty,
        faults: {},
        tries: 0,
        restored: false,
      }
  return saved ? { ...fresh, ...saved, restored: true } : fresh
}

/** The form's field for each member of the API. */
const FIELD_OF: Record<string, Field> = {
  name: 'name',
  description: 'description',
  amount: 'price',
  suggestedAmount: 'suggested',
  currency: 'price',
  prices: 'price',
  minimum: 'price',
  statementSuffix: 'statementSuffix',
}

const faultsIn = ({ fields }: ApiError): Faults =>
  Object.fromEntries(
    fields.flatMap(({ path, message }) => {
      const [, place] = /^prices\.(\d+)/.exec(path) ?? []
      if (place !== undefined && place !== '0') return [[`further${Number(place) - 1}`, message]]
      const field = FIELD_OF[path.replace(/^.*[./]/, '')]
      return field ? [[field, message]] : []
    }),
  )
