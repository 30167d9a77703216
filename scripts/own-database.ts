import fs from 'node:fs'
import path from 'node:path'
import { ConfigError, readConfig } from '../src/config.ts'
import { findEmbedded, startEmbedded } from '../src/kit/embedded.ts'

/** The settings of the service. What is wrong with them is said, and ends the script with `status`. */
export function settingsOrExit(status: number): ReturnType<typeof readConfig> {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(status)
  }
}

/** The database of DATABASE_URL, or else the embedded one: also beside a service that runs, which is not disturbed. */
export async function ownDatabase(
  config: Pick<ReturnType<typeof readConfig>, 'databaseUrl' | 'dataDir'>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const stop = async () => {}
  if (config.databaseUrl) return { url: config.databaseUrl, stop }
  const [dir, name] = [path.join(config.dataDir, 'postgres'), 'till']
  if (!fs.existsSync(dir)) throw new Error(`there is no database in ${config.dataDir} yet`)
  const running = findEmbedded({ dir, name })
  return running ? { url: running, stop } : startEmbedded({ dir, name })
}
