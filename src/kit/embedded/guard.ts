import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'

/** A process cannot see the process numbers of other containers. Only Linux has such containers. */
const NEEDED = process.platform === 'linux'
const NAME = /^guard-[0-9a-f]+$/
/** The errors of connecting to a socket on which no process listens. Any other error, such as a full queue, means that one does. */
const NO_LISTENER = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTDIR'])

export interface Guard {
  close(): void
}

/**
 * Marks `folder` as in use by listening on a socket in it. Returns undefined while another process does so. We cannot see the number
 * of a process in another container on the same volume. But its socket answers every process on the same kernel, and stops
 * answering as soon as the process has ended in any way.
 *
 * Each process first listens and then asks the others, so at least one of two processes sees the other. When both see each other,
 * both give up, and the callers try again.
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

/** Whether a running process guards `folder` by a socket other than `own`. Removes the sockets of ended processes. */
export async function isGuarded(folder: string, own?: string): Promise<boolean> {
  if (!NEEDED || !fs.existsSync(folder)) return false
  const handle = fs.openSync(folder, fs.constants.O_DIRECTORY)
  try {
    for (const name of fs.readdirSync(folder).filter((one) => NAME.test(one) && one !== own)) {
      if (await isAnswered(socketIn(handle, name))) return true
      // Names are never reused. If we remove a socket before its process listens on it, that process asks us next.
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
    return !NO_LISTENER.has((error as NodeJS.ErrnoException).code ?? '')
  } finally {
    socket.destroy()
  }
}

/** Reaches the socket through an open handle, because its address has room for 107 bytes and the folder's path may be longer. */
const socketIn = (handle: number, name: string) => `/proc/self/fd/${handle}/${name}`
