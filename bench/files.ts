import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { newId } from '../src/kit/ids.ts'
import { hashOf, newToken } from '../src/kit/tokens.ts'
import { endChild, watch } from './children.ts'
import { paidOrders } from './fill.ts'
import type { Result } from './report.ts'
import { byTurns, medianOf, medians } from './rounds.ts'
import type { Stage } from './stage.ts'
import { query } from './world.ts'

const BARE = fileURLToPath(new URL('./bare-files.ts', import.meta.url))
const SIZE = 128 * 1024 ** 2
const MEGABYTE = 1024 ** 2
const PIECE = randomBytes(MEGABYTE)

/** The sizes of files for the measurement of memory, which must not depend on them. */
const LONG = 2 * 1024 ** 3
const MOST_AT_ONCE = 3

/** A file out and a file in, on the same disk as a program that does nothing else. */
export async function measureFiles({ world, busy }: Stage): Promise<Result[]> {
  const folder = path.join(world.dir, 'bare-files')
  fs.mkdirSync(folder)
  const child = watch(fork(BARE, [folder]))
  const [bare] = (await once(child, 'message')) as [number]
  const { port } = busy.service
  const [order] = await paidOrders(busy.database, 1)
  const [{ productId, sellerId } = { productId: '', sellerId: '' }] = await query<{
    productId: string
    sellerId: string
  }>(busy.database, 'select product_id as "productId", seller_id as "sellerId" from orders where id = $1', [order!.id])
  const token = newToken()
  await query(busy.database, `insert into sessions (id, token_hash, seller_id, method) values ($1, $2, $3, 'code')`, [
    newId('ses'),
    hashOf(token),
    sellerId,
  ])
  const mine = { cookie: `till_session=${token}`, origin: `http://127.0.0.1:${port}` }
  const tus = { ...mine, 'tus-resumable': '1.0.0' }

  const plain = async () => rate(await send(port, 'POST', `/api/products/${productId}/files?name=film.mkv`, mine))
  const resumable = async (size = SIZE) => {
    const metadata = `productId ${encoded(productId)},filename ${encoded('film.mkv')}`
    const begun = await send(port, 'POST', '/api/uploads', { ...tus, 'upload-length': String(size), 'upload-metadata': metadata }, 0) // oxfmt-ignore
    const headers = { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
    const sent = await send(port, 'PATCH', begun.headers.location!, headers, size)
    if (!sent.headers['till-file']) throw new Error('the upload did not become a file')
    return rate(sent)
  }
  await plain()
  await resumable()
  await send(bare, 'POST', '/film', {})
  const before = await busy.service.residentMb()
  const uploads = await byTurns({
    bare: async () => rate(await send(bare, 'POST', '/film', {})),
    plain,
    tus: () => resumable(),
  })
  const grown = (await busy.service.residentMb()) - before
  const comingMb = (await busy.service.peakMb(() => resumable(LONG))) - before

  const linkTo = async (size: number): Promise<string> => {
    const status = await fetch(
      `http://127.0.0.1:${port}/api/checkout/${order!.id}/status?email=${encodeURIComponent(order!.email)}`,
    )
    const { downloads } = (await status.json()) as { downloads: { url: string; size: number }[] }
    return new URL(downloads.findLast((file) => file.size === size)!.url).pathname
  }
  const link = await linkTo(SIZE)
  const down = await byTurns({
    bare: async () => rate(await send(bare, 'GET', '/film', {}, 0)),
    service: async () => rate(await send(port, 'GET', link, {}, 0)),
  })
  const long = await linkTo(LONG)
  const downloads = () => Promise.all(Array.from({ length: MOST_AT_ONCE }, () => send(port, 'GET', long, {}, 0)))
  const goingMb = (await busy.service.peakMb(downloads)) - before
  await endChild(child)
  return [
    { name: 'download: of a bare node:http file stream', value: medianOf(down, (round) => round.service! / round.bare!), least: 0.7, parts: medians(down) },
    { name: 'upload: of a bare stream to disk with SHA-256', value: medianOf(uploads, (round) => round.plain! / round.bare!), least: 0.5, parts: medians(uploads) },
    { name: 'upload by tus: of the same', value: medianOf(uploads, (round) => round.tus! / round.bare!), least: 0.5 },
    { name: 'more memory after 1.3 GB of uploads, MB', value: grown, most: 100 },
    { name: 'more memory while 2 GiB come by tus, at the most, MB', value: comingMb, most: 100 },
    { name: 'more memory while 2 GiB go out three times at once, at the most, MB', value: goingMb, most: 120 },
  ] // oxfmt-ignore
}

interface Sent {
  headers: http.IncomingHttpHeaders
  bytes: number
  seconds: number
}

const rate = ({ bytes, seconds }: Sent): number => Math.max(bytes, SIZE) / MEGABYTE / seconds
const encoded = (text: string): string => Buffer.from(text).toString('base64')

/** Sends this many bytes, and discards the response. */
async function send(
  port: number,
  method: string,
  address: string,
  headers: http.OutgoingHttpHeaders,
  length = SIZE,
): Promise<Sent> {
  const began = performance.now()
  const request = http.request({ port, host: '127.0.0.1', method, path: address, agent: false, headers: { ...headers, ...(method !== 'GET' && { 'content-length': length }) } }) // oxfmt-ignore
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
  for (let sent = 0; sent < length; sent += PIECE.length) if (!request.write(PIECE)) await once(request, 'drain')
  request.end()
  const [response] = await answered
  let bytes = 0
  for await (const chunk of response) bytes += (chunk as Buffer).length
  if (response.statusCode! >= 300) throw new Error(`${method} ${address} answered ${response.statusCode}`)
  return { headers: response.headers, bytes, seconds: (performance.now() - began) / 1000 }
}
