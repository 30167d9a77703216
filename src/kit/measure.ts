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

/** Counts events of this process by labels. */
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
