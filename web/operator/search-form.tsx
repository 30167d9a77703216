import { useEffect, useState } from 'preact/hooks'

interface SearchFormProps {
  /** The view whose address holds the search. */
  view: 'orders' | 'sellers' | 'payouts'
  label: string
  hint: string
  q: string
  /** The list is of this seller alone, and stays so. Empty: of all sellers. */
  sellerId?: string
  /** The name of the filter in the address, its label and its values. */
  filter: { name: string; label: string; value: string; options: readonly (readonly [value: string, label: string])[] }
}

/** A search that the page's address holds, so that a reload and the way back show the same list. */
export function SearchForm({ view, label, hint, q, sellerId, filter }: SearchFormProps) {
  const [typed, setTyped] = useState(q)
  // The way back and a link change the search too.
  useEffect(() => setTyped(q), [q])
  const search = (text: string, chosen: string) => {
    const query = new URLSearchParams({
      ...(text && { q: text }),
      ...(chosen && { [filter.name]: chosen }),
      ...(sellerId && { sellerId }),
    }).toString()
    location.hash = `#/${view}${query && `?${query}`}`
  }
  return (
    <search>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          search(typed.trim(), filter.value)
        }}
      >
        <div class="field">
          <label for="q">{label}</label>
          <p class="small soft" id="q-hint">
            {hint}
          </p>
          <input
            id="q"
            type="search"
            aria-describedby="q-hint"
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            maxLength={200}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </div>
        <div class="row">
          <button type="submit" class="button main short">
            Search
          </button>
          <div class="field">
            <label class="unseen" for="filter">
              {filter.label}
            </label>
            <select
              id="filter"
              value={filter.value}
              onChange={(event) => search(typed.trim(), event.currentTarget.value)}
            >
              <option value="">All</option>
              {filter.options.map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        </div>
      </form>
    </search>
  )
}
