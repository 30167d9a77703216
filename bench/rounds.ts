/** So often each side is measured, by turns: what else the machine does then falls on all of them alike. */
export const ROUNDS = 5

/** Code that has just been loaded is slow: each side first runs so long, unmeasured. */
export const WARM_UP_SECONDS = 2

/** What each side came to in one round. */
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

/** The median over the rounds of what is made of each: sides are compared within a round, where they met the same machine. */
export const medianOf = (rounds: readonly Round[], value: (round: Round) => number): number => median(rounds.map(value))

/** The median of each side. */
export const medians = (rounds: readonly Round[]): Round =>
  Object.fromEntries(Object.keys(rounds[0]!).map((name) => [name, medianOf(rounds, (round) => round[name]!)]))

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
