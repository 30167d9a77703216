import { createHash } from 'node:crypto'
import type { Server } from '../kit/http.ts'
import { escapeHtml } from './html.ts'

/** What the API's description says of itself; the rest comes from the schemas of the routes. */
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
      { name: 'Orders', description: 'What sellers do with what was bought, with the session’s cookie.' },
      { name: 'Sign-in', description: 'What sellers’ pages call, with the session’s cookie.' },
      { name: 'Sandbox', description: 'What plays the bank where no real money moves.' },
      { name: 'Operation', description: 'For those who run the service.' },
    ],
  },
})

interface Operation {
  summary?: string
  description?: string
  tags?: string[]
  security?: object[]
  parameters?: { name: string; in: string; required?: boolean; description?: string }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>
}
interface JsonSchema {
  type?: string
  description?: string
  enum?: unknown[]
  anyOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
}

const STYLE = `:root{color-scheme:light dark;font:16px/1.55 system-ui,sans-serif}body{max-width:60rem;margin:0 auto;padding:2rem 1.25rem}
h1,h2,h3{line-height:1.25}article{border-top:1px solid #8884;padding:1rem 0}code{font:0.9em ui-monospace,monospace}
h3 code{font-size:1rem}table{border-collapse:collapse;width:100%;font-size:.9rem}td{padding:.25rem .75rem .25rem 0;vertical-align:top;overflow-wrap:anywhere}
td:first-child{white-space:nowrap}.must::after{content:" *"}a{color:inherit}`

/** The API's description for programs (/api/openapi.json), and for people (/api/docs): one page, no script. */
export function docsRoutes(server: Server): void {
  server.get('/api/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').send(describe(server)),
  )
  server.get('/api/docs', { schema: { hide: true } }, async (_request, reply) => {
    const hash = createHash('sha256').update(STYLE).digest('base64')
    reply.header(
      'content-security-policy',
      `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'`,
    )
    return reply.type('text/html; charset=utf-8').send(docsPage(describe(server)))
  })
}

interface Description {
  info: { title: string; description?: string }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
}

/** The description, with the media type that refusals really have: the library takes every answer for application/json. */
function describe(server: Server): Description {
  const description = server.swagger() as unknown as Description
  const answers = Object.values(description.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ responses }) => Object.entries(responses)),
  )
  for (const [status, answer] of answers) {
    const [content] = Object.values(answer.content ?? {})
    if (content && /^[45]/.test(status)) answer.content = { 'application/problem+json': content }
  }
  return description
}

function docsPage({ info, tags = [], paths }: Description): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = tags.map(({ name, description }) => {
    const articles = operations
      .filter(({ operation }) => operation.tags?.includes(name))
      .map(({ path, method, operation }) => article(method, path, operation))
    return `<section><h2>${escapeHtml(name)}</h2><p>${escapeHtml(description ?? '')}</p>${articles.join('')}</section>`
  })
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}: the API</title><style>${STYLE}</style></head><body><main><h1>${escapeHtml(info.title)}: the API</h1>
<p>${escapeHtml(info.description ?? '')}</p><p>For programs: <a href="/api/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>${sections.join('')}</main></body></html>`
}

function article(method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((one) =>
    row(one.name, one.required === true, `${one.in}. ${one.description ?? ''}`),
  )
  const body = operation.requestBody?.content['application/json']?.schema
  const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  return `<article><h3><code>${method.toUpperCase()} ${escapeHtml(path)}</code></h3><p>${escapeHtml(operation.summary ?? '')}. ${escapeHtml(operation.description ?? '')}${operation.security?.length ? ' For who is signed in.' : ''}</p>
${parameters.length > 0 ? `<h4>Parameters</h4><table>${parameters.join('')}</table>` : ''}
${body ? `<h4>Body</h4><table>${rowsOf(body)}</table>` : ''}
${answers.map(([status, { content }]) => `<h4>${status}</h4><table>${rowsOf(content?.['application/json']?.schema ?? {})}</table>`).join('')}</article>`
}

function rowsOf(schema: JsonSchema, prefix = ''): string {
  const members = Object.entries((schema.items ?? schema).properties ?? {})
  return members
    .map(([name, member]) => {
      const must = (schema.items ?? schema).required?.includes(name) === true
      return (
        row(prefix + name, must, `${typeOf(member)}. ${member.description ?? ''}`) +
        rowsOf(member, `${prefix}${name}${member.items ? '[]' : ''}.`)
      )
    })
    .join('')
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map(String).join(' | ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  return schema.items ? `${typeOf(schema.items)}[]` : (schema.type ?? 'any')
}

const row = (name: string, must: boolean, text: string): string =>
  `<tr><td><code${must ? ' class="must"' : ''}>${escapeHtml(name)}</code></td><td>${escapeHtml(text)}</td></tr>`
