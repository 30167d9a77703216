import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 100

export interface Balancer {
  port: number
  /** From now on it knows the instances at these ports, and sends connections to those that are ready. */
  use(ports: readonly number[]): void
  /** Returns when all instances are ready. */
  ready(): Promise<void>
  /** How many requests had no answer when their instance closed the connection, or found no instance that was ready. */
  lost(): number
  stop(): void
}

/** The database took long on a machine with other work, which tells nothing about an instance that is replaced. */
const isSlow = (answer: Response | undefined, text: string | undefined) =>
  answer?.status === 503 && text?.includes('"database_unavailable"') === true

/** Passes connections to the instances in turn, as a proxy does that checks `/readyz`. */
export async function startBalancer(): Promise<Balancer> {
  const instances = new Map<number, boolean>()
  const sockets = new Set<net.Socket>()
  let turn = 0
  let lost = 0
  const look = async (port: number) => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    const text = await answer?.text().catch(() => undefined)
    if (!instances.has(port)) return
    instances.set(port, answer?.status === 200 || (instances.get(port) === true && isSlow(answer, text)))
  }
  const looking = setInterval(() => {
    for (const port of instances.keys()) void look(port)
  }, LOOK_MS)

  const server = net.createServer((client) => {
    const ready = [...instances].filter(([, isReady]) => isReady).map(([port]) => port)
    if (ready.length === 0) {
      lost++
      return void client.destroy()
    }
    const instance = net.connect(ready[turn++ % ready.length]!, '127.0.0.1')
    let isAsked = false
    client.on('data', () => (isAsked = true))
    instance.on('data', () => (isAsked = false))
    // a client that ends first has given up its request
    client.on('end', () => (isAsked = false))
    const onEnd = () => {
      if (isAsked && !client.destroyed) lost++
      isAsked = false
    }
    instance.on('end', onEnd).on('error', onEnd)
    for (const [one, other] of [
      [client, instance],
      [instance, client],
    ] as const) {
      sockets.add(one)
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.on('error', () => {})
      one.pipe(other)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    use(ports) {
      for (const port of instances.keys()) if (!ports.includes(port)) instances.delete(port)
      for (const port of ports) if (!instances.has(port)) instances.set(port, false)
    },
    async ready() {
      while (![...instances.values()].every(Boolean)) await sleep(LOOK_MS)
    },
    lost: () => lost,
    stop() {
      clearInterval(looking)
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
