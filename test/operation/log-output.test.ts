import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { atEnd } from '../support/ends.ts'
import { quietPort } from '../support/quiet-port.ts'
import { bareEnvironment, request } from '../support/service.ts'
import { type Ends, SECRET, eventually, newDatabase, temporaryFolder } from '../support/shop.ts'

// The log goes to a file, a terminal or a program that the service does not control.

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** Their lines are far more than what the service gathers before it writes. */
const REQUESTS = 300

/** Starts the service with this file as its standard output, and waits until it is ready. */
async function startWithOutput(t: Ends, output: string) {
  const [port, file] = [await quietPort(), fs.openSync(output, 'a')]
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...bareEnvironment(),
      DATABASE_URL: await newDatabase(t),
      DATA_DIR: await temporaryFolder(t),
      PORT: String(port),
      SECRET,
      LIMITS: 'off',
    },
    stdio: ['ignore', file, 'pipe'],
  })
  fs.closeSync(file)
  let errors = ''
  child.stderr!.on('data', (chunk) => (errors += String(chunk)))
  const ended = once(child, 'exit')
  atEnd(t, async () => {
    child.kill('SIGKILL')
    await ended
  })
  const call = (address: string) => request('GET', `http://127.0.0.1:${port}${address}`)
  await eventually(
    async () => {
      assert.deepEqual([child.exitCode, child.signalCode], [null, null], `the service ended: ${errors}`)
      return call('/readyz').catch(() => undefined)
    },
    (reply) => reply?.status === 200,
  )
  return { child, call, ended }
}

const DISK_IS_FULL = '/dev/full'

test(
  'a full disk under the log costs lines of the log: the service answers, and ends in order',
  { skip: !fs.existsSync(DISK_IS_FULL) && 'this system has no /dev/full' },
  async (t) => {
    const { child, call, ended } = await startWithOutput(t, DISK_IS_FULL)
    for (let n = 0; n < REQUESTS; n++) assert.equal((await call(`/not-there-${n}`)).status, 404)
    assert.equal((await call('/readyz')).status, 200)
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  },
)

const LOG = new URL('../../src/kit/log.ts', import.meta.url).href
/** A program that logs so many lines and ends at once. Its pipe is like that of a service, which also writes its start's text there. */
const program = (lines: number, last: 'info' | 'fatal') => `
  const { newLog } = await import(${JSON.stringify(LOG)})
  process.stdout.on('error', () => {})
  const log = newLog('info')
  for (let at = 1; at <= ${lines}; at++) log.info({ at }, 'a line')
  log.${last}({ at: ${lines + 1} }, 'the last line')
  process.exit(7)`
const start = (text: string, output: 'pipe' | number) =>
  spawn(process.execPath, ['--input-type=module', '--eval', text], { stdio: ['pipe', output, 'inherit'] })

test('the last lines come whole and in order when a process ends, also through a pipe whose reader is slow', async () => {
  for (const last of ['info', 'fatal'] as const) {
    const child = start(program(5000, last), 'pipe')
    let text = ''
    for await (const chunk of child.stdout!) {
      text += String(chunk)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const lines = text.trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { at: number }).at),
      Array.from({ length: 5001 }, (_, at) => at + 1),
    )
  }
})

test('a process whose first line finds a full disk, or whose reader is gone, ends at once', async () => {
  for (const last of ['info', 'fatal'] as const) {
    const piped = start(program(3, last), 'pipe')
    piped.stdout!.destroy()
    assert.deepEqual(await once(piped, 'exit'), [7, null], 'the reader is gone')
    if (!fs.existsSync(DISK_IS_FULL)) continue
    const file = fs.openSync(DISK_IS_FULL, 'a')
    const full = start(program(3, last), file)
    fs.closeSync(file)
    assert.deepEqual(await once(full, 'exit'), [7, null], 'the disk is full')
  }
})
