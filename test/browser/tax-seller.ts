import { spawnSync } from 'node:child_process'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { expect } from './fixtures.ts'

// A seller who charges tax, for the tests of tax.

const ROOT = path.resolve(import.meta.dirname, '../..')
const PICTURES = process.env.TAX_PICTURES

export function loadRates(dataDir: string | undefined): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['scripts/operator.ts', 'tax-rates', 'load', 'deploy/tax-rates.csv'],
    { cwd: ROOT, env: { PATH: process.env.PATH, DATA_DIR: dataDir }, encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  expect(status).toBe(0)
}

export async function newProduct(page: Page): Promise<string> {
  const origin = new URL(page.url()).origin
  const call = async (method: string, path: string, data: unknown, type = 'application/json') => {
    const response = await page.request.fetch(`/api/products${path}`, { method, data, headers: { origin, 'content-type': type } }) // oxfmt-ignore
    expect(response.ok(), await response.text()).toBe(true)
    return (await response.json()) as { id: string }
  }
  const { id } = await call('POST', '', { name: 'Letters from the sea', amount: 1000, currency: 'EUR' })
  await call('POST', `/${id}/files?name=letters.pdf`, Buffer.from('letters'), 'application/octet-stream')
  await call('PATCH', `/${id}`, { status: 'active' })
  return id
}

export async function saveProfile(page: Page, prices: string): Promise<void> {
  await page.goto('/account/#tax')
  await page.getByLabel('Where you are established').selectOption('DE')
  await page.getByLabel('Your tax IDs').fill('DE136695976')
  await page.getByLabel('Your prices').selectOption(prices)
  await page.getByLabel(/one-stop-shop/).check()
  await page.getByRole('button', { name: 'Save the tax profile' }).click()
  await expect(page.getByText('Saved. It counts for new orders.')).toBeVisible()
}

export const picture = async (page: Page, name: string) => {
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true })
}
