import fs from 'node:fs'
import path from 'node:path'
import { earlierPlace, isCluster } from './cluster.ts'
import { findPostmaster } from './pid-file.ts'
import { giveTo, type Place } from './place.ts'
import { inUse } from './postmaster.ts'

/**
 * Copies the database from its earlier place into the folder. It does not move it, because a copy of the folder has the same link, and
 * would take the database away from the original. Call it only while holding the folder.
 */
export function bringHome({ home, dataDir, account }: Place, log: (line: string) => void): void {
  const earlier = earlierPlace(home)
  if (isCluster(dataDir) || !earlier) return
  const there = path.join(earlier, 'data')
  if (!isCluster(there)) return
  if (findPostmaster(there)) throw inUse(earlier)
  log(`copying the database from ${earlier}, where an earlier version has put it`)
  // under this name, an unfinished copy is removed by the next start
  const fresh = path.join(home, `new-${process.pid}`)
  fs.rmSync(fresh, { recursive: true, force: true })
  fs.mkdirSync(fresh, { mode: 0o700 })
  const copy = path.join(fresh, 'data')
  fs.cpSync(there, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  for (const file of [...fs.readdirSync(copy, { recursive: true, encoding: 'utf8' }), '.']) {
    const at = path.join(copy, file)
    // cpSync sets no mode of folders
    fs.chmodSync(at, fs.statSync(path.join(there, file)).mode & 0o777)
    giveTo(account, at)
  }
  fs.renameSync(copy, dataDir)
  fs.rmSync(fresh, { recursive: true })
  log(
    `the database is in ${dataDir} now; the earlier copy in ${earlier} has buyers' data and is no longer used: remove it`,
  )
}
