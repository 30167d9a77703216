// @ts-check
import fs from 'node:fs'

/** proc_pid_stat(5) counts in these on every machine that Node runs on. */
const TICKS_A_SECOND = 100

/** Of this process and of all that it started and that have ended. Only Linux has this file; `)` ends the program's name in it. */
export function cpuSeconds() {
  const file = '/proc/self/stat'
  if (!fs.existsSync(file)) return undefined
  const [, after = ''] = fs.readFileSync(file, 'utf8').split(/\) (?=\S )/)
  const ticks = after.split(' ').slice(11, 15).map(Number)
  return Math.round(ticks.reduce((sum, one) => sum + one, 0) / TICKS_A_SECOND)
}
