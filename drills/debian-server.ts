// A Debian server in a folder, with systemd as its first process, on the network of this machine. Needs root, and Debian's debootstrap and
// systemd-container.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const SUITE = 'bookworm'
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
const POLL_MS = 200
const BOOT_LOOKS = 300

export interface Server {
  root: string
  /** Runs it in a root shell that stops at the first error, and returns its output. */
  run(script: string): Promise<string>
  stop(): Promise<void>
}

/** Makes the server in `folder` and starts it. `hosts` are names of this machine. */
export async function startServer(folder: string, hosts: string[]): Promise<Server> {
  const root = path.join(folder, 'root')
  await command('debootstrap', '--include=ca-certificates,sudo,systemd-sysv,dbus', SUITE, root)
  const put = (name: string, text: string) => fs.writeFileSync(path.join(root, name), text)
  fs.copyFileSync(CERTIFICATES, path.join(root, CERTIFICATES))
  put('root/.npmrc', `registry=${await command('npm', 'config', 'get', 'registry')}\ncafile=${CERTIFICATES}\n`)
  const guest = spawn(
    'systemd-nspawn',
    ['--quiet', '--register=no', '--keep-unit', '--resolv-conf=copy-host', `--directory=${root}`, '--boot'],
    { stdio: 'ignore' },
  )
  const ended = new Promise<void>((resolve) => guest.once('close', () => resolve()))
  const pid = await firstProcess(guest)
  const run = (script: string) => command('nsenter', '--target', pid, '--all', 'env', 'HOME=/root', 'sh', '-ec', script)
  put('etc/hosts', `127.0.0.1 localhost ${hosts.join(' ')}\n`)
  return {
    root,
    run,
    async stop() {
      guest.kill('SIGTERM')
      await ended
    },
  }
}

/** Waits until systemd has started the units, and returns its process as this machine sees it. */
async function firstProcess(guest: ChildProcess): Promise<string> {
  for (let looks = 0; looks < BOOT_LOOKS; looks++, await sleep(POLL_MS)) {
    assert(guest.exitCode === null && guest.pid, 'systemd-nspawn has ended')
    const pid = descendants(String(guest.pid)).find((one) => /^NSpid:.*\t1$/m.test(read(`/proc/${one}/status`)))
    const state = pid && spawnSync('nsenter', ['--target', pid, '--all', 'systemctl', 'is-system-running'], { encoding: 'utf8' }) // oxfmt-ignore
    if (state && /running|degraded/.test(state.stdout)) return pid
  }
  return assert.fail('the server does not start')
}

function descendants(pid: string): string[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  return [...children, ...children.flatMap(descendants)]
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Throws, with the end of its output, unless it succeeds. */
async function command(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 28 }).catch((error) => {
    throw new Error(`${program} ${args.join(' ')}: ${`${error.stdout}${error.stderr}`.slice(-4000)}`, { cause: error })
  })
  return stdout.trim()
}
