import { setTimeout as sleep } from 'node:timers/promises'
import type { Result } from './report.ts'
import { median } from './rounds.ts'
import { startService } from './service.ts'
import type { World } from './world.ts'

const STARTS = 3
const IDLE_SECONDS = 10

/** The service as it starts on a machine of its own, with its embedded database and all that is in it. */
export async function measureStart({ dir }: World): Promise<Result[]> {
  const times: number[] = []
  let resident = 0
  for (let start = 1; start <= STARTS; start++) {
    const service = await startService({ DATA_DIR: dir, PROCESSORS: 'sandbox' })
    times.push(service.startMs / 1000)
    if (start === STARTS) {
      await sleep(IDLE_SECONDS * 1000)
      resident = await service.residentMb()
    }
    await service.stop()
  }
  return [
    { name: 'start with existing data, seconds', value: median(times), most: 1.5 },
    { name: 'idle Node process, MB resident', value: resident, most: 150 },
  ]
}
