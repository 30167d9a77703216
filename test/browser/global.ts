import { makeLeftData, startService } from './service.ts'

/** One service for all browser tests. Every test is a buyer of its own. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  const removeLeftData = await makeLeftData()
  const { url, demoUrl, dataDir, stop } = await startService().catch(async (error: unknown) => {
    await removeLeftData()
    throw error
  })
  process.env.BASE_URL = url
  process.env.DEMO_URL = demoUrl
  process.env.SERVICE_DATA_DIR = dataDir
  return async () => {
    await Promise.all([stop(), removeLeftData()])
  }
}
