import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { restoreCommand } from '../../src/kit/embedded/postmaster.ts'

// The files from which the image is built and run. `npm run image-test` builds it and runs it.

const ROOT = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => fs.readFileSync(path.join(ROOT, file), 'utf8')

interface Instruction {
  name: string
  text: string
}

/** The instructions of each stage of the Dockerfile. The instructions before the first FROM are a stage of their own. */
function stages(): Instruction[][] {
  const lines = read('Dockerfile').replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, ' ').split('\n').filter(Boolean) // oxfmt-ignore
  const all: Instruction[][] = [[]]
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? assert.fail(`what is "${line}"?`)
    if (name === 'FROM') all.push([])
    all.at(-1)!.push({ name, text })
  }
  return all
}
const textsOf = (stage: Instruction[] = [], wanted: string) =>
  stage.filter(({ name }) => name === wanted).map(({ text }) => text)

test('the image is built from one base, which is pinned by a digest, and the rest is left behind', () => {
  const [args, build, image, ...more] = stages()
  assert.deepEqual(more, [])
  assert.deepEqual(textsOf(build, 'FROM'), ['${NODE_IMAGE}@${NODE_DIGEST} AS build'])
  assert(textsOf(args, 'ARG').some((text) => /^NODE_DIGEST=sha256:[0-9a-f]{64}$/.test(text)))
  assert.deepEqual(textsOf(image, 'FROM'), ['scratch'])
  assert(textsOf(build, 'RUN').some((text) => text.startsWith('npm ci --omit=dev ')))
})

test('the image runs as its own account, on a volume, without a shell, and with a health check of its own', () => {
  const image = stages().at(-1)
  assert.deepEqual(textsOf(image, 'USER'), ['10001:10001'])
  assert.deepEqual(textsOf(image, 'VOLUME'), ['/data'])
  assert.match(textsOf(image, 'ENV').join(' '), /\bDATA_DIR=\/data\b/)
  assert(
    textsOf(image, 'ENV').includes('NODE_OPTIONS=--import=/till/scripts/use-built.mjs'),
    'its packages are built in',
  )
  assert.deepEqual(
    [...textsOf(image, 'ENTRYPOINT'), ...textsOf(image, 'CMD')].map((text) => JSON.parse(text)),
    [
      ['tini', '--'],
      ['node', 'src/main.ts'],
    ],
  )
  const [health = ''] = textsOf(image, 'HEALTHCHECK')
  const [program, ...rest] = JSON.parse(health.slice(health.indexOf('CMD ') + 4)) as string[]
  assert.equal(program, 'node')
  assert.match(rest.join(' '), /\/readyz/)
  assert.match(read('scripts/image-root.ts'), /^const UID = 10001$/m)
})

test('what the build copies reaches it, and no data or secret of this machine does', () => {
  const allowed = read('.dockerignore').split('\n').filter((line) => line !== '' && !line.startsWith('#')) // oxfmt-ignore
  assert.equal(allowed[0], '*', 'nothing is taken that is not named')
  const taken = allowed.filter((line) => line.startsWith('!')).map((line) => line.slice(1)).sort() // oxfmt-ignore
  const copied = textsOf(stages()[1], 'COPY').flatMap((text) => text.split(' ').slice(0, -1)).sort() // oxfmt-ignore
  assert.deepEqual(taken, copied)
  for (const name of copied) assert(fs.existsSync(path.join(ROOT, name)), name)
  const root = read('scripts/image-root.ts')
  // where the service reads files by their place
  for (const name of ['package.json', 'client', 'dist', 'docs', 'programs', 'schema', 'scripts', 'src'])
    assert(root.includes(`'${name}'`), `scripts/image-root.ts takes ${name}`)
})

test('the image has each program that a command of PostgreSQL calls, or a shell that outlives us', () => {
  const sources = ['src/backup/drill.ts', 'src/kit/embedded/postmaster.ts'].map(read).join('\n')
  const afterUs = [...sources.matchAll(/afterUs\('([^']+)'/g)].map(([, script]) => script!)
  assert.equal(afterUs.length, 2)
  const called = [restoreCommand('/asked', 1000), ...afterUs].join('; ').split(/;| && | \|\| | do | while /).map((part) => part.trim().split(' ')[0]!).filter((word) => /^[a-z]+$/.test(word)) // oxfmt-ignore
  const inShell = new Set(['while', 'for', 'do', 'done', 'exit', 'read', 'kill'])
  const programs = /const PROGRAMS = \[(.*)\]/.exec(read('scripts/image-root.ts'))![1]!
  for (const name of ['touch', 'sleep', 'rm']) assert(called.includes(name), name)
  for (const name of called.filter((word) => !inShell.has(word))) assert(programs.includes(`/${name}'`), name)
})

test('each package with programs for one kind of CPU has them for both', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: boolean }> }
  const ofX64 = Object.entries(packages).filter(([name, { dev }]) => !dev && /linux(?:-?gnu)?-x64|linux-x64-gnu/.test(name)) // oxfmt-ignore
  assert(ofX64.length >= 4, 'Node, PostgreSQL, pictures and the bundler')
  for (const [name] of ofX64) assert(packages[name.replace('x64', 'arm64')], `${name} for arm64`)
})

interface Service {
  profiles: string[]
  environment?: Record<string, unknown>
  ports?: string[]
  volumes?: string[]
  networks?: string[]
  [option: string]: unknown
}

test('compose runs the image without rights, alone or with PostgreSQL and Caddy', () => {
  const file = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<string, Service>
    volumes: object
    networks: object
  }
  const inProfile = (profile: string) =>
    Object.entries(file.services).filter(([, one]) => one.profiles.includes(profile)).map(([name]) => name) // oxfmt-ignore
  assert.deepEqual([inProfile('alone'), inProfile('public')], [['till-alone'], ['till', 'postgres', 'caddy']])
  for (const name of ['till-alone', 'till']) {
    const service = file.services[name]!
    assert.deepEqual(
      [service['read_only'], service['cap_drop'], service['security_opt'], service['restart']],
      [true, ['ALL'], ['no-new-privileges:true'], 'unless-stopped'],
    )
    assert(Number.parseInt(String(service['stop_grace_period'])) > 10 + 15, 'longer than draining and closing')
    for (const setting of Object.keys(service.environment ?? {}))
      assert(read('.env.example').includes(`#${setting}=`), `${setting} is a setting`)
    const { HOST, PORT } = service.environment ?? {}
    assert.deepEqual([HOST, PORT], ['0.0.0.0', 4000], 'with another address or port the service cannot be reached')
    for (const volume of service.volumes ?? []) assert.match(volume, /^\w+:\/(?:data|tmp)$/)
    assert(service['tmpfs'] || service.volumes!.includes('tmp:/tmp'), 'uploads to a bucket and drills need /tmp')
  }
  const { till, postgres, caddy } = file.services
  assert.deepEqual(file.services['till-alone']!.ports, ['127.0.0.1:${TILL_PORT:-4000}:4000'], 'not the whole network')
  assert.deepEqual([till!.ports, postgres!.ports], [undefined, undefined], 'only Caddy is reached from outside')
  assert.equal(caddy!.environment!['TILL'], 'till:4000')
  assert.deepEqual([till!.networks, postgres!.networks, caddy!.networks], [['front', 'back'], ['back'], ['front']])
  const named = Object.values(file.services).flatMap(({ volumes = [] }) => volumes.map((one) => one.split(':')[0]!)).filter((one) => !one.startsWith('.')) // oxfmt-ignore
  assert.deepEqual(named.sort(), Object.keys(file.volumes).sort())
  assert.match(read('deploy/Caddyfile'), /^\{\$BASE_URL\}, \{\$APP_URL\} \{$/m, 'the two host names')
  // before real money the guide removes what a try has stored: the files and the database, and never the certificates
  const removed = [...read('docs/deploy.md').matchAll(/^sudo docker volume rm (.*)$/gm)].map(([, all]) =>
    all!.split(' '),
  )
  const stored = ['till', 'postgres', 'till-alone'].map(
    (name) => `till_${file.services[name]!.volumes![0]!.split(':')[0]}`,
  )
  assert.deepEqual(removed.flat().sort(), stored.sort())
})
