// The image as an operator runs it: built, small enough, without rights, on a read-only root file system. A buyer pays through it, it is
// stopped and started, its database is killed, and the order is still there.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { quietPort } from '../test/support/quiet-port.ts'
import { nodeFor, standIns } from './stand-ins.ts'

const USAGE = `npm run image-test -- [--engine=docker] [--run='…'] [--image=NAME | --build='docker build'] [--build-arg=NAME=VALUE …] [--debian [--arch=arm64]]
  --engine     docker, or podman with its own options
  --run        more options for its run command
  --image      an image that is there already; without it, the image is built
  --build      what builds it, such as 'buildah bud --format docker'
  --build-arg  for the build, such as NODE_IMAGE and NODE_DIGEST
  --debian     a base of Debian's packages, where no image registry is reachable (root; Debian's podman, buildah and debootstrap)
  --arch       arm64: the image for that kind of CPU, which this machine imitates (Debian's qemu-user-static and binfmt-support)`

const MOST_BYTES = 250_000_000
/** The uid of the account in the image. */
const UID = '10001'
const START_WITHIN_MS = 60_000
const STOP_SECONDS = 20
const POLL_MS = 200
const HARDENED = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--network=host']
const EMAIL = 'bob@example.com'
/** In the volume of /tmp, where the restore drill also has its room. */
const BACKUP = ['--env=BACKUP_URL=file:/tmp/backup', `--env=BACKUP_KEY=${'k'.repeat(40)}`]
const COMMAND_TIMEOUT_MS = 120_000

/** The account that runs there, and the folders that it may write. Node looks from inside, because the image has no other tool. */
const REPORT = `
  const fs = require('node:fs')
  const may = (at) => { try { fs.writeFileSync(at + '/probe', ''); fs.rmSync(at + '/probe'); return true } catch { return false } }
  const line = (pid) => { try { return fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0').join(' ').trim() } catch { return '' } }
  const own = String(process.pid)
  const nodes = fs.readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid) && pid !== own).map(line).map((text) => text.replace(/^\\S*(?:qemu|binfmt)\\S* \\S+ /, '')).filter((text) => text.startsWith('node '))
  console.log(JSON.stringify({ uid: process.getuid(), writable: ['/', '/till', '/etc', '/usr/local/bin', '/data'].filter(may), nodes }))`
const NO_ZOMBIES = `
  const fs = require('node:fs')
  const isZombie = (pid) => { try { return / Z /.test(fs.readFileSync('/proc/' + pid + '/stat', 'utf8')) } catch { return false } }
  process.exit(fs.readdirSync('/proc').some((pid) => /^\\d+$/.test(pid) && isZombie(pid)) ? 1 : 0)`

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'docker' },
    run: { type: 'string', default: '' },
    image: { type: 'string' },
    build: { type: 'string' },
    'build-arg': { type: 'string', multiple: true, default: [] },
    debian: { type: 'boolean', default: false },
    arch: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit()
}
if (values.debian) {
  assert(values.arch === undefined || values.arch === 'arm64', '--arch=arm64')
  const { image, digest } = values.arch ? nodeFor(values.arch) : standIns().node
  values.engine = 'podman'
  values.build ??= 'buildah bud --format docker --isolation chroot --network host'
  if (values.arch) values.build += ` --platform linux/${values.arch}`
  values['build-arg'].push(`NODE_IMAGE=${image}`, `NODE_DIGEST=${digest}`)
}
const engine = words(values.engine)
/** A CPU that is imitated is slow. */
const slower = values.arch ? 10 : 1
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-image-'))
const name = path.basename(folder).toLowerCase()
try {
  const image = values.image ?? (await build())
  const bytes = Number(ask('image', 'inspect', image, '--format', '{{.Size}}'))
  say(`${image} has ${Math.round(bytes / 1e6)} MB`)
  assert(bytes <= MOST_BYTES, `it may have ${MOST_BYTES / 1e6} MB`)
  await tryOut(image)
  say('the image is right')
} finally {
  for (const remove of [
    ['rm', '--force', '--volumes', name],
    ['volume', 'rm', name],
  ])
    spawnSync(engine[0]!, [...engine.slice(1), ...remove], { stdio: 'ignore' })
  fs.rmSync(folder, { recursive: true, force: true })
}

async function build(): Promise<string> {
  const command = words(values.build ?? `${values.engine} build`)
  const args = values['build-arg'].flatMap((one) => ['--build-arg', one])
  const began = performance.now()
  const child = spawn(command[0]!, [...command.slice(1), ...args, '--tag', name, '.'], { stdio: ['ignore', 2, 2] })
  const code = await new Promise((resolve) => child.once('close', resolve))
  assert.equal(code, 0, `${command.join(' ')} failed`)
  say(`built in ${Math.round((performance.now() - began) / 1000)} s`)
  return name
}

async function tryOut(image: string): Promise<void> {
  const port = await quietPort()
  const url = `http://127.0.0.1:${port}`
  const volume = `--volume=${name}:/tmp`
  ask(
    'run',
    '--detach',
    '--name',
    name,
    ...HARDENED,
    volume,
    ...BACKUP,
    ...words(values.run),
    '--env',
    `PORT=${port}`,
    image,
  )
  const productId = await started(url)
  const own = JSON.parse(inside('node', '-e', REPORT)) as { uid: number; writable: string[]; nodes: string[] }
  assert.deepEqual(own, { uid: Number(UID), writable: ['/data'], nodes: ['node src/main.ts'] })
  say(`runs as uid ${UID}, and may write in /data only`)

  const health = healthCommand(image)
  assert.equal(tryInside(...health), 0, 'the health check says yes')
  assert.equal(
    output('exec', '--env', 'PORT=1', name, ...health).status,
    1,
    'the health check says no where nothing answers',
  )

  const orderId = await buy(url, productId)
  await pays(url, orderId)
  say(`a buyer paid for ${orderId.slice(0, 14)}… and has the files`)

  inside('sh', '-c', 'read pid < /data/postgres/data/postmaster.pid && kill -9 "$pid"')
  await until(
    async () => (await pays(url, orderId).catch(() => undefined)) && tryInside('node', '-e', NO_ZOMBIES) === 0,
  )
  say('its database was killed, and is back; no process is left behind')

  await until(async () => tryInside('node', 'scripts/backup.ts') === 0)
  inside('node', 'scripts/drill.ts')
  say('a backup was made, and restored in a drill')

  const began = performance.now()
  ask('stop', '--time', String(STOP_SECONDS), name)
  const took = performance.now() - began
  assert.equal(ask('inspect', name, '--format', '{{.State.ExitCode}}'), '0', 'SIGTERM ends it in order')
  assert(took < STOP_SECONDS * 1000, 'SIGTERM reaches the service')
  say(`stopped in ${(took / 1000).toFixed(1)} s`)
  ask('start', name)
  await started(url)
  await pays(url, orderId)
  say('started again: the order is paid, and its files are there')
}

/** The command of the image's health check, as Docker would run it. */
function healthCommand(image: string): string[] {
  const config = JSON.parse(ask('image', 'inspect', image))[0]
  const [kind, ...command] = (config.Config?.Healthcheck ?? config.Healthcheck ?? config.HealthCheck).Test as string[]
  assert.equal(kind, 'CMD', 'the health check needs no shell')
  return command
}

/** Waits until the service is ready, and returns the demo's product in dollars. */
async function started(url: string): Promise<string> {
  await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok)
  const found = /in dollars\s+\S+product=(prod_\w+)/.exec(ask('logs', name))
  assert(found, 'the demo is there')
  return found[1]!
}

async function buy(url: string, productId: string): Promise<string> {
  const { orderId, clientSecret } = await post(`${url}/api/checkout`, { productId, email: EMAIL })
  await post(`${url}/api/sandbox/confirm`, { clientSecret, rail: 'card' })
  return orderId!
}

/** Throws unless the order is paid and its first file arrives. */
async function pays(url: string, orderId: string): Promise<true> {
  const answer = await fetch(`${url}/api/checkout/${orderId}/status?email=${EMAIL}&sync=1`)
  const { status, downloads } = (await answer.json()) as { status: string; downloads?: { url: string }[] }
  assert.equal(status, 'paid')
  const file = await fetch(downloads![0]!.url)
  assert(file.ok && (await file.arrayBuffer()).byteLength > 0)
  return true
}

async function post(url: string, body: object): Promise<Record<string, string>> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) // oxfmt-ignore
  const text = await answer.text()
  assert(answer.ok, text)
  return JSON.parse(text)
}

async function until(holds: () => Promise<unknown>): Promise<void> {
  for (const deadline = performance.now() + START_WITHIN_MS * slower; !(await holds()); await sleep(POLL_MS))
    assert(performance.now() < deadline, `it is not there in time:\n${output('logs', name).text}`)
}

/** The engine's output for this command, which must succeed. */
function ask(...args: string[]): string {
  const { status, text } = output(...args)
  assert.equal(status, 0, `${engine.join(' ')} ${args.join(' ')}: ${text}`)
  return text.trim()
}

function inside(...command: string[]): string {
  return ask('exec', name, ...command)
}

function tryInside(...command: string[]): number | null {
  return output('exec', name, ...command).status
}

function output(...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(engine[0]!, [...engine.slice(1), ...args], {
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS * slower,
  })
  return { status, text: status === 0 ? stdout : stderr + stdout }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

function say(text: string): void {
  console.log(text)
}
