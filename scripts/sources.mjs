// @ts-check
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

// Which program is here. It runs on Node 18, and needs no package.

/** @param {string} folder @returns {string[]} in an order that does not depend on the file system */
export function filesBelow(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const at = path.join(folder, entry.name)
      return entry.isDirectory() ? filesBelow(at) : [at]
    })
}

/** @param {(string | Buffer)[]} parts */
export function hash(...parts) {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part).update('\0')
  return sum.digest('hex').slice(0, 16)
}

/** Where the programs of exactly these sources are built, below `root`. The folder has its name when all of it is there. */
export function folderOfPrograms(root = '.') {
  const sources = ['src', 'scripts'].flatMap((folder) => filesBelow(path.join(root, folder)))
  const used = sources.filter((file) => /(?<!\.test)\.(?:ts|mjs)$/.test(file))
  const parts = [path.join(root, 'package-lock.json'), ...used].flatMap((file) => [
    path.relative(root, file),
    fs.readFileSync(file),
  ])
  return path.join(root, 'programs', hash(...parts))
}
