// @ts-check
// npm test                      everything: checks of the text, tests on a real PostgreSQL, tests in a real browser
// npm test -- lint|unit|browser    one part of it; files named after `unit` or `browser` run alone
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { stripVTControlCharacters } from 'node:util'
import { globalSetup, globalTeardown } from '../test/support/global.ts'
import { cpuSeconds } from './cpu-seconds.mjs'
import { allGroups, dearest, groupsOf } from './test-groups.mjs'

process.chdir(path.resolve(import.meta.dirname, '..'))

const CHECKS = {
  formatting: ['oxfmt/bin/oxfmt', '--check', '.'],
  lint: ['oxlint/bin/oxlint'],
  'types of the server': ['typescript/bin/tsc', '--project', 'tsconfig.json'],
  'types of the pages': ['typescript/bin/tsc', '--project', 'web/tsconfig.json'],
  'types of the browser tests': ['typescript/bin/tsc', '--project', 'test/browser/tsconfig.json'],
}
/**
 * Ends a test that waits for ever. The longest group takes an eighth of this time on two cores. It cannot interrupt code that does not
 * return, so such code runs in a thread (test/support/aside.ts).
 */
const TEST_TIMEOUT_MS = 1_800_000
/** On Linux a folder in memory. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES = 3 * 1024 ** 3
const FAILURE_CHARACTERS = 300
const BROWSER_RESULTS = path.join('node_modules', '.cache', 'browser-tests.json')

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @type {Record<string, (files: string[]) => Promise<Counts>>} */
const PARTS = { lint: checkText, unit: runUnitTests, browser: runBrowserTests }

const [only = '', ...files] = process.argv.slice(2)
if (only && !(only in PARTS)) {
  console.error(`Unknown part "${only}": npm test [-- ${Object.keys(PARTS).join('|')} [file …]]`)
  process.exit(2)
}
if (!process.env.TMPDIR && hasMemory()) process.env.TMPDIR = MEMORY
// the test processes share their compiled code
process.env.NODE_COMPILE_CACHE ??= path.resolve('node_modules', '.cache', 'compiled')
const total = { passed: 0, failed: 0, skipped: 0 }
/** The failed tests. The end of the output names them again, because a log that is cut off keeps its end. @type {string[]} */
const failures = []
for (const [name, part] of Object.entries(PARTS)) {
  if (only && only !== name) continue
  const counts = await part(files)
  // a part in which nothing ran has not shown that anything works
  if (counts.passed + counts.failed === 0) {
    console.log(`✖ ${name}: nothing ran`)
    failures.push(`${name}: nothing ran`)
    counts.failed = 1
  }
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
const seconds = cpuSeconds()
const cost = `in ${Math.round(process.uptime())} s${seconds ? `, ${seconds} s of CPU time` : ''}`
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}, ${cost}`)
for (const failure of failures) console.log(`✖ ${failure}`)
process.exit(total.failed === 0 ? 0 : 1)

/** Each test's own database is 480 files, which take most of a test's time on a disk. */
function hasMemory() {
  if (!fs.existsSync(MEMORY)) return false
  const { bavail, bsize } = fs.statfsSync(MEMORY)
  return bavail * bsize > MEMORY_BYTES && os.freemem() > MEMORY_BYTES
}

/** Runs the checks of the source texts, side by side. */
async function checkText() {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const checks = Object.entries(CHECKS).map(async ([name, [program = '', ...args]]) => {
    const began = Date.now()
    const ok = await runNode([path.join('node_modules', program), ...args])
    counts[ok ? 'passed' : 'failed']++
    if (!ok) failures.push(name)
    console.log(`${ok ? '✔' : '✖'} ${name} (${Date.now() - began} ms)`)
  })
  await Promise.all(checks)
  return counts
}

/** @param {string[]} files */
async function runUnitTests(files) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  await globalSetup()
  const stream = run({
    files: files.length > 0 ? groupsOf('chosen', files) : allGroups(),
    // each group is a process, which mostly waits for banks, mails and PostgreSQL, and opens pools of connections
    concurrency: Math.min(5, 2 * os.availableParallelism() + 1),
    timeout: TEST_TIMEOUT_MS,
  })
  let anyFailure = false
  stream.on('test:fail', ({ name, file = '', line = 0, details: { error } }) => {
    anyFailure = true
    // a suite fails because of a test in it, which is named by an event of its own
    if ('failureType' in error && error.failureType === 'subtestsFailed') return
    const cause = error.cause instanceof Error ? error.cause.message : error.message
    failures.push(`${path.relative('', file)}:${line} › ${name}: ${shortened(cause)}`)
  })
  stream.on('test:summary', ({ file, counts: { tests, passed, skipped, todo } }) => {
    if (file) return // the summary of one group; the one of the whole run has no file
    const failed = tests - passed - skipped - todo
    // a file that could not be loaded, and a hook that failed, are in no count
    Object.assign(counts, { passed, skipped: skipped + todo, failed: failed > 0 || !anyFailure ? failed : 1 })
  })
  for await (const text of stream.compose(new spec())) process.stdout.write(text)
  await globalTeardown()
  for (const { seconds, group } of dearest()) console.log(`${String(seconds).padStart(5)} s of CPU time: ${group}`)
  return counts
}

/** @param {string[]} files */
async function runBrowserTests(files) {
  fs.rmSync(BROWSER_RESULTS, { force: true })
  const playwright = path.join('node_modules', '@playwright', 'test', 'cli.js')
  const ok = await runNode([playwright, 'test', '--reporter=list,json', ...files], {
    PLAYWRIGHT_JSON_OUTPUT_NAME: BROWSER_RESULTS,
  })
  if (!fs.existsSync(BROWSER_RESULTS)) return { passed: 0, failed: 1, skipped: 0 }
  const { stats, suites } = JSON.parse(fs.readFileSync(BROWSER_RESULTS, 'utf8'))
  failures.push(...failedSpecs(suites))
  // a failure outside of any test, as in the set-up, is in no count
  const failed = stats.unexpected > 0 || ok ? stats.unexpected : 1
  if (failed > 0 && failures.length === 0) failures.push('browser: failed outside of any test, see above')
  return { passed: stats.expected + stats.flaky, failed, skipped: stats.skipped }
}

/**
 * @param {import('@playwright/test/reporter').JSONReportSuite[]} suites
 * @returns {string[]}
 */
function failedSpecs(suites) {
  return suites.flatMap(({ specs, suites: inner = [] }) => [
    ...specs
      .filter(({ ok }) => !ok)
      .map(({ file, line, title, tests }) => {
        const error = tests.flatMap(({ results }) => results).find((result) => result.error)?.error
        return `test/browser/${file}:${line} › ${title}: ${shortened(error?.message ?? '')}`
      }),
    ...failedSpecs(inner),
  ])
}

/** @param {string} text as it came, with the colours of a terminal */
function shortened(text) {
  return stripVTControlCharacters(text).replace(/\s+/g, ' ').trim().slice(0, FAILURE_CHARACTERS)
}

/**
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<boolean>} whether it succeeded
 */
function runNode(args, env = {}) {
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  return new Promise((resolve) => child.once('close', (code) => resolve(code === 0)))
}
