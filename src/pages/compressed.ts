import negotiator from '@fastify/accept-negotiator'
import type { FastifyReply } from 'fastify'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Fill, Page } from './html.ts'

/** Text compresses to a quarter at this level. The highest levels hardly save more, and take much longer. */
export const BROTLI_QUALITY = 5
/** About 20 kB each. A page beyond the most is compressed again when it is asked for. */
const MOST_KEPT = 300

const ENCODINGS = {
  br: (bytes: string | Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: string | Buffer) => promisify(gzip)(bytes),
}
type Encoding = keyof typeof ENCODINGS

/**
 * Shows pages compressed. To compress the payment page takes ten times as long as everything else about it, and it is the same for all
 * buyers of a product, so each page with the same data is compressed once.
 */
export function pageShower(): (page: Page, reply: FastifyReply, fill: Fill) => Promise<string | Buffer> {
  const compressed = onceCompressed()
  return async (page, reply, fill) => {
    reply.header('content-security-policy', page.policy)
    return compressed(reply, `${page.id} ${JSON.stringify(fill)}`, () => page.render(fill))
  }
}

/** Returns the text of `render` in the encoding of the request, and keeps it by its key, which names its content. */
export function onceCompressed() {
  // the least recently shown comes first
  const kept = new Map<string, Promise<Buffer>>()
  const compressed = (key: string, encoding: Encoding, render: () => string | Buffer): Promise<Buffer> => {
    const known = kept.get(key)
    const bytes = known ?? ENCODINGS[encoding](render())
    kept.delete(key)
    kept.set(key, bytes)
    if (known) return known
    bytes.catch(() => kept.delete(key))
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
    return bytes
  }
  return async (reply: FastifyReply, key: string, render: () => string | Buffer): Promise<string | Buffer> => {
    const encoding = negotiator<Encoding>(reply.request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
    if (!encoding) return render()
    reply.header('content-encoding', encoding)
    reply.header('vary', [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', '))
    return compressed(`${encoding} ${key}`, encoding, render)
  }
}
