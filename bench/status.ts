import { growth } from './checkout.ts'
import { paidOrders } from './fill.ts'
import { cycle, load, wire } from './load.ts'
import type { Result } from './report.ts'
import { WARM_UP_SECONDS, byTurns, medianOf, medians } from './rounds.ts'
import type { Shop, Stage } from './stage.ts'

const SECONDS = 3
const SECONDS_ALONE = 1
const ORDERS = 2000

/** GET …/status with the matching address, of paid orders with three files each. */
export async function measureStatus({ busy, shops, bare }: Stage): Promise<Result[]> {
  const asked = new Map<Shop, Buffer[]>()
  for (const shop of shops) {
    const orders = await paidOrders(shop.database, ORDERS)
    const path = ({ id, email }: { id: string; email: string }) =>
      `/api/checkout/${id}/status?email=${encodeURIComponent(email)}`
    await seemsRight(shop.service.port, path(orders[0]!))
    asked.set(
      shop,
      orders.map((order) => wire('GET', path(order))),
    )
  }
  const plain = (await paidOrders(busy.database, ORDERS)).map(({ id }) => wire('GET', `/orders/${id}`))
  const ask = (port: number, connections: number, seconds: number, requests: Buffer[]) =>
    load({ port, connections, seconds, next: cycle(requests), status: 200 })
  const askShop = (shop: Shop, connections: number, seconds: number) =>
    ask(shop.service.port, connections, seconds, asked.get(shop)!)
  for (const shop of shops) await askShop(shop, 32, WARM_UP_SECONDS)
  await ask(bare.port, 32, WARM_UP_SECONDS, plain)

  const rate = await byTurns({
    bare: async () => (await ask(bare.port, 32, SECONDS, plain)).rate,
    service: async () => (await askShop(busy, 32, SECONDS)).rate,
  })
  const p50 = await byTurns(
    Object.fromEntries(shops.map((shop) => [shop.orders, async () => (await askShop(shop, 1, SECONDS_ALONE)).p50Ms])),
  )
  return [
    {
      name: 'status: answers a second, of a bare route with one select',
      value: medianOf(rate, (round) => round.service! / round.bare!),
      least: 0.6,
      parts: medians(rate),
    },
    ...growth('status', shops, p50),
  ]
}

/** We measure the whole response. */
async function seemsRight(port: number, path: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  const { downloads = [] } = (await response.json()) as { downloads?: unknown[] }
  if (downloads.length !== 3) throw new Error('a paid order shows its three files, or this measures something else')
}
