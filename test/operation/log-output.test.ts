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
