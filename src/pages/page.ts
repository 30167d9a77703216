import type { FastifyReply } from 'fastify'
import type { Server } from '../kit/http.ts'
import type { Fill, Page } from './html.ts'

/** A page at its address, with how long browsers may keep it. */
export function page(
  server: Server,
  url: string,
  answer: (query: Record<string, unknown>, reply: FastifyReply) => Promise<string | Buffer> | FastifyReply,
  caching: string,
): void {
  server.get(url, { schema: { hide: true } }, async (request, reply) => {
    reply.type('text/html; charset=utf-8').header('cache-control', caching)
    return answer(request.query as Record<string, unknown>, reply)
  })
  // each page has one address, so that relative links and saved addresses agree
  if (url !== '/') {
    server.get(url.slice(0, -1), { schema: { hide: true } }, async (request, reply) =>
      reply.redirect(`${url}${request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''}`, 308),
    )
  }
}

/** Shows a page that is not shown again with the same data. */
export function showOnce(shown: Page, reply: FastifyReply, fill: Fill): string {
  reply.header('content-security-policy', shown.policy)
  return shown.render(fill)
}
