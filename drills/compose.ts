// compose.yaml as docs/deploy.md uses it. The profile `public`: a buyer pays through Caddy's TLS on two host names, everything is stopped
// and comes back, and only Caddy can be reached from outside. The profile `alone`: the embedded database on one port. Uses the ports 80
// and 443.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { quietPort } from '../test/support/quiet-port.ts'
import { standIns } from './stand-ins.ts'
import { type Trust, ask, buy, hasFiles, isAway, isReady } from './tls-shop.ts'

const USAGE = `npm run compose-test -- [--engine='docker compose'] [--image=NAME] [--debian]
  --engine   podman-compose, or another one with its options
  --image    an image of Till that is there already; without it, compose builds it
  --debian   PostgreSQL and Caddy of Debian's packages, where no image registry is reachable (root; buildah, debootstrap)`

/** Caddy signs certificates of names below localhost with an authority of its own. */
const [BASE_URL, APP_URL] = ['https://api.till.localhost', 'https://pay.till.localhost']
const ROOT_CERTIFICATE = '/data/caddy/pki/authorities/local/root.crt'
const READY_WITHIN_MS = 180_000
const POLL_MS = 500
const PUBLIC = {
  BASE_URL,
  APP_URL,
  SECRET: 's'.repeat(64),
  POSTGRES_PASSWORD: 'a-password-of-this-drill',
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'shop@shop.example',
  OPERATORS: 'ann@shop.example',
  PROCESSORS: 'sandbox',
  DEMO: '1',
  // as on a machine without containers: compose.yaml has its own
  HOST: '127.0.0.1',
  PORT: '4001',
}

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'docker compose' },
    image: { type: 'string' },
    debian: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit()
}
const [engine = '', ...engineArgs] = values.engine.split(' ')
const root = path.resolve(import.meta.dirname, '..')
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-compose-'))
const debian = values.debian ? standIns() : undefined
const env = {
  ...process.env,
  ...(values.image && { TILL_IMAGE: values.image }),
  ...(debian && { POSTGRES_IMAGE: debian.postgres, CADDY_IMAGE: debian.caddy }),
}
// compose reads .env in the folder of its file, and builds the image there
const built = fs.readFileSync(path.join(root, '.dockerignore'), 'utf8').match(/(?<=^!).+/gm)!
for (const name of ['compose.yaml', 'deploy', 'Dockerfile', '.dockerignore', ...built])
  fs.cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
try {
  await tryPublic()
  await tryAlone()
  console.log('both profiles of compose.yaml are right')
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}

async function tryPublic(): Promise<void> {
  const compose = inProfile('public', PUBLIC)
  try {
    compose('up', '--detach')
    await until(() => isReady(BASE_URL, { rejectUnauthorized: false }), compose)
    const trust: Trust = { ca: compose('exec', '-T', 'caddy', 'cat', ROOT_CERTIFICATE) }
    for (const url of [BASE_URL, APP_URL]) assert(await isReady(url, trust), url)
    const plain = await ask(`${BASE_URL.replace('https:', 'http:')}/`)
    assert.equal(plain.status, 308, 'without TLS the browser is sent to https')
    say('Caddy serves both host names, with certificates that fit')
    const order = await buy(BASE_URL, await demoProduct(APP_URL, trust), trust)
    await hasFiles(BASE_URL, order, trust)
    say(`a buyer paid for ${order.slice(0, 14)}… and has the files`)
    for (const port of [4000, 5432]) assert(await isClosed(port), `port ${port} is closed to the machine`)
    compose('down')
    compose('up', '--detach')
    await until(() => isReady(BASE_URL, trust), compose)
    await hasFiles(BASE_URL, order, trust)
    say('stopped and started again: the same certificates, the order is paid, and its files are there')
  } finally {
    compose('down', '--volumes')
  }
}

async function tryAlone(): Promise<void> {
  const port = await quietPort()
  const url = `http://127.0.0.1:${port}`
  const compose = inProfile('alone', { DEMO_ON_NETWORK: '1', TILL_PORT: String(port), BASE_URL: url, APP_URL: url })
  try {
    compose('up', '--detach')
    await until(() => isReady(url), compose)
    const order = await buy(url, await demoProduct(url))
    await hasFiles(url, order)
    compose('down')
    compose('up', '--detach')
    await until(() => isReady(url), compose)
    await hasFiles(url, order)
    say('alone: a buyer paid, and after a stop and a start the order is paid and its files are there')
  } finally {
    compose('down', '--volumes')
  }
}

/** Writes the settings of the profile, and returns a function that runs a command of compose in it. */
function inProfile(profile: string, settings: Record<string, string>) {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  fs.writeFileSync(path.join(folder, '.env'), lines.join(''), { mode: 0o600 })
  return (...args: string[]): string => {
    const all = [...engineArgs, '--profile', profile, ...args]
    const { status, stdout, stderr, error } = spawnSync(engine, all, { cwd: folder, env, encoding: 'utf8' })
    assert.equal(status, 0, `${engine} ${all.join(' ')}: ${error?.message ?? ''}${stderr}${stdout}`)
    return stdout
  }
}

async function demoProduct(url: string, trust: Trust = {}): Promise<string> {
  const found = /prod_[0-9a-z]+/.exec(String((await ask(`${url}/`, trust)).bytes))
  assert(found, 'the demo is on the first page')
  return found[0]
}

function isClosed(port: number): Promise<boolean> {
  return ask(`http://127.0.0.1:${port}/`).then(
    () => false,
    (error) => error.code === 'ECONNREFUSED',
  )
}

async function until(holds: () => Promise<unknown>, compose: (...args: string[]) => string): Promise<void> {
  for (const deadline = performance.now() + READY_WITHIN_MS; !(await holds().catch(isAway)); await sleep(POLL_MS))
    if (performance.now() > deadline) assert.fail(`it is not there in time:\n${compose('logs')}`)
}

function say(text: string): void {
  console.log(text)
}
