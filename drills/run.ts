import { type World, newWorld } from '../bench/world.ts'

/** Runs a drill in a world of its own, which ends with it. The exit status is 0 when `drill` returns true. */
export async function runDrill(drill: (world: World) => Promise<boolean>): Promise<never> {
  const world = await newWorld()
  let ending: Promise<void> | undefined
  const end = () => (ending ??= world.end())
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void end().finally(() => process.exit(130)))
  }
  let holds = false
  try {
    holds = await drill(world)
  } catch (error) {
    // processes that the drill ends fail, which is expected
    if (!ending) console.error(error)
  }
  await end()
  // buyers may still wait for a service that does not come back
  process.exit(holds ? 0 : 1)
}
