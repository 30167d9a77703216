import { once } from 'node:events'
import net from 'node:net'
import path from 'node:path'
import { atEnd } from '../support/ends.ts'
import { type Ends, temporaryFolder } from '../support/shop.ts'

/**
 * A connection to PostgreSQL that can be cut between any two packets, so that a transaction ends at any point, or is committed
 * without an answer.
 */
export async function startDatabaseProxy(t: Ends, databaseUrl: string) {
  const socketFolder = /@([^/:]*%2F[^/:]*)/i.exec(databaseUrl)?.[1]
  const url = new URL(socketFolder ? databaseUrl.replace(socketFolder, 'socket.invalid') : databaseUrl)
  const port = Number(url.port || 5432)
  const target: net.NetConnectOpts = socketFolder
    ? { path: `${decodeURIComponent(socketFolder)}/.s.PGSQL.${port}` }
    : { host: url.hostname.replace(/^\[|\]$/g, ''), port }
  const ends = new Set<net.Socket>()
  let packetsLeft = Infinity
  let dead = false
  let nearUrl: string

  const cut = () => {
    packetsLeft = Infinity
    for (const end of ends) end.destroy()
  }
  const server = net.createServer((near) => {
    if (dead) return void near.destroy()
    const far = net.connect(target)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from)
      from.on('data', (bytes) => {
        if (--packetsLeft < 0) return cut()
        to.write(bytes)
      })
      from.on('error', () => {})
      from.once('close', () => {
        ends.delete(from)
        to.destroy()
      })
    }
  })
  if (socketFolder) {
    // as the database itself: a packet over a socket of the file system is half the work of one over the network's
    const folder = await temporaryFolder(t)
    server.listen(path.join(folder, `.s.PGSQL.${port}`))
    await once(server, 'listening')
    nearUrl = databaseUrl.replace(socketFolder, encodeURIComponent(folder))
  } else {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`
    nearUrl = url.href
  }
  const die = () => {
    dead = true
    cut()
    if (server.listening) server.close()
  }
  atEnd(t, die)
  return {
    url: nearUrl,
    /** All connections end after this many more packets, in either direction; the next connections work. */
    cutAfter: (packets: number) => void (packetsLeft = packets),
    cut,
    /** The client at this end never reaches the database again. */
    die,
  }
}
