import { randomInt } from 'node:crypto'
import fc, { type Arbitrary } from 'fast-check'

/** The seed of this process's samples. Each test that uses it prints it in its title. TEST_SEED=… repeats a failed run. */
export const SEED = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31 - 10))

/** The same `count` values for the same seed. A test that samples several times gives each time another round. */
export const sample = <T>(arbitrary: Arbitrary<T>, count: number, round = 0): T[] =>
  fc.sample(arbitrary, { seed: SEED + round, numRuns: count })
