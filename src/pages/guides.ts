import fs from 'node:fs/promises'
import path from 'node:path'
import type { Server } from '../kit/http.ts'

/** In the order of the list. Guides that are not named here follow under "Optional". */
const FOR_INTEGRATORS = [
  'integrate',
  'checkout',
  'embed',
  'client',
  'webhooks',
  'agents',
  'sellers',
  'refunds',
  'sign-in',
]
/** The address in the commands for integrators. They are tried against a service on the reader’s own machine. */
const EXAMPLE_URL = 'http://127.0.0.1:4000'
/** Where it stands for the pages, and not for the API. */
const EXAMPLE_APP = new RegExp(`(?<=\\bAPP=|\\borigin: |-src )${EXAMPLE_URL}|${EXAMPLE_URL}(?=/(?:pay/|till[.-]))`, 'g')
const CACHED = 'public, max-age=3600'

interface Guide {
  name: string
  title: string
  /** Its first sentence. */
  about: string
  text: string
}

/** Serves the guides of docs/ as Markdown, with the addresses of this service, and the list of them for programs: /llms.txt. */
export async function guideRoutes(
  server: Server,
  { root, baseUrl, appUrl }: { root: string; baseUrl: string; appUrl: string },
): Promise<void> {
  const guides = await readGuides(root, baseUrl, appUrl)
  const hide = { schema: { hide: true } }
  for (const { name, text } of guides)
    server.get(`/docs/${name}.md`, hide, async (_request, reply) =>
      reply.type('text/markdown; charset=utf-8').header('cache-control', CACHED).send(text),
    )
  const list = listOf(guides, baseUrl)
  server.get('/llms.txt', hide, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').header('cache-control', CACHED).send(list),
  )
}

async function readGuides(root: string, baseUrl: string, appUrl: string): Promise<Guide[]> {
  const inFolder = (await fs.readdir(path.join(root, 'docs'))).filter((file) => file.endsWith('.md')).sort()
  const files = [
    ...inFolder.map((file) => ({ name: file.slice(0, -'.md'.length), file: path.join('docs', file) })),
    { name: 'client', file: path.join('client', 'README.md') },
  ]
  const names = new Set(files.map(({ name }) => name))
  return Promise.all(
    files.map(async ({ name, file }) => {
      const source = await fs.readFile(path.join(root, file), 'utf8')
      const withAddresses = () => source.replaceAll(EXAMPLE_APP, appUrl).replaceAll(EXAMPLE_URL, baseUrl)
      const text = withServedLinks(FOR_INTEGRATORS.includes(name) ? withAddresses() : source, names)
      const title = /^# (.+)$/m.exec(source)?.[1] ?? name
      return { name, title, about: firstSentence(source), text }
    }),
  )
}

/** A link that leads to a file of the repository becomes its words. */
function withServedLinks(text: string, names: ReadonlySet<string>): string {
  const moved = text.replaceAll('](../client/README.md', '](client.md')
  return moved.replaceAll(/!?\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, words: string, target: string) => {
    const name = /^([\w-]+)\.md(?:#.*)?$/.exec(target)?.[1]
    return /^(?:https?:|#)/.test(target) || (name !== undefined && names.has(name)) ? whole : words
  })
}

function firstSentence(source: string): string {
  const paragraph = source.split('\n\n').find((part) => /^[A-Z]/.test(part)) ?? ''
  const line = paragraph.replaceAll('\n', ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return /^.*?[.:](?=\s|$)/.exec(line)?.[0].replace(/:$/, '.') ?? line
}

/** The format of llmstxt.org. */
function listOf(guides: readonly Guide[], baseUrl: string): string {
  const place = ({ name }: Guide) => FOR_INTEGRATORS.indexOf(name)
  const line = ({ name, title, about }: Guide) => `- [${title}](${baseUrl}/docs/${name}.md): ${about}`
  const first = guides.filter((guide) => place(guide) >= 0).sort((a, b) => place(a) - place(b))
  const others = guides.filter((guide) => place(guide) < 0)
  return `# Till

> Checkout for digital products: a hosted payment page, an API, and books that balance. The server sets every price, and files are released only after the payment is confirmed.

Amounts are integer minor units: 1900 with USD is $19.00. Every refusal is a problem (RFC 9457) with a stable \`code\`. An assistant connects to ${baseUrl}/mcp (Model Context Protocol) with an API key.

## The API

- [All routes](${baseUrl}/api/docs.md): what each takes, answers and refuses.
- [OpenAPI 3.1](${baseUrl}/api/openapi.json): the same for programs.

## Guides

${first.map(line).join('\n')}

## Optional

${others.map(line).join('\n')}
`
}
