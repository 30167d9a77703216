import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/shop.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Commands that can run beside the service, perhaps after a `git pull` whose packages are not installed yet. */
const BESIDE = ['operator', 'doctor', 'reconcile', 'recall', 'trust', 'adopt', 'upgrade', 'upgrade-database']

test('a command that can run beside the service removes no package', async (t) => {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const copy = await temporaryFolder(t)
  for (const file of ['scripts/setup.mjs', 'src/kit/lock.mjs']) {
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
