// @ts-check
// A lock that admits one process at a time to a folder, on any system and any Node. A killed process never blocks it. It is plain
// JavaScript without packages, because the set-up uses it before anything is installed.
import fs from 'node:fs'
import path from 'node:path'

const POLL_MS = 200
/** A process writes its name into a claim microseconds after making it. An empty claim of this age has lost its owner. */
const EMPTY_CLAIM_MS = 5_000
const FREE = 'free'

/**
 * Waits until no other running process holds `folder`, then holds it until this process ends.
 *
 * @param {string} folder
 * @param {() => void} onWait called once when the wait takes a while
 * @returns {{ share(pid: number): void }} `share` lets a child hold the lock too, so that it outlives a killed parent
 */
export function lock(folder, onWait) {
  for (let waited = 0; ; waited++) {
    const held = tryLock(folder)
    if (held) return held
    if (waited === 10) onWait()
    sleep(POLL_MS)
  }
}

/**
 * Holds `folder` until `release`, or until this process ends. Returns undefined while another running process holds it.
 *
 * The lock is the file with the highest number in the folder. When its owner has ended, a process makes the file with the next
 * number, which only one process can do. A single lock file would not be safe to take over: two processes that find its owner dead
 * would each remove the other's new file. Numbers are never reused, so a process that was too slow finds a higher number than its
 * own and gives up.
 *
 * @param {string} folder
 * @returns {{ share(pid: number): void, release(): void } | undefined}
 */
export function tryLock(folder) {
  fs.mkdirSync(folder, { recursive: true })
  const claim = take(folder)
  if (!claim) return undefined
  const free = () => fs.existsSync(claim) && fs.writeFileSync(claim, FREE)
  process.on('exit', free)
  return {
    share: (pid) => fs.appendFileSync(claim, owner(pid, folder)),
    release() {
      process.off('exit', free)
      free()
    },
  }
}

/** The process that holds `folder`, if it is in this container. @param {string} folder @returns {number | undefined} */
export function holderOf(folder) {
  try {
    const text = fs.readFileSync(path.join(folder, String(Math.max(...claims(folder)))), 'utf8')
    const living = text.split('\n').find((line) => line !== FREE && isAlive(line, folder))
    return Number.parseInt(living ?? '', 10) || undefined
  } catch {
    return undefined
  }
}

/** @param {string} folder @returns {string | undefined} the path of our claim, or undefined when another process holds the folder */
function take(folder) {
  const highest = Math.max(0, ...claims(folder))
  if (highest > 0 && isHeld(folder, String(highest))) return undefined
  const claim = path.join(folder, String(highest + 1))
  try {
    fs.writeFileSync(claim, owner(process.pid, folder), { flag: 'wx' })
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

/** @param {string} folder @param {string} number */
function isHeld(folder, number) {
  const claim = path.join(folder, number)
  try {
    const text = fs.readFileSync(claim, 'utf8')
    if (text === '') return Date.now() - fs.statSync(claim).mtimeMs < EMPTY_CLAIM_MS
    return (
      text !== FREE &&
      text
        .trim()
        .split('\n')
        .some((line) => isAlive(line, folder))
    )
  } catch (error) {
    if (code(error) === 'ENOENT') return true // another process has just made the next number, so the caller looks again
    throw error
  }
}

/**
 * Names a process and the folder that it holds. In a copy of the folder the line is not valid.
 * @param {number} pid @param {string} folder
 */
const owner = (pid, folder) => `${pid} ${startedAt(pid)} ${fs.statSync(folder).ino}\n`

/** @param {string} line @param {string} folder */
function isAlive(line, folder) {
  const [pid = '', started, inode] = line.split(' ')
  if (inode !== undefined && inode !== String(fs.statSync(folder).ino)) return false
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    if (code(error) !== 'EPERM') return false
  }
  return startedAt(Number(pid)) === started
}

/**
 * The start time tells apart processes with the same number, which are common after a restart of the machine or the container. An
 * ended process that its parent has not noticed yet (a zombie) holds nothing.
 * @param {number} pid
 */
function startedAt(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? 'ended' : (rest[18] ?? '')
  } catch {
    return '' // outside Linux there is no such file, and the number alone is compared
  }
}

/** @param {unknown} error */
const code = (error) => /** @type {NodeJS.ErrnoException} */ (error).code

/** @param {number} ms */
const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
