import { gzipSync } from 'node:zlib'
import { type Browser, chromium } from '@playwright/test'
import { findBrowser } from '../scripts/browser.mjs'
import type { Result } from './report.ts'
import { median } from './rounds.ts'
import { startService } from './service.ts'
import type { World } from './world.ts'

const LOADS = 5
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }
/** A phone in a slow 4G network, as Lighthouse sets it (https://developer.chrome.com/docs/lighthouse/performance). */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 1_638_400 / 8, uploadThroughput: 750_000 / 8 }
const SLOWER_CPU = 4
/** The page has come to rest when the network was idle, and this much later. */
const REST_MS = 1_500
/** A task that takes longer blocks the buyer's actions. */
const LONG_TASK_MS = 50

interface Seen {
  lcp: number
  cls: number
  tbt: number
  requests: number
}

/** The hosted page on a phone: when its largest part is there, how much it moves, and for how long it does not answer. */
export async function measurePages({ dir }: World): Promise<Result[]> {
  const service = await startService({ DATA_DIR: dir, PROCESSORS: 'sandbox' })
  const { executablePath, env } = await findBrowser()
  const browser = await chromium.launch({
    executablePath,
    chromiumSandbox: false,
    env: { ...process.env, ...env } as Record<string, string>,
  })
  try {
    const home = `http://127.0.0.1:${service.port}`
    const product = /\\?"id\\?":\\?"(prod_[0-9a-z]{26})/.exec(await (await fetch(home)).text())?.[1]
    if (!product) throw new Error('the demo has no product')
    const url = `${home}/pay/?product=${product}`
    // the first load makes the service compress the page
    await load(browser, url)
    const seen: Seen[] = []
    for (let at = 0; at < LOADS; at++) seen.push(await load(browser, url))
    const middle = (of: (one: Seen) => number) => median(seen.map(of))
    const worst = (of: (one: Seen) => number) => Math.max(...seen.map(of))
    return [
      { name: 'hosted page: largest part painted, seconds', value: middle((one) => one.lcp) / 1000, most: 1.3, parts: { worst: worst((one) => one.lcp) / 1000 } }, // oxfmt-ignore
      { name: 'hosted page: layout shift', value: worst((one) => one.cls), most: 0.02 },
      { name: 'hosted page: blocked, ms', value: middle((one) => one.tbt), most: 200, parts: { worst: worst((one) => one.tbt) } }, // oxfmt-ignore
      { name: 'hosted page: kB of JavaScript, compressed', value: await scriptKb(url), most: 25 },
      { name: 'hosted page: requests', value: worst((one) => one.requests), most: 3 },
    ]
  } finally {
    await browser.close()
    await service.stop()
  }
}

/** The page is one file, with its script inside. */
async function scriptKb(url: string): Promise<number> {
  const [, script = ''] = /<script type="module"[^>]*>([\s\S]*?)<\/script>/.exec(await (await fetch(url)).text()) ?? []
  return gzipSync(script).length / 1000
}

/** Loads the page in a browser that has nothing of it yet. */
async function load(browser: Browser, url: string): Promise<Seen> {
  const context = await browser.newContext(PHONE)
  try {
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', SLOW_4G)
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER_CPU })
    let requests = 0
    session.on('Network.responseReceived', () => void (requests += 1))
    await page.addInitScript({ content: WATCH })
    await page.goto(url, { waitUntil: 'networkidle' })
    await page.waitForTimeout(REST_MS)
    const { lcp, cls, tasks } = await page.evaluate<Watched>('seen')
    const tbt = tasks.reduce((sum, ms) => sum + Math.max(0, ms - LONG_TASK_MS), 0)
    return { lcp, cls, tbt, requests }
  } finally {
    await context.close()
  }
}

interface Watched {
  lcp: number
  cls: number
  /** How long each long task took. */
  tasks: number[]
}

/** Runs in the page, before its own scripts. */
const WATCH = `
  globalThis.seen = { lcp: 0, cls: 0, tasks: [] }
  const look = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true })
  look('largest-contentful-paint', ({ startTime }) => (seen.lcp = startTime))
  look('layout-shift', ({ value }) => (seen.cls += value))
  look('longtask', ({ duration }) => seen.tasks.push(duration))`
