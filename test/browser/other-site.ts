import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type BrowserContext, type Page, expect, request } from '@playwright/test'
import { BASE_URL, DEMO_URL } from './fixtures.ts'

export type OtherSite = Awaited<ReturnType<typeof startOtherSite>>

interface Mail {
  text: string
}

interface Shown {
  body: string
  headers?: Record<string, string>
}

/** A seller's own site, on another origin than the checkout: `localhost`, while the service is at 127.0.0.1. */
export async function startOtherSite() {
  const pages = new Map<string, Shown>()
  const server = createServer(({ url = '/' }, response) => {
    const shown = pages.get(url.split('?')[0]!)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    for (const [name, value] of Object.entries(shown?.headers ?? {})) response.setHeader(name, value)
    response.end(
      shown?.body ?? '<!doctype html><html lang="en"><title>Another page</title><h1>Another page</h1></html>',
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve))
  const host = `localhost:${(server.address() as AddressInfo).port}`
  return {
    host,
    origin: `http://${host}`,
    /** Shows a page at a path from now on. */
    show: (path: string, body: string, headers: Record<string, string> = {}) =>
      void pages.set(path, { body: wholePage(body), headers }),
    /** Shows a document as it is. */
    showWhole: (path: string, body: string) => void pages.set(path, { body }),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

const wholePage = (body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>The shop</title></head><body><main>${body}</main></body></html>`

/** The link that becomes a checkout, and the script that does it. */
export const buyLink = ({ url = DEMO_URL, base = BASE_URL, more = '', attributes = 'data-till' } = {}): string =>
  `<h1>The shop</h1><p><a href="${url}${more}" ${attributes}>Buy the book</a></p><script async src="${base}/till.js"></script>`

/** The demo's seller adds a site, or removes one. */
export async function changeSite(method: 'put' | 'delete', host: string, url = BASE_URL): Promise<void> {
  const email = 'ann@demo.example'
  const api = await request.newContext({ baseURL: url, extraHTTPHeaders: { origin: url } })
  const codes = async () => {
    const mails = (await (await api.get(`/api/outbox?${new URLSearchParams({ to: email })}`)).json()) as Mail[]
    return mails.flatMap(({ text }) => /^\s*(\d{6})\s*$/m.exec(text)?.[1] ?? [])
  }
  const tried = new Set(await codes())
  const asked = await api.post('/api/auth/otp', { data: { email } })
  expect(asked.status()).toBe(202)
  await expect
    .poll(async () => {
      // another browser may have asked for a code of its own meanwhile, and a code allows few wrong tries
      const code = (await codes()).find((one) => !tried.has(one))
      if (!code) return 0
      tried.add(code)
      return (await api.post('/api/auth/otp/verify', { data: { email, code } })).status()
    })
    .toBe(200)
  const answer = await api[method](`/api/sites/${encodeURIComponent(host)}`)
  expect(answer.ok(), await answer.text()).toBe(true)
  await api.dispose()
}

/**
 * The page around the frame never gives up waiting by its own clock, neither for the frame nor for its answer: a loaded machine can be
 * slower than a buyer. A test calls `giveUp` or `missAnswer` instead.
 */
export const waitForEver = (context: BrowserContext) =>
  context.addInitScript(() => {
    if (self !== top) return
    // the checkout in the whole window asks again every two seconds
    const isCheckout = location.pathname === '/pay/'
    const real = setTimeout
    self.setTimeout = ((work: () => void, ms = 0, ...more: []) => {
      if (ms === 3000) Object.assign(self, { giveUp: work })
      else if (ms === 2000 && !isCheckout) Object.assign(self, { missAnswer: work })
      else return real(work, ms, ...more)
      return 0
    }) as typeof setTimeout
  })

/** Ends the wait that the page would otherwise end by its clock. */
export const giveUp = (page: Page) => page.evaluate(() => (self as unknown as { giveUp: () => void }).giveUp())
export const missAnswer = (page: Page) =>
  page.evaluate(() => (self as unknown as { missAnswer: () => void }).missAnswer())
