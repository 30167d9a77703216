import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The release before this one while no release has a tag. */
const BEFORE_TAGS = '4ebc32693cc59b9a23aeb2065bf358abc340aa8b'

export interface Release {
  /** The tag or commit. */
  name: string
  /** Its src/main.ts. */
  main: string
}

/**
 * Puts the program of the release before this one into `folder`: the newest earlier tag's, or else the commit's above. Undefined
 * where the history is missing, as in an archive or a shallow clone.
 */
export function previousRelease(folder: string, name = nameOfPrevious()): Release | undefined {
  if (!name) return undefined
  const archive = path.join(folder, 'release.tar')
  if (git('archive', '--output', archive, name) === undefined) return undefined
  run(folder, 'tar', '-xf', archive)
  fs.rmSync(archive)
  const modules = path.join(folder, 'node_modules')
  // mostly it needs the same packages as this version
  if (hasAll(folder)) fs.symlinkSync(path.join(ROOT, 'node_modules'), modules)
  else run(folder, 'npm', 'ci', '--omit=dev', '--no-audit', '--no-fund')
  run(folder, process.execPath, path.join(modules, 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'warn')
  const programs = path.join(folder, 'scripts', 'programs.mjs')
  if (fs.existsSync(programs)) run(folder, process.execPath, programs)
  return { name, main: path.join(folder, 'src', 'main.ts') }
}

function nameOfPrevious(): string | undefined {
  // a commit that has a tag itself is compared with the one before
  const tag = git('describe', '--tags', '--abbrev=0', 'HEAD^')
  return tag ?? (git('cat-file', '-e', `${BEFORE_TAGS}^{commit}`) === undefined ? undefined : BEFORE_TAGS)
}

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

function run(cwd: string, program: string, ...args: string[]): void {
  const { status, error, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
}

/** Whether our packages are all that the release in `folder` needs, in its versions. */
function hasAll(folder: string): boolean {
  const versions: Record<string, string> = readJson(path.join(folder, 'package.json')).dependencies
  return Object.entries(versions).every(([name, version]) => {
    const file = path.join(ROOT, 'node_modules', name, 'package.json')
    return fs.existsSync(file) && readJson(file).version === version
  })
}

const readJson = (file: string) => JSON.parse(fs.readFileSync(file, 'utf8'))
