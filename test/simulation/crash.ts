import type { Random } from './random.ts'
import type { Run } from './run.ts'

type Step = () => Promise<string | undefined>

/** While `step` is under way the service loses its database, for a moment: between any two packets. */
export async function loseDatabase(run: Run, random: Random, step: Step): Promise<string> {
  const { cutAfter, cut } = run.world.service()
  const packets = random.whole(0, 60)
  cutAfter?.(packets)
  const done = await step()
  // no test waits for a cut that has not come
  if (random.chance(0.5)) cut?.()
  else cutAfter?.(Infinity)
  return `the database is lost after ${packets} packets while: ${done ?? 'nothing happens'}`
}

/** While `step` is under way the service dies, and another one takes its place. */
export async function crash(run: Run, random: Random, step: Step): Promise<string> {
  const packets = random.whole(0, 80)
  const service = run.world.service()
  run.silenceIsExpected = true
  let done: string | undefined
  if (service.cutAfter) {
    service.cutAfter(packets)
    done = await step()
  } else {
    const working = step()
    await new Promise((resolve) => setTimeout(resolve, packets))
    await service.die()
    done = await working
  }
  await run.world.restart()
  run.silenceIsExpected = false
  return `the service dies ${service.cutAfter ? `after ${packets} packets` : `after ${packets} ms`} while: ${done ?? 'nothing happens'}`
}
