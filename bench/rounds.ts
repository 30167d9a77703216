/** Each side is measured this often, in turns, so that other load of the machine affects all sides alike. */
export const ROUNDS = 5

/** Each side first runs this long unmeasured, because new code is slow. */
export const WARM_UP_SECONDS = 2

/** The results of each side in one round. */
export type Round = Record<string, number>

/** Runs the sides by turns. */
export async function byTurns(sides: Record<string, () => Promise<number>>): Promise<Round[]> {
  const rounds: Round[] = []
  while (rounds.length < ROUNDS) {
    const round: Round = {}
    for (const [name, measure] of Object.entries(sides)) round[name] = await measure()
    rounds.push(round)
  }
  return rounds
}

/** The median of a ratio over the rounds. Sides are compared within a round, because they then ran on the same machine load. */
export const medianOf = (rounds: readonly Round[], value: (round: Round) => number): number => median(rounds.map(value))

/** The median of each side. */
export const medians = (rounds: readonly Round[]): Round =>
  Object.fromEntries(Object.keys(rounds[0]!).map((name) => [name, medianOf(rounds, (round) => round[name]!)]))

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
