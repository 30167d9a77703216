import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface FilterFoldProps {
  /** The number of filters that are set. */
  count: number
  onClear: () => void
  children: ComponentChildren
}

/** The filters are open where there is room, and folded on a phone. */
export function FilterFold({ count, onClear, children }: FilterFoldProps) {
  const [open] = useState(() => matchMedia('(min-width: 48rem)').matches || count > 0)
  return (
    <details class="filters" open={open}>
      <summary>Filters{count > 0 && ` (${count} set)`}</summary>
      <div class="filter-row">
        {children}
        {count > 0 && (
          <button type="button" class="link" onClick={onClear}>
            Clear the filters
          </button>
        )}
      </div>
    </details>
  )
}

interface SelectProps {
  id: string
  label: string
  value: string
  all: string
  options: [value: string, name: string][]
  onValue: (value: string) => void
}

export const Select = ({ id, label, value, all, options, onValue }: SelectProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      <option value="">{all}</option>
      {options.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  </div>
)

interface DaysProps {
  from: string
  to: string
  onDays: (days: { from?: string; to?: string }) => void
}

/** Both days are included. When the seller sets one beyond the other, the other moves with it. */
export const Days = ({ from, to, onDays }: DaysProps) => (
  <>
    <Day
      id="from"
      label="From"
      value={from}
      onValue={(day) => onDays({ from: day, ...(to && day > to && { to: day }) })}
    />
    <Day
      id="to"
      label="To"
      value={to}
      onValue={(day) => onDays({ to: day, ...(day && day < from && { from: day }) })}
    />
  </>
)

/** A half-typed date counts as none. */
const Day = ({
  id,
  label,
  value,
  onValue,
}: Record<'id' | 'label' | 'value', string> & { onValue: (day: string) => void }) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      type="date"
      min="2000-01-01"
      max="2999-12-31"
      value={value}
      onChange={(event) => event.currentTarget.validity.valid && onValue(event.currentTarget.value)}
    />
  </div>
)
