import fs from 'node:fs'
import path from 'node:path'
import { output } from './command.ts'
import type { Release } from './release.ts'

/** The folders of a release beside its files in git. */
const MADE = ['node_modules', 'dist', 'programs']
const FROM = 'from'
const BEFORE = 'before'

export interface Way {
  /** The new release stays: the files for the way back are removed. */
  keep(): void
}

/** Whether a change was begun and neither kept nor taken back. */
export const isBrokenOff = (work: string): boolean => fs.existsSync(path.join(work, FROM))

/** Puts the prepared release in the place of the present one, in moments. After a kill between two lines, `goBack` undoes those before. */
export function changeTo({ commit, from }: Release, work: string): Way {
  const [next, before] = [path.join(work, 'next'), path.join(work, BEFORE)]
  fs.rmSync(before, { recursive: true, force: true })
  fs.mkdirSync(before)
  fs.writeFileSync(path.join(work, FROM), from, { flush: true })
  output('git', 'reset', '--quiet', '--keep', commit)
  for (const name of MADE) {
    const prepared = path.join(next, name)
    // the packages are the same ones, or the release is one from before the programs were built
    if (fs.lstatSync(prepared, { throwIfNoEntry: false })?.isSymbolicLink() ?? name === 'programs') continue
    // an earlier release did not build all of them
    if (fs.existsSync(name)) fs.renameSync(name, path.join(before, name))
    fs.renameSync(prepared, name)
  }
  return { keep: () => forget(work) }
}

/** Puts back the release that was here before `changeTo`. */
export function goBack(work: string): void {
  output('git', 'reset', '--quiet', '--hard', fs.readFileSync(path.join(work, FROM), 'utf8'))
  for (const name of MADE) {
    const earlier = path.join(work, BEFORE, name)
    if (!fs.existsSync(earlier)) continue
    fs.rmSync(name, { recursive: true, force: true })
    fs.renameSync(earlier, name)
  }
  forget(work)
}

function forget(work: string): void {
  fs.rmSync(path.join(work, FROM), { force: true })
  for (const name of ['next', BEFORE]) fs.rmSync(path.join(work, name), { recursive: true, force: true })
}
