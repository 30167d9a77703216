import fs from 'node:fs'
import path from 'node:path'

/** This file says that segments are missing in the log: only a copy of the whole database that begins later leads to its newest state. */
const markOf = (walFolder: string) => path.join(walFolder, 'gap')

/** Marks a gap. The new mark replaces the former one, which this process cannot write to if root has made it, as in an upgrade. */
export function markGap(walFolder: string): void {
  const fresh = `${markOf(walFolder)}.${process.pid}`
  fs.rmSync(fresh, { force: true })
  fs.writeFileSync(fresh, '', { flush: true })
  fs.renameSync(fresh, markOf(walFolder))
}

/** When the last gap came. Undefined: the log has none since the last copy. */
export const gapOf = (walFolder: string): number | undefined =>
  fs.statSync(markOf(walFolder), { throwIfNoEntry: false })?.mtimeMs

export const endGap = (walFolder: string): void => fs.rmSync(markOf(walFolder), { force: true })

/**
 * Makes the folder of the log, with the mark, unless it is there. It gets its name last: a process that is killed in between would otherwise
 * leave a folder without the mark, and the next start would take the log for whole.
 */
export function makeWalFolder(walFolder: string): void {
  if (fs.existsSync(walFolder)) return
  const unfinished = `${walFolder}.unfinished`
  fs.mkdirSync(unfinished, { recursive: true, mode: 0o700 })
  markGap(unfinished)
  fs.renameSync(unfinished, walFolder)
}
