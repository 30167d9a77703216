import { escapeHtml as text } from '../../words/in-html.ts'
import type { Description, Media, Operation } from './description.ts'
import type { JsonSchema } from './examples.ts'
import { type Row, needed, rowsOf, sentences } from './rows.ts'
import { STYLE } from './style.ts'

interface Listed {
  method: string
  path: string
  operation: Operation
}

interface Part {
  name: string
  description: string
  /** The last part of the page's address: "sign-in". */
  slug: string
  operations: Listed[]
}

/**
 * Renders the description as pages without a script: the contents under the name "", and one page for each part. All routes on
 * one page would be 50,000 pixels, in which a reader finds nothing.
 */
export function docsPages({ info, tags = [], paths }: Description): Map<string, string> {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Listed => ({ path, method: method.toUpperCase(), operation })),
  )
  const parts = tags.flatMap(({ name, description = '' }): Part[] => {
    const operations = all.filter(({ operation }) => operation.tags?.includes(name))
    return operations.length > 0 ? [{ name, description, slug: slugOf(name), operations }] : []
  })
  const page = (title: string, main: string, current?: Part) => layout(title, navigation(parts, current), main)
  const title = `${info.title}: the API`
  return new Map([
    ['', page(title, contents(info, parts))],
    ...parts.map((part): [string, string] => [part.slug, page(`${part.name} · ${title}`, partPage(part), part)]),
  ])
}

const layout = (title: string, nav: string, main: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="alternate" type="text/markdown" href="/api/docs.md"><title>${text(title)}</title><style>${STYLE}</style></head>
<body><a class="skip" href="#main">Skip to the content</a>${nav}<main id="main">${main}</main></body></html>`

function navigation(parts: Part[], current: Part | undefined): string {
  const items = parts.map((part) => {
    const here = part === current ? ' aria-current="page"' : ''
    return `<li><a href="/api/docs/${part.slug}"${here}>${text(part.name)}</a></li>`
  })
  const here = current ? '' : ' aria-current="page"'
  return `<nav aria-label="Parts of the API"><ul><li><a href="/api/docs"${here}>All routes</a></li>${items.join('')}</ul></nav>`
}

/** Each route keeps the anchor that it had when everything was on this page, and leads to its place. */
function contents(info: Description['info'], parts: Part[]): string {
  const sections = parts.map(
    ({ name, description, slug, operations }) =>
      `<section><h2 id="tag-${slug}"><a href="/api/docs/${slug}">${text(name)}</a></h2><p>${prose(description)}</p>${index(operations, `/api/docs/${slug}`, { anchors: true })}</section>`,
  )
  return `<h1>${text(info.title)}: the API</h1><p>${prose(info.description ?? '')}</p>
<p>For programs: <a href="/api/openapi.json">openapi.json</a> (OpenAPI 3.1), <a href="/api/docs.md">docs.md</a>, <a href="/llms.txt">llms.txt</a>.</p>${sections.join('')}`
}

const partPage = ({ name, description, operations }: Part): string =>
  `<h1>${text(name)}</h1><p>${prose(description)} A star marks required fields.</p>${operations.length > 1 ? index(operations, '') : ''}${operations.map(article).join('')}`

function index(operations: Listed[], page: string, { anchors = false } = {}): string {
  const items = operations.map(({ method, path, operation: { operationId, summary = operationId } }) => {
    const id = anchors ? ` id="${text(operationId)}"` : ''
    return `<li${id}><a href="${page}#${text(operationId)}"><code><b>${method}</b> ${breakable(path)}</code></a> <span>${text(summary)}</span></li>`
  })
  return `<ul class="index">${items.join('')}</ul>`
}

function article({ method, path, operation }: Listed): string {
  const { operationId, summary = '', description = '', security, parameters = [], requestBody, responses } = operation
  const parameterRows = parameters.map((one) => row({ name: one.name, must: one.required === true, words: sentences(`In the ${one.in === 'path' ? 'address' : one.in}`, one.description) })) // oxfmt-ignore
  const answers = Object.entries(responses)
  const refused = answers.flatMap(([status, { content = {} }]) =>
    Object.keys(content['application/problem+json']?.examples ?? {}).map((code) =>
      row({ name: code, must: false, words: status }),
    ),
  )
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  return `<article id="${text(operationId)}"><h2><code><b>${method}</b> ${breakable(path)}</code></h2><p>${prose(sentences(summary, description, needed(security)))}</p>
${list('Parameters', parameterRows)}${body ? content('Body', bodyType!, body) : ''}
${answers
  .filter(([status]) => /^[23]/.test(status))
  .map(
    ([status, { description: what = '', content: kinds = {} }]) =>
      Object.entries(kinds)
        .map(([type, media]) => content(`Answer ${status}`, type, media))
        .join('') || `<h3>Answer ${status}</h3><p>${prose(what)}</p>`,
  )
  .join('')}
${refused.length > 0 ? `<details><summary>Refused with</summary>${list('', refused)}</details>` : ''}</article>`
}

function content(title: string, type: string, { schema = {}, example: one, examples = {} }: Media): string {
  const example = one ?? Object.values(examples).flatMap((each) => ('value' in each ? [each.value] : []))[0]
  const named = type === 'application/json' ? title : `${title}: ${type}`
  const shown = example === undefined || JSON.stringify(example) === '{}' ? '' : `<details><summary>Example</summary><pre tabindex="0" role="region" aria-label="Example">${text(JSON.stringify(example, null, 2))}</pre></details>` // oxfmt-ignore
  return `<h3>${text(named)}</h3>${list('', rowsOf(schema as JsonSchema).map(row))}${shown}`
}

const list = (title: string, rows: string[]): string =>
  rows.length > 0 ? `${title && `<h3>${title}</h3>`}<dl>${rows.join('')}</dl>` : ''

const prose = (words: string): string => text(words).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
const slugOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]+/g, '-')
/** A long address may break before a slash. */
const breakable = (path: string): string => text(path).replaceAll('/', '<wbr>/')
const row = ({ name, must, words }: Row): string =>
  `<div><dt><code${must ? ' class="must"' : ''}>${text(name)}</code></dt><dd>${prose(words)}</dd></div>`
