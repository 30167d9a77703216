import { defineConfig } from '@playwright/test'
import { findBrowser } from './scripts/browser.mjs'

const browser = await findBrowser()

export default defineConfig({
  testDir: 'test/browser',
  // node:test takes *.test.ts, the browser tests are kept apart by their own ending
  testMatch: '**/*.pw.ts',
  outputDir: 'node_modules/.cache/pw',
  globalSetup: './test/browser/global.ts',
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  // most of a test is waiting for banks, pages and polls
  workers: 4,
  // what hangs is ended; a machine with other work takes several times as long, and is right all the same
  timeout: 120_000,
  expect: { timeout: 20_000 },
  globalTimeout: 40 * 60_000,
  reporter: 'line',
  use: {
    // to note what was done, asked and answered costs every test a tenth, and comes by `--trace on`
    trace: 'off',
    screenshot: 'only-on-failure',
    // what turns is drawn anew sixty times a second, without a graphics card; who tests what moves says so
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: {
      executablePath: browser.executablePath,
      // the sandbox needs rights that a container and root do not have; the pages are our own
      chromiumSandbox: false,
      args: ['--disable-site-isolation-trials'],
      env: { ...process.env, ...browser.env },
    },
  },
})
