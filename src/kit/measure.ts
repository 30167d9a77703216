/** A metric of the service for /metrics: one number, or one for each set of labels. It is read at each scrape. */
export interface Measure {
  name: string
  help: string
  /** The number only grows while the process runs. */
  isCounter?: boolean
  labels?: readonly string[]
  /** Undefined when the number is not known. */
  read(): Promise<number | undefined | readonly Sample[]>
}

export interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

interface EventCounter {
  /** Shows 0 before the first event. Prometheus sees no increase in a series that begins with 1, so an alarm needs this. */
  beginAtZero(...values: string[]): void
  count(...values: string[]): void
  samples(): Sample[]
}

/** Counts events of this process by labels. */
export function newCounter(labels: readonly string[]): EventCounter {
  const counts = new Map<string, Sample>()
  const add = (values: readonly string[], more: number) => {
    const key = JSON.stringify(values)
    const before = counts.get(key)?.value ?? 0
    counts.set(key, {
      labels: Object.fromEntries(labels.map((label, at) => [label, values[at]!])),
      value: before + more,
    })
  }
  return {
    beginAtZero: (...values) => add(values, 0),
    count: (...values) => add(values, 1),
    samples: () => [...counts.values()],
  }
}
