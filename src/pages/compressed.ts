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
  br: (text: string) =>
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text: string) => promisify(gzip)(text),
}
type Encoding = keyof typeof ENCODINGS

/**
 * Shows pages compressed. To compress the payment page takes ten times as long as everything else about it, and it is the same for all
 * buyers of a product, so each page with the same data is compressed once.
 */
export function pageShower(): (page: Page, reply: FastifyReply, fill: Fill) => Promise<string | Buffer> {
  // the least recently shown comes first
  const kept = new Map<string, Promise<Buffer>>()
  const compressed = (key: string, encoding: Encoding, render: () => string): Promise<Buffer> => {
    const known = kept.get(key)
    const bytes = known ?? ENCODINGS[encoding](render())
    kept.delete(key)
    kept.set(key, bytes)
    if (known) return known
    bytes.catch(() => kept.delete(key))
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
    return bytes
  }
  return async (page, reply, fill) => {
    reply.header('content-security-policy', page.policy)
    const encoding = negotiator<Encoding>(reply.request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
    if (!encoding) return page.render(fill)
    reply.header('content-encoding', encoding)
    reply.header('vary', [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', '))
    return compressed(`${page.id} ${encoding} ${JSON.stringify(fill)}`, encoding, () => page.render(fill))
  }
}
