import fs from 'node:fs/promises'
import path from 'node:path'
import { isAlive } from '../kit/embedded/pid-file.ts'

/** Removes what drills have left that were killed together with the process that removes their folder, as when a container ends. */
export async function removeLeftDrills(parent: string): Promise<void> {
  for (const name of await fs.readdir(parent)) {
    const pid = Number(/^till-drill-(\d+)-/.exec(name)?.[1])
    // a folder with our own number is of an earlier process, because ours has none yet
    if (pid && (pid === process.pid || !isAlive(pid)))
      await fs.rm(path.join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
}
