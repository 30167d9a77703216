import fs from 'node:fs'
import { Failure, say, shownStatus } from './command.ts'

/** The exit status of `npm run backup` when only files are missing in it. */
const WITHOUT_FILES = 3

/** Backs up with the present release's own command, while it runs. Says so when there is none. */
export function backUp(): void {
  const { scripts } = JSON.parse(fs.readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const { BACKUP_URL, BACKUP_URL_FILE } = process.env
  const place = (BACKUP_URL || (BACKUP_URL_FILE && fs.readFileSync(BACKUP_URL_FILE, 'utf8')))?.trim()
  if (!place || place === 'none' || !scripts['backup']) {
    return say(`BACKUP_URL is ${place === 'none' ? 'none' : 'not set'}: there is NO BACKUP from before this upgrade.`)
  }
  const status = shownStatus('npm', ['run', 'backup'], { shell: process.platform === 'win32' })
  if (status === WITHOUT_FILES)
    return say('The database is in the backup. The upgrade changes no files, so it goes on.')
  if (status !== 0) throw new Failure('The backup failed, see above: nothing was changed.')
}
