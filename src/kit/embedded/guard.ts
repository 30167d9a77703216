import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'

/** Process numbers end at their container, and Linux alone has such containers. */
const NEEDED = process.platform === 'linux'
const NAME = /^guard-[0-9a-f]+$/
/** What connecting says where no process listens. Everything else, such as a full queue, means that one does. */
const NOBODY = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTDIR'])

export interface Guard {
  close(): void
}

/**
 * Marks `folder` as in use by a socket that this process listens on; undefined while another process does. A process in another
 * container on the same volume is not seen by its number, but its socket answers everybody on the same kernel, and is silent
 * once the process has ended, however it ended.
 *
 * Each process listens first and asks the others then, so of two at least one sees the other. Both may, and then both withdraw:
 * the caller tries again.
 */
export async function standGuard(folder: string): Promise<Guard | undefined> {
  if (!NEEDED) return { close: () => {} }
  const name = `guard-${randomBytes(8).toString('hex')}`
  const handle = fs.openSync(folder, fs.constants.O_DIRECTORY)
  const server = net.createServer((socket) => socket.destroy()).unref()
  server.once('close', () => fs.closeSync(handle))
  const close = () => {
    server.close()
    fs.rmSync(path.join(folder, name), { force: true })
  }
  try {
    await once(server.listen(socketIn(handle, name)), 'listening')
    if (!(await isGuarded(folder, name))) return { close }
  } catch (error) {
    if (server.listening) close()
    else fs.closeSync(handle)
    throw error
  }
  close()
  return undefined
}

/** Whether a living process guards `folder`, other than by the socket `own`. Removes the sockets of those that have ended. */
export async function isGuarded(folder: string, own?: string): Promise<boolean> {
  if (!NEEDED || !fs.existsSync(folder)) return false
  const handle = fs.openSync(folder, fs.constants.O_DIRECTORY)
  try {
    for (const name of fs.readdirSync(folder).filter((one) => NAME.test(one) && one !== own)) {
      if (await isAnswered(socketIn(handle, name))) return true
      // No name comes twice. One that is removed between its making and its listening belongs to a process that asks us next
      fs.rmSync(path.join(folder, name), { force: true })
    }
    return false
  } finally {
    fs.closeSync(handle)
  }
}

/** Whether a process listens on this Unix socket, in this container or in another. */
export async function isAnswered(socketFile: string): Promise<boolean> {
  const socket = net.connect(socketFile)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    return !NOBODY.has((error as NodeJS.ErrnoException).code ?? '')
  } finally {
    socket.destroy()
  }
}

/** A socket's address has room for 107 bytes, and the folder's path may be longer. */
const socketIn = (handle: number, name: string) => `/proc/self/fd/${handle}/${name}`
