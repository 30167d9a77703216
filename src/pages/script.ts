import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { Server } from '../kit/http.ts'
import { onceCompressed } from './compressed.ts'

/** The addresses of the script that sellers put into their own pages, and its hash for the attribute `integrity`. */
async function tillScript(dist: string) {
  const bytes = await fs.readFile(path.join(dist, 'till.js'))
  const version = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  const integrity = `sha384-${createHash('sha384').update(bytes).digest('base64')}`
  return { bytes, latest: '/till.js', versioned: `/till-${version}.js`, integrity }
}

/**
 * Serves the script at two addresses: `/till.js` changes with a release, and `/till-<version>.js` never does. A page that
 * names the version of an earlier release gets no script, and its link opens the checkout as any link does.
 */
export async function scriptRoutes(server: Server, dist: string): Promise<void> {
  const { bytes, latest, versioned } = await tillScript(dist)
  const compressed = onceCompressed()
  for (const [url, caching] of [
    [latest, 'public, max-age=3600'],
    [versioned, 'public, max-age=31536000, immutable'],
  ] as const)
    // a browser compares the hash only of a script that any origin may read
    server.get(url, { config: { anyOrigin: true }, schema: { hide: true } }, async (_request, reply) => {
      reply.type('text/javascript; charset=utf-8').header('cache-control', caching)
      return compressed(reply, 'till.js', () => bytes)
    })
}
