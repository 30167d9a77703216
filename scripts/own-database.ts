import os from 'node:os'
import path from 'node:path'
import { readConfig } from '../src/config.ts'
import { CannotStart } from '../src/kit/cannot-start.ts'
import { findEmbedded, findRunning, startEmbedded } from '../src/kit/embedded.ts'

/** On a busy machine a process of this priority gets a third of the time of one that serves buyers, and still comes to its end. */
const BEHIND_SALES = 5

/** Lowers the priority of this process. Where the system forbids that, the work runs beside the sales, because it must be done. */
export function giveWayToSales(): void {
  try {
    os.setPriority(BEHIND_SALES)
  } catch (error) {
    console.error(`the priority cannot be lowered: ${(error as Error).message}`)
  }
}

/** Reads the settings of the service. Wrong settings are printed, and end the script with `status`. */
export function settingsOrExit(status: number): ReturnType<typeof readConfig> {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error
    console.error(error.message)
    process.exit(status)
  }
}

/** Opens the database of DATABASE_URL, or else the embedded one. A running service is not disturbed. */
export async function ownDatabase(
  config: Pick<ReturnType<typeof readConfig>, 'databaseUrl' | 'dataDir'>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const stop = async () => {}
  if (config.databaseUrl) return { url: config.databaseUrl, stop }
  const dir = path.join(config.dataDir, 'postgres')
  const running = findEmbedded(dir)
  return running ? { url: running, stop } : startEmbedded({ dir, name: 'till', mayMake: false })
}

/** Opens the embedded database for a backup: that of the running service, or else it is started if it may be. */
export async function databaseToBackUp(
  { dataDir }: Pick<ReturnType<typeof readConfig>, 'dataDir'>,
  { mayStart }: { mayStart: boolean },
) {
  const dir = path.join(dataDir, 'postgres')
  const running = findRunning(dir)
  if (running) return { ...running, stop: async () => {} }
  if (!mayStart) throw new CannotStart('The service has ended.')
  return startEmbedded({ dir, name: 'till', mayMake: false, archive: true })
}
