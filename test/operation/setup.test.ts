import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { folderOfPrograms } from '../../scripts/sources.mjs'
import { temporaryFolder } from '../support/shop.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Commands that can run beside the service, perhaps after a `git pull` whose packages are not installed yet. */
const BESIDE = ['operator', 'doctor', 'reconcile', 'recall', 'trust', 'adopt', 'upgrade', 'upgrade-database']

test('a command that can run beside the service removes no package', async (t) => {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const copy = await temporaryFolder(t)
  for (const file of ['scripts/setup.mjs', 'scripts/sources.mjs', 'src/kit/lock.mjs']) {
    fs.mkdirSync(path.dirname(path.join(copy, file)), { recursive: true })
    fs.copyFileSync(path.join(ROOT, file), path.join(copy, file))
  }
  fs.writeFileSync(path.join(copy, 'package.json'), '{"dependencies":{"one-more":"1.0.0"}}')
  fs.writeFileSync(path.join(copy, 'package-lock.json'), '{"packages":{}}')
  fs.mkdirSync(path.join(copy, 'node_modules'))
  fs.writeFileSync(path.join(copy, 'node_modules', '.setup.json'), '{"key":"of the packages before","has":"start"}')
  fs.writeFileSync(path.join(copy, 'node_modules', 'in-use'), '')
  for (const name of BESIDE) {
    const [program, ...args] = scripts[`pre${name}`]!.split(' ')
    assert.equal(program, 'node')
    const env = { PATH: '', npm_execpath: path.join(copy, 'no-npm.js') }
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: copy, env, encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''], name)
    assert.deepEqual(fs.readdirSync(path.join(copy, 'node_modules')).sort(), ['.setup.json', 'in-use'], name)
  }
})

test('what was built from other sources, or only in part, never runs', async (t) => {
  const copy = await temporaryFolder(t)
  const write = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(copy, file)), { recursive: true })
    fs.writeFileSync(path.join(copy, file), text)
  }
  for (const file of ['scripts/sources.mjs', 'scripts/use-built.mjs'])
    write(file, fs.readFileSync(path.join(ROOT, file), 'utf8'))
  write('package-lock.json', '{}')
  write('src/main.ts', `console.log('source' as string, ...process.argv.slice(2))`)
  write('src/kit/more.ts', '')
  write('src/kit/more.test.ts', '')
  const start = (script: string, ...args: string[]) => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--import=./scripts/use-built.mjs', script, ...args], { cwd: copy, env: { TMPDIR: path.join(copy, 'tmp') }, encoding: 'utf8' }) // oxfmt-ignore
    return (stdout + stderr).trim()
  }
  write('programs/.making/main.mjs', `console.log('half')`)
  assert.equal(start('src/main.ts', 'now'), 'source now', 'nothing is whole')
  const built = path.relative(copy, folderOfPrograms(copy))
  write(`${built}/main.mjs`, `console.log('built', ...process.argv.slice(2))`)
  assert.equal(start('src/main.ts', 'now'), 'built now')
  write('src/kit/more.test.ts', '// a test is no part of it')
  assert.equal(start('src/main.ts'), 'built')
  for (const [file, text] of [
    ['src/kit/more.ts', '// changed'],
    ['scripts/new.ts', ''],
    ['package-lock.json', '{"packages":{}}'],
  ] as const) {
    const before = fs.existsSync(path.join(copy, file)) ? fs.readFileSync(path.join(copy, file), 'utf8') : undefined
    write(file, text)
    assert.equal(start('src/main.ts'), 'source', file)
    if (before === undefined) fs.rmSync(path.join(copy, file))
    else write(file, before)
    assert.equal(start('src/main.ts'), 'built', file)
  }
  fs.mkdirSync(path.join(copy, 'tmp'))
  start('src/main.ts')
  assert.deepEqual(fs.readdirSync(path.join(copy, 'tmp')), [], 'no code is kept where another account could write it')
  write('scripts/other.ts', `console.log('other')`)
  assert.equal(start('scripts/other.ts'), 'other', 'what is not built runs as it is')
})
