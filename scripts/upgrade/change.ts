import fs from 'node:fs'
import path from 'node:path'
import { Failure, failureOf, output } from './command.ts'
import type { Release } from './release.ts'

/** The folders of a release beside its files in git. */
const MADE = ['node_modules', 'dist', 'programs']
const FROM = 'from'
const BEFORE = 'before'

/** Whether a change was begun and neither kept nor taken back. */
export const isBrokenOff = (work: string): boolean => fs.existsSync(path.join(work, FROM))

/** Why git would refuse the change, or undefined when it would not: a file in the way of the new release, or a lock. Changes nothing. */
export const whyRefused = ({ commit }: Release): string | undefined =>
  failureOf(() => output('git', 'read-tree', '-n', '-m', '-u', 'HEAD', commit))

/** Puts the prepared release in the place of the present one, in moments. After a kill between two lines, `goBack` undoes those before. */
export function changeTo({ commit, from }: Release, work: string): void {
  const [next, before] = [path.join(work, 'next'), path.join(work, BEFORE)]
  fs.rmSync(before, { recursive: true, force: true })
  fs.mkdirSync(before)
  const [unfinished, mark] = [path.join(work, `${FROM}.part`), path.join(work, FROM)]
  // a full disk must not leave an empty one
  fs.writeFileSync(unfinished, from, { flush: true })
  fs.renameSync(unfinished, mark)
  output('git', 'reset', '--quiet', '--keep', commit)
  for (const name of MADE) {
    const prepared = path.join(next, name)
    // the packages are the same ones, or the release is one from before the programs were built
    if (fs.lstatSync(prepared, { throwIfNoEntry: false })?.isSymbolicLink() ?? name === 'programs') continue
    // an earlier release did not build all of them
    if (fs.existsSync(name)) fs.renameSync(name, path.join(before, name))
    fs.renameSync(prepared, name)
  }
}

/** Puts back the release that was here before `changeTo`, as far as that came. */
export function goBack(work: string): void {
  if (!isBrokenOff(work)) return
  const from = fs.readFileSync(path.join(work, FROM), 'utf8')
  const refusal = failureOf(() => output('git', 'reset', '--quiet', '--hard', from))
  // what refused the change refuses this too, also where git has changed nothing or has put all files back
  if (refusal && !isHere(from)) throw new Failure(refusal)
  for (const name of MADE) {
    const earlier = path.join(work, BEFORE, name)
    if (!fs.existsSync(earlier)) continue
    fs.rmSync(name, { recursive: true, force: true })
    fs.renameSync(earlier, name)
  }
  forget(work)
}

const isHere = (commit: string): boolean =>
  output('git', 'rev-parse', 'HEAD') === commit && !output('git', 'status', '--porcelain', '--untracked-files=no')

/** Removes what the way back needs: the release that is here stays. */
export function forget(work: string): void {
  fs.rmSync(path.join(work, FROM), { force: true })
  for (const name of ['next', BEFORE]) fs.rmSync(path.join(work, name), { recursive: true, force: true })
}
