import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'

/**
 * A free port below those that systems give to outgoing connections. While a service is away, a connection to
 * it could otherwise be given its port, and then even connects to itself.
 */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const probe = net.createServer()
    const isFree = await once(probe.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
