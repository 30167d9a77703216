import { defineConfig } from '@playwright/test'
import { findBrowser } from './scripts/browser.mjs'

const browser = await findBrowser()

export default defineConfig({
  testDir: 'test/browser',
  // node:test takes *.test.ts; the browser tests have an ending of their own
  testMatch: '**/*.pw.ts',
  outputDir: 'node_modules/.cache/pw',
  globalSetup: './test/browser/global.ts',
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  // a test mostly waits for banks, pages and polls
  workers: 4,
  // These end a test that hangs. They are long, because on a machine with other work a good test takes many times as long, and some
  // tests wait for a job that runs once a minute. In a test, only a look that is repeated has a shorter limit of its own.
  timeout: 1_200_000,
  expect: { timeout: 90_000, toPass: { timeout: 90_000 } },
  globalTimeout: 180 * 60_000,
  reporter: 'line',
  use: {
    // a trace of actions, requests and answers costs every test a tenth of its time; `--trace on` records one
    trace: 'off',
    screenshot: 'only-on-failure',
    // without a graphics card, the browser draws a spinner anew sixty times a second; a test of motion asks for motion
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
