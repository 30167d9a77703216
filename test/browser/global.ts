import { startService } from './service.ts'

/** One service for all browser tests: every test is a buyer of its own. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  const { url, demoUrl, stop } = await startService()
  process.env.BASE_URL = url
  process.env.DEMO_URL = demoUrl
  return stop
}
