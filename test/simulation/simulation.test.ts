import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WAYS } from './ways.ts'
import { simulate, failureReport } from './simulate.ts'

// Everything at once, by chance: buyers, banks, notifications, outages, crashes, clocks. The invariants are checked after every
// step. `npm run simulate` plays more of it.

const SEED = Number(process.env.SIMULATE_SEED ?? 1)
/** A third of them for each way to pay sellers. simulation-bugs.test.ts plants bugs, each with the seed of a history in which it shows. */
const RUNS = 75
/** Some more in which the operator pays by bank: payouts have many states there. */
const MORE_BY_BANK = 20

test(`${RUNS} histories from seed ${SEED} on: no payment is lost, taken twice, or booked otherwise than it happened`, async (t) => {
  const { failure, seen } = await simulate({ seed: SEED, runs: RUNS })
  assert(!failure, failure && failureReport(failure))
  const more = await simulate({ seed: SEED, runs: MORE_BY_BANK, way: 'manual' })
  assert(!more.failure, more.failure && failureReport(more.failure, ' --way manual'))
  for (const [what, times] of Object.entries(more.seen)) seen[what] = (seen[what] ?? 0) + times
  t.diagnostic(`seeds ${SEED} to ${SEED + RUNS - 1}`)
  for (const way of WAYS)
    assert((seen[`way ${way}`] ?? 0) >= RUNS / 5, `few histories of ${way}: ${JSON.stringify(seen)}`)
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
    'step payOutAtStripe',
    'step endPayoutAtStripe',
    'passed_on',
    'passed_back',
    'sale with tax',
    'tax back',
  ])
    assert((seen[what] ?? 0) > 0, `there was no ${what}: ${JSON.stringify(seen)}`)
})

for (const way of WAYS)
  test(`a history in which the process itself is killed: ${way}`, async () => {
    const { failure, seen } = await simulate({ seed: SEED, runs: 1, way, killed: true, crashes: 4 })
    assert(!failure, failure && failureReport(failure, ` --way ${way} --kill --crashes 4`))
    // one history of another seed can have no crash
    if (!process.env.SIMULATE_SEED) assert((seen['step crash'] ?? 0) > 0, JSON.stringify(seen))
  })
