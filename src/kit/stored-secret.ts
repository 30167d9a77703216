import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { folderProblem } from './cannot-start.ts'

/** The secret of a service without SECRET. It is made once and stored beside the data. */
export function storedSecret(file: string): string {
  try {
    return readOrMake(file)
  } catch (error) {
    throw folderProblem('DATA_DIR', path.dirname(file), error)
  }
}

function readOrMake(file: string): string {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o711 })
  try {
    fs.writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return fs.readFileSync(file, 'utf8').trim()
}
