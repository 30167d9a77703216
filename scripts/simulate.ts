import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../test/support/global.ts'
import { historyOf } from '../test/simulation/history.ts'
import { type Way, WAYS, wayOf } from '../test/simulation/ways.ts'
import { inWorld, runHistory, shrink, simulate, failureReport } from '../test/simulation/simulate.ts'

const USAGE = `npm run simulate -- [--runs=200] [--seed=N] [--lanes=4] [--crashes=0.3] [--way=WAY] [--kill] [--shrink]
  --seed     the seed of the first run; each further run has the next number. By default a random one
  --lanes    the number of worlds side by side
  --crashes  the weight of a crash; all other events together have about 75
  --way      how sellers get their money: ${WAYS.join(', ')}. By default the seed says
  --kill     runs the service as a process of its own, which dies by SIGKILL
  --shrink   looks for fewer steps that fail too`

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seed: { type: 'string' },
    lanes: { type: 'string', default: '4' },
    crashes: { type: 'string', default: '0.3' },
    way: { type: 'string' },
    kill: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(USAGE)
  process.exit()
}
const [runs, lanes, crashes] = [options.runs, options.lanes, options.crashes].map(Number) as [number, number, number]
const seed = options.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(options.seed)
if (![runs, lanes, seed].every(Number.isSafeInteger) || !(crashes >= 0)) throw new Error(USAGE)

await globalSetup()
const began = performance.now()
console.log(`${runs} runs from seed ${seed} on`)
let done = 0
const way = options.way as Way | undefined
if (way !== undefined && !WAYS.includes(way)) throw new Error(USAGE)
const more = { crashes, killed: options.kill, ...(way && { way }) }
const { failure, seen } = await simulate({
  seed,
  runs,
  lanes,
  ...more,
  onRun(_, failed) {
    if (!failed && ++done % 100 === 0)
      console.log(`${done} passed, ${Math.round((performance.now() - began) / 1000)} s`)
  },
})
if (failure) {
  const flags = `${way ? ` --way ${way}` : ''}${options.kill ? ' --kill' : ''}${crashes === 0.3 ? '' : ` --crashes ${crashes}`}`
  console.log(`\n${failureReport(failure, flags)}`)
  if (options.shrink)
    await inWorld({ ...more, way: way ?? wayOf(failure.seed) }, async (world) => {
      const steps = await shrink(world, failure, historyOf(failure.seed, { crashes, way: world.way }))
      console.log(`\n${steps.length} steps are enough:`)
      const again = await runHistory(world, failure.seed, steps)
      console.log(again ? failureReport(again, `${flags} --shrink`) : 'not this time')
    })
}
console.log(WAYS.map((one) => `${seen[`way ${one}`] ?? 0} histories of ${one}`).join(', '))
const counts = Object.entries(seen)
  .filter(([what]) => !what.startsWith('way '))
  .sort(([a], [b]) => (a < b ? -1 : 1))
console.log(counts.map(([what, times]) => `${what} ${times}`).join(', '))
console.log(`${done} of ${runs} runs passed, ${Math.round((performance.now() - began) / 1000)} s`)
await globalTeardown()
process.exit(failure ? 1 : 0)
