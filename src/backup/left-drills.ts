import fs from 'node:fs/promises'
import path from 'node:path'

/** Longer than a drill takes. A young folder can belong to a drill in another container, which this process cannot see. */
const OLD_MS = 86_400_000

/** Removes what drills have left that were killed together with the process that removes their folder, as when a container ends. */
export async function removeLeftDrills(parent: string): Promise<void> {
  for (const name of await fs.readdir(parent).catch(() => [])) {
    if (!name.startsWith('till-drill-')) continue
    const folder = path.join(parent, name)
    const found = await fs.stat(folder).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > OLD_MS)
      await fs.rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}
