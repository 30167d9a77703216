import fs from 'node:fs'
import { Failure, say, show } from './command.ts'

/** Backs up with the present release's own command, while it runs. Says so when there is none. */
export function backUp(): void {
  const { scripts } = JSON.parse(fs.readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  if (!(process.env['BACKUP_URL'] || process.env['BACKUP_URL_FILE']) || !scripts['backup']) {
    return say('BACKUP_URL is not set: there is NO BACKUP from before this upgrade.')
  }
  if (!show('npm', ['run', 'backup'], { shell: process.platform === 'win32' }))
    throw new Failure('The backup failed, see above: nothing was changed.')
}
