import { setTimeout as sleep } from 'node:timers/promises'
import type { Result } from './report.ts'
import { ROUNDS, median } from './rounds.ts'
import { startService } from './service.ts'
import type { World } from './world.ts'

const IDLE_SECONDS = 10

/** The service as it starts on a machine of its own, with its embedded database and all that is in it. */
export async function measureStart({ dir }: World): Promise<Result[]> {
  const times: number[] = []
  let resident = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const service = await startService({ DATA_DIR: dir, PROCESSORS: 'sandbox' })
    times.push(service.startMs / 1000)
    if (round === ROUNDS) {
      await sleep(IDLE_SECONDS * 1000)
      resident = await service.residentMb()
    }
    await service.stop()
  }
  return [
    { name: 'start with existing data, seconds', value: median(times), most: 3 },
    { name: 'idle Node process, MB resident', value: resident, most: 150 },
  ]
}
