import fs from 'node:fs'
import path from 'node:path'
import { neededBy } from '../../src/kit/migrate.ts'
import { Failure, output, outputOr, say, show } from './command.ts'

const SETUP = path.join('scripts', 'setup.mjs')

export interface Release {
  /** As it is called: a tag, or the beginning of a commit. */
  name: string
  commit: string
  /** The commit that is here now. */
  from: string
}

/** Fetches, and returns the release to change to. Undefined when it is here already. */
export function chooseRelease(to: string | undefined): Release | undefined {
  if (output('git', 'status', '--porcelain', '--untracked-files=no'))
    throw new Failure('Files of the program were changed here (git status): take the changes back first.')
  output('git', 'fetch', '--quiet', '--tags')
  const from = output('git', 'rev-parse', 'HEAD')
  const name = to ?? newestTag() ?? upstream()
  const commit = outputOr('git', 'rev-parse', '--verify', '--quiet', `${name}^{commit}`)
  if (!commit) throw new Failure(`There is no release ${name}.`)
  if (commit === from) return undefined
  if (outputOr('git', 'merge-base', '--is-ancestor', from, commit) === undefined) {
    // the newest tag is behind a clone of the branch
    if (!to && outputOr('git', 'merge-base', '--is-ancestor', commit, from) !== undefined) return undefined
    throw new Failure(
      `${name} does not come after the present commit ${from.slice(0, 12)}: name a later release with --to.`,
    )
  }
  return { name: name.startsWith('origin/') ? commit.slice(0, 12) : name, commit, from }
}

const newestTag = (): string | undefined =>
  output('git', 'tag', '--list', 'v*', '--sort=-version:refname').split('\n')[0] || undefined

function upstream(): string {
  const branch = outputOr('git', 'rev-parse', '--abbrev-ref', '@{upstream}')
  if (!branch) throw new Failure('This clone follows no branch: name the release with --to.')
  return branch
}

/** Puts the release into a folder beside the running one, with its packages and pages. The service runs meanwhile, so it may take long. */
export function prepareRelease({ name, commit }: Release, work: string): void {
  const next = path.join(work, 'next')
  fs.rmSync(next, { recursive: true, force: true })
  fs.mkdirSync(next, { recursive: true })
  const archive = path.join(work, 'next.tar')
  output('git', 'archive', '--format=tar', '--output', archive, commit)
  output('tar', '-xf', archive, '-C', next)
  fs.rmSync(archive)
  // the packages that are here are shared when they are those of the new release
  const isInstalled = show(process.execPath, [SETUP, 'start', '--is-installed'])
  if (isInstalled && ['package.json', 'package-lock.json'].every((file) => isSame(file, path.join(next, file))))
    fs.symlinkSync(path.resolve('node_modules'), path.join(next, 'node_modules'), 'junction')
  if (!show(process.execPath, [SETUP, 'start'], { cwd: next }))
    throw new Failure(`${name} could not be set up, see above: nothing was changed.`)
  const contracting = fs.readdirSync(path.join(next, 'schema')).find((file) => {
    const needs = neededBy(fs.readFileSync(path.join(next, 'schema', file), 'utf8'))
    return (
      needs !== undefined &&
      !fs.existsSync(path.join('schema', file)) &&
      !fs.existsSync(path.join('schema', `${needs}.sql`))
    )
  })
  if (contracting)
    say(
      `Once ${name} has started, only a backup leads back: its migration ${contracting} takes away what the present release uses.`,
    )
}

const isSame = (one: string, other: string) => fs.readFileSync(one).equals(fs.readFileSync(other))
