/** So often each side is measured, by turns: what else the machine does then falls on all of them alike. */
export const ROUNDS = 3

/** Runs the sides by turns and returns the median of each. */
export async function byTurns<Side extends string>(
  sides: Record<Side, () => Promise<number>>,
  rounds = ROUNDS,
): Promise<Record<Side, number>> {
  const names = Object.keys(sides) as Side[]
  const heard = new Map<Side, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) heard.get(name)!.push(await sides[name]())
  }
  return Object.fromEntries(names.map((name) => [name, median(heard.get(name)!)])) as Record<Side, number>
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
