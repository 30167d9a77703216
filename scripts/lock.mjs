// @ts-check
// One set-up at a time in a folder, on any system and any Node, and never stuck behind one that was killed.
import fs from 'node:fs'
import path from 'node:path'

const POLL_MS = 200
/** Between making a claim and writing the owner into it lie microseconds: an empty one this old has lost its owner. */
const EMPTY_CLAIM_MS = 5_000
const FREE = 'free'

/**
 * Waits until no other living process holds `folder`, then holds it until this process ends.
 *
 * The lock is the highest number in the folder. Who finds its owner gone makes the next number, which only one can. A
 * plain lock file cannot be taken from a dead owner safely: two that find it at once would each remove the other's new
 * one. Numbers never come back, so whoever was too slow finds a higher one than its own and withdraws.
 *
 * @param {string} folder
 * @param {() => void} onWait called once when it takes a while
 * @returns {{ share(pid: number): void }} `share` lets a child hold the lock too, so that it outlives a killed parent
 */
export function lock(folder, onWait) {
  fs.mkdirSync(folder, { recursive: true })
  for (let waited = 0; ; waited++) {
    const claim = take(folder)
    if (claim) {
      process.on('exit', () => fs.writeFileSync(claim, FREE))
      return { share: (pid) => fs.appendFileSync(claim, owner(pid)) }
    }
    if (waited === 10) onWait()
    sleep(POLL_MS)
  }
}

/** @param {string} folder @returns {string | undefined} the claim, when it is ours now */
function take(folder) {
  const highest = Math.max(0, ...claims(folder))
  if (highest > 0 && isHeld(path.join(folder, String(highest)))) return undefined
  const claim = path.join(folder, String(highest + 1))
  try {
    fs.writeFileSync(claim, owner(process.pid), { flag: 'wx' })
  } catch (error) {
    if (code(error) === 'EEXIST') return undefined
    throw error
  }
  const others = claims(folder).filter((number) => number !== highest + 1)
  if (others.some((number) => number > highest)) {
    fs.rmSync(claim, { force: true })
    return undefined
  }
  for (const number of others) fs.rmSync(path.join(folder, String(number)), { force: true })
  return claim
}

/** @param {string} folder */
const claims = (folder) => fs.readdirSync(folder).map(Number).filter(Number.isInteger)

/** @param {string} claim */
function isHeld(claim) {
  try {
    const text = fs.readFileSync(claim, 'utf8')
    if (text === '') return Date.now() - fs.statSync(claim).mtimeMs < EMPTY_CLAIM_MS
    return text !== FREE && text.trim().split('\n').some(isAlive)
  } catch (error) {
    if (code(error) === 'ENOENT') return true // somebody has just moved on to the next number: look again
    throw error
  }
}

/** @param {number} pid */
const owner = (pid) => `${pid} ${startedAt(pid)}\n`

/** @param {string} line */
function isAlive(line) {
  const [pid, started] = line.split(' ')
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    if (code(error) !== 'EPERM') return false
  }
  return startedAt(Number(pid)) === started
}

/**
 * After a restart of the machine or the container the same process number may be somebody else's.
 * @param {number} pid
 */
function startedAt(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return '' // no such file outside Linux: the number alone must do
  }
}

/** @param {unknown} error */
const code = (error) => /** @type {NodeJS.ErrnoException} */ (error).code

/** @param {number} ms */
const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
