import type { FastifyReply } from 'fastify'
import { createHash } from 'node:crypto'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { type Description, describeApi } from './api/description.ts'
import { withNamedSchemas } from './api/named-schemas.ts'
import { docsMarkdown } from './api/markdown.ts'
import { docsPages } from './api/page.ts'
import { STYLE } from './api/style.ts'

/** The parts of the API, in the order of the document. */
const TAGS = [
  { name: 'Checkout', description: 'For buyers, and for sites that sell to them.' },
  { name: 'Withdrawals', description: 'For the page on which a buyer withdraws from a contract.' },
  { name: 'Charges', description: 'For the page that finds the order behind a charge.' },
  { name: 'Library', description: 'For the page that shows a buyer all their orders.' },
  { name: 'Products', description: 'The seller’s products and their files.' },
  { name: 'Tax', description: 'The seller’s tax profile and the tax report. The service files nothing.' },
  { name: 'Brand', description: 'How the seller’s shop looks to buyers. Needs the session cookie.' },
  { name: 'Orders', description: 'The seller’s orders and refunds.' },
  { name: 'Money', description: 'The seller’s balance, transfers and statistics.' },
  { name: 'Discounts', description: 'The seller’s discount codes.' },
  { name: 'Sites', description: 'The seller’s own sites, which may frame the checkout. Needs the session cookie.' },
  { name: 'Keys', description: 'The API keys of the seller’s programs, and what they have changed.' },
  { name: 'Webhooks', description: 'What happened, sent to the seller’s program.' },
  { name: 'Invoices', description: 'Invoices, credit notes and corrected invoices of a seller.' },
  { name: 'Payouts', description: 'Where a seller’s money goes, and how it gets there.' },
  { name: 'Agents', description: 'What a program proposes, and the seller decides with the session cookie.' },
  { name: 'Sign-in', description: 'Sign-in, sessions and the account of a seller. Needs the session cookie.' },
  { name: 'Sandbox', description: 'Plays the bank where no real money moves.' },
  {
    name: 'Operator',
    description:
      'For the operators, whose mailboxes `OPERATORS` names, with the session cookie. For everybody else these addresses do not exist: 404 `not_found`.',
  },
  { name: 'Operation', description: 'For the operator of the service.' },
]

/** The head of the API description; the rest comes from the schemas of the routes. */
export const apiDescription = (baseUrl: string, sessionCookie: string) => ({
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Till',
      version: '1.0.0',
      description:
        'Checkout for digital products. Amounts are integer minor units. Every error is a problem (RFC 9457) with a stable `code`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    security: [],
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey' as const,
          in: 'cookie' as const,
          name: sessionCookie,
          description:
            'Signing in sets this cookie. Requests that change something are accepted only from our own pages.',
        },
        apiKey: {
          type: 'http' as const,
          scheme: 'bearer',
          bearerFormat: 'till_live_… or till_test_…',
          description:
            'An API key of a seller, which `POST /api/keys` makes. A route names the scopes of which the key needs one. No cookie may come with it. `RateLimit-Limit` and `RateLimit-Remaining` say how many requests the key may make in a minute.',
        },
      },
    },
    tags: [...TAGS],
  },
  // budgets, allowed origins and streamed bodies are options of the route and not in its schema
  transform: <Kept extends object>({
    schema,
    url,
    route,
  }: {
    schema: Kept
    url: string
    route: { config?: { anyOrigin?: boolean; unmetered?: boolean } }
  }) => ({
    schema: {
      ...schema,
      'x-unmetered': route.config?.unmetered === true,
      'x-any-origin': route.config?.anyOrigin === true,
      'x-bytes': route.config !== undefined && 'streamed' in route.config,
    },
    url,
  }),
})

/** The API's description for programs (/api/openapi.json), for people (/api/docs and a page for each part, no script), and as Markdown. */
export function docsRoutes(server: Server): void {
  let description: Description | undefined
  let document: Description | undefined
  let pages: Map<string, string> | undefined
  let markdown = ''
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'`
  // made with the first request, when all routes are registered
  const described = () => (description ??= describeApi(server))

  server.get('/api/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').send((document ??= withNamedSchemas(described()))),
  )
  const send = (reply: FastifyReply, name: string) => {
    pages ??= docsPages(described())
    const page = pages.get(name)
    if (!page) throw new Refusal('not_found', 'The API has no such part.')
    return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page)
  }
  server.get('/api/docs', { schema: { hide: true } }, async (_request, reply) => send(reply, ''))
  server.get<{ Params: { part: string } }>('/api/docs/:part', { schema: { hide: true } }, async (request, reply) =>
    send(reply, request.params.part),
  )
  server.get('/api/docs.md', { schema: { hide: true } }, async (_request, reply) => {
    markdown ||= docsMarkdown(described())
    return reply.type('text/markdown; charset=utf-8').send(markdown)
  })
}
