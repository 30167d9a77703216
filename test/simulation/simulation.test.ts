import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate, failureReport } from './simulate.ts'

// Everything at once, by chance: buyers, banks, notifications, outages, crashes, clocks. The invariants are checked after every
// step. `npm run simulate` plays more of it.

const SEED = Number(process.env.SIMULATE_SEED ?? 1)
/** Every planted bug of simulation-bugs.test.ts shows in the first 25 histories. */
const RUNS = 60
const KILLS = 2

test(`${RUNS} histories from seed ${SEED} on: no payment is lost, taken twice, or booked otherwise than it happened`, async (t) => {
  const { failure, seen } = await simulate({ seed: SEED, runs: RUNS })
  assert(!failure, failure && failureReport(failure))
  t.diagnostic(`seeds ${SEED} to ${SEED + RUNS - 1}`)
  // histories in which nothing happens would prove nothing
  for (const state of 'pending paid partially_refunded refunded disputed charged_back expired needs_review'.split(' '))
    assert((seen[`end ${state}`] ?? 0) > 0, `no order ended ${state}: ${JSON.stringify(seen)}`)
  for (const what of [
    'capture duplicate',
    'duplicate_refunded',
    'payment_declined',
    'dispute_won',
    'dispute lost in part',
    'step crash',
    'step orderByCode',
    'payout paid',
    'payout failed',
    'payout reversed',
    'step payoutsTogether',
    'sale with tax',
    'tax back',
  ])
    assert((seen[what] ?? 0) > 0, `there was no ${what}: ${JSON.stringify(seen)}`)
})

test(`${KILLS} histories in which the process itself is killed`, async () => {
  const { failure } = await simulate({ seed: SEED, runs: KILLS, lanes: KILLS, killed: true, crashes: 4 })
  assert(!failure, failure && failureReport(failure, ' --kill --crashes 4'))
})
