/** Registers a cleanup: for a test's context, or for a whole file. */
export interface Ends {
  after(end: () => unknown): void
}

const cleanups = new WeakMap<Ends, (() => unknown)[]>()

/**
 * Registers a cleanup that runs before the earlier ones, so that a service ends before its database and its processor. Node itself
 * runs cleanups in the order in which they were registered. A service whose database is gone cannot record its jobs, and its end then
 * takes eight seconds. A `t.after` of a test runs before or after all of these, never between two of them.
 */
export function atEnd(t: Ends, end: () => unknown): void {
  const known = cleanups.get(t)
  if (known) return void known.push(end)
  const all = [end]
  cleanups.set(t, all)
  t.after(async () => {
    const failures: unknown[] = []
    for (const one of all.reverse()) {
      try {
        await one()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  })
}
