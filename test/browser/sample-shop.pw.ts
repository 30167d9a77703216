import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { BrowserContext } from '@playwright/test'
import { newEmail, payByCard } from './buyer.ts'
import { BASE_URL, expect, test } from './fixtures.ts'
import { waitForEver } from './other-site.ts'
import { signUp } from './seller.ts'

// The sample shop in a browser: its own address, the checkout over its page, and the members' page behind it.

const SAMPLE = path.resolve(import.meta.dirname, '../../examples/shop')

async function ask<Answer>(context: BrowserContext, method: string, address: string, data?: object): Promise<Answer> {
  const answer = await context.request.fetch(`/api/${address}`, { method, data, headers: { origin: BASE_URL } })
  expect(answer.ok(), `${method} ${address}: ${await answer.text()}`).toBe(true)
  const text = await answer.text()
  return (text ? JSON.parse(text) : undefined) as Answer
}

async function productOnSale(context: BrowserContext): Promise<string> {
  const { id } = await ask<{ id: string }>(context, 'POST', 'products', { name: 'A year of quiet letters', amount: 1900, currency: 'USD' }) // oxfmt-ignore
  await context.request.fetch(`/api/products/${id}/files?name=welcome.txt`, {
    method: 'POST',
    data: Buffer.from('Welcome!'),
    headers: { origin: BASE_URL, 'content-type': 'application/octet-stream' },
  })
  await ask(context, 'PATCH', `products/${id}`, { status: 'active' })
  return id
}

/** The sample with the seller's product in its page, as its README says. */
async function startSample(folder: string, productId: string, secret: string) {
  await cp(SAMPLE, folder, { recursive: true })
  const page = path.join(folder, 'index.html')
  const html = (await readFile(page, 'utf8')).replaceAll('http://127.0.0.1:4000', BASE_URL).replace('prod_…', productId)
  await writeFile(page, html)
  const env = { TILL_WEBHOOK_SECRET: secret, TILL_PRODUCT: productId, PORT: '0' }
  const child = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    child.kill()
    await ended
  }
  for await (const line of createInterface({ input: child.stdout })) return { url: line, stop }
  throw new Error('the sample did not start')
}

test('a buyer pays over the sample’s own page and is let in, and nobody is let in without', async ({
  page,
  context,
  watch,
}) => {
  await signUp(page)
  const productId = await productOnSale(context)
  const endpoint = { url: 'http://127.0.0.1:9/hook', events: ['*'] }
  const { id, secret } = await ask<{ id: string; secret: string }>(context, 'POST', 'webhook-endpoints', endpoint)
  const folder = await mkdtemp(path.join(os.tmpdir(), 'till-sample-'))
  const { url, stop } = await startSample(folder, productId, secret)
  try {
    await ask(context, 'PATCH', `webhook-endpoints/${id}`, { url: `${url}hook` })
    await ask(context, 'PUT', `sites/${encodeURIComponent(new URL(url).host)}`)
    watch.allow(new URL(url).origin)
    await waitForEver(context)

    await page.goto(`${url}members?order=ord_1`)
    await expect(page.getByText('We wait for your payment')).toBeVisible()
    await page.goto(url)
    await page.getByRole('link', { name: 'Join for a year' }).click()
    const frame = page.frameLocator('iframe[title="Checkout"]')
    await frame.getByLabel('E-mail').fill(newEmail())
    await payByCard(frame)
    await expect(page.getByRole('heading', { name: 'Welcome to the Quiet Club' })).toBeVisible()
  } finally {
    await stop()
    await rm(folder, { recursive: true })
  }
})
