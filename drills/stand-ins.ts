// Images made of Debian's packages, for machines that reach no image registry: a base with Node for the Dockerfile, PostgreSQL, and Caddy.
// They take the settings that the official images take in compose.yaml. Needs root, and Debian's debootstrap and buildah.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Its PostgreSQL is 15, which is the oldest that the service takes. */
const SUITE = 'bookworm'
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** As the official image does it: the first start makes the database of POSTGRES_DB, and the server runs under its own account. */
const START_POSTGRES = `#!/bin/sh
set -e
data=/var/lib/postgresql/data
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
if [ ! -e $data/PG_VERSION ]; then
  chown postgres:postgres /var/lib/postgresql
  [ -n "$POSTGRES_PASSWORD" ] || { echo "POSTGRES_PASSWORD is missing" >&2; exit 1; }
  printf '%s\\n' "$POSTGRES_PASSWORD" > /run/password
  chown postgres /run/password
  $as initdb -D $data --username="$POSTGRES_USER" --pwfile=/run/password --auth=scram-sha-256
  rm /run/password
  echo "host all all all scram-sha-256" >> $data/pg_hba.conf
  echo "create database $POSTGRES_DB;" | $as postgres --single -D $data postgres
fi
exec $as postgres -D $data -c listen_addresses='*' -c unix_socket_directories=/tmp
`

export interface StandIns {
  /** For the build arguments NODE_IMAGE and NODE_DIGEST. */
  node: { image: string; digest: string }
  postgres: string
  caddy: string
}

/** A base for another kind of CPU than this machine's, which Debian's qemu-user-static and binfmt-support then imitate. */
export function nodeFor(arch: 'arm64'): StandIns['node'] {
  return inFolder((folder) => {
    const made = image(`till-stand-in-node-${arch}`, () => debianRoot(path.join(folder, 'root'), arch), [
      ['arch', arch],
      ...nodeSettings(),
    ])
    return { image: made, digest: digestOf(made) }
  })
}

/** Builds the images, or takes those of an earlier run. */
export function standIns(): StandIns {
  return inFolder((folder) => {
    const root = () => debianRoot(path.join(folder, 'root'))
    const node = image('till-stand-in-node', root, nodeSettings())
    const postgres = image('till-stand-in-postgres', root, [
      ['env', 'PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      ['entrypoint', '["/usr/local/bin/start-postgres"]'],
      ['stop-signal', 'SIGINT'],
    ])
    const caddy = image('till-stand-in-caddy', root, [
      ['env', 'XDG_DATA_HOME=/data'],
      ['env', 'XDG_CONFIG_HOME=/config'],
      ['cmd', 'caddy run --config /etc/caddy/Caddyfile --adapter caddyfile'],
    ])
    return { node: { image: node, digest: digestOf(node) }, postgres, caddy }
  })
}

function inFolder<T>(work: (folder: string) => T): T {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-debian-'))
  try {
    return work(folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function image(name: string, root: () => string, settings: [option: string, value: string][]): string {
  const full = `localhost/${name}`
  if (spawnSync('buildah', ['inspect', '--type', 'image', full], { stdio: 'ignore' }).status === 0) return full
  const container = run('buildah', 'from', 'scratch')
  run('buildah', 'add', '--quiet', container, root(), '/')
  run('buildah', 'config', '--env', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container)
  for (const [option, value] of settings) run('buildah', 'config', `--${option}`, value, container)
  run('buildah', 'commit', '--quiet', '--rm', container, full)
  return full
}

/** One root file system for all of them. With `arch`, one for that kind of CPU, with a Node for it. */
function debianRoot(root: string, arch?: string): string {
  if (fs.existsSync(root)) return root
  const of = arch ? [`--arch=${arch}`, '--include=ca-certificates'] : ['--include=ca-certificates,postgresql,caddy']
  run('debootstrap', '--variant=minbase', ...of, SUITE, root)
  fs.copyFileSync(CERTIFICATES, path.join(root, CERTIFICATES))
  const local = path.join(root, 'usr/local')
  fs.copyFileSync(arch ? nodeOf(arch, path.dirname(root)) : process.execPath, path.join(local, 'bin/node'))
  const npm = path.resolve(process.env['npm_execpath'] ?? '', '../..')
  fs.cpSync(npm, path.join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true })
  fs.symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', path.join(local, 'bin/npm'))
  fs.writeFileSync(path.join(local, 'bin/start-postgres'), START_POSTGRES, { mode: 0o755 })
  return root
}

/** The Node that this program runs on, as npm has it for the other kind of CPU. */
function nodeOf(arch: string, folder: string): string {
  const name = `node-linux-${arch}@${process.version.slice(1)}`
  run('npm', 'install', '--prefix', folder, '--force', '--ignore-scripts', '--no-save', name)
  return path.join(folder, 'node_modules', `node-linux-${arch}`, 'bin/node')
}

const nodeSettings = (): [option: string, value: string][] => [
  ['env', `npm_config_registry=${registry()}`],
  ['env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`],
]
const digestOf = (name: string): string => run('buildah', 'images', '--format', '{{.Digest}}', name)
const registry = (): string => run('npm', 'config', 'get', 'registry')

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error(`${program} ${args[0]}: ${error?.message ?? stderr.slice(-2000)}`)
  return stdout.trim()
}
