import { createHash } from 'node:crypto'
import type { Server } from '../kit/http.ts'
import { type Description, describeApi } from './api/description.ts'
import { withNamedSchemas } from './api/named-schemas.ts'
import { STYLE, docsPage } from './api/page.ts'

/** The head of the API description; the rest comes from the schemas of the routes. */
export const apiDescription = (baseUrl: string, sessionCookie: string) => ({
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Till',
      version: '1.0.0',
      description:
        'Checkout for digital products. Amounts are integer minor units. Everything that is not a success is a problem (RFC 9457) with a stable `code`.',
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
          description: 'What signing in sets. A browser may change something from our own pages only.',
        },
      },
    },
    tags: [
      { name: 'Checkout', description: 'What buyers, and sites that sell to them, call.' },
      { name: 'Charges', description: 'What the page calls that says which order a charge was.' },
      { name: 'Library', description: 'What the page calls that shows a buyer all that was bought.' },
      { name: 'Products', description: 'What sellers sell, and its files, with the session’s cookie.' },
      { name: 'Orders', description: 'What sellers do with what was bought, with the session’s cookie.' },
      { name: 'Money', description: 'What a shop brings, with the session’s cookie.' },
      { name: 'Discounts', description: 'Codes that sellers make, with the session’s cookie.' },
      { name: 'Sign-in', description: 'What sellers’ pages call, with the session’s cookie.' },
      { name: 'Sandbox', description: 'What plays the bank where no real money moves.' },
      { name: 'Operation', description: 'For those who run the service.' },
    ],
  },
  // who may ask how often, and that a body is bytes, are options of the route, which its schema does not know
  transform: <Kept extends object>({
    schema,
    url,
    route,
  }: {
    schema: Kept
    url: string
    route: { config?: { anyOrigin?: boolean } }
  }) => ({
    schema: {
      ...schema,
      'x-limited': route.config !== undefined && 'rateLimit' in route.config,
      'x-any-origin': route.config?.anyOrigin === true,
      'x-bytes': route.config !== undefined && 'streamed' in route.config,
    },
    url,
  }),
})

/** The API's description for programs (/api/openapi.json), and for people (/api/docs): one page, no script. */
export function docsRoutes(server: Server): void {
  let description: Description | undefined
  let document: Description | undefined
  let page = ''
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'`
  // every route is there by the time somebody asks, and none comes later
  const described = () => (description ??= describeApi(server))

  server.get('/api/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').send((document ??= withNamedSchemas(described()))),
  )
  server.get('/api/docs', { schema: { hide: true } }, async (_request, reply) => {
    page ||= docsPage(described())
    return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page)
  })
}
