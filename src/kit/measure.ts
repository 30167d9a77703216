/** A number of the service's own for /metrics, or one for each of some labels, read at each scrape. */
export interface Measure {
  name: string
  help: string
  /** It only grows while the process lives. */
  isCounter?: boolean
  labels?: readonly string[]
  /** What is not known is undefined. */
  read(): Promise<number | undefined | readonly Sample[]>
}

export interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

/** Counts what happened in this process, by labels. */
export function newCounter(labels: readonly string[]): { count(...values: string[]): void; samples(): Sample[] } {
  const counts = new Map<string, Sample>()
  return {
    count(...values) {
      const key = JSON.stringify(values)
      const before = counts.get(key)?.value ?? 0
      counts.set(key, {
        labels: Object.fromEntries(labels.map((label, at) => [label, values[at]!])),
        value: before + 1,
      })
    },
    samples: () => [...counts.values()],
  }
}
