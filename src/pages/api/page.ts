import { escapeHtml as text } from '../html.ts'
import type { Description, Media, Operation } from './description.ts'
import type { JsonSchema } from './examples.ts'
import { type Row, rowsOf, sentences } from './rows.ts'

export const STYLE = `:root{color-scheme:light dark;font:16px/1.55 system-ui,sans-serif}body{max-width:60rem;margin:0 auto;padding:1.5rem 1.25rem;overflow-wrap:anywhere}
h1,h2,h3,h4{line-height:1.25}h2{margin-top:3rem}h4{margin:1.25rem 0 .25rem}article{border-top:1px solid #8884;padding:.5rem 0 1rem}
code,pre{font:.875rem/1.5 ui-monospace,monospace}h3 code{font-size:1rem}h3 b{font-weight:700;margin-inline-end:.5ch}a{color:LinkText}
nav p{margin:1rem 0 0}nav ul{columns:18rem;padding:0;margin:.25rem 0 0;list-style:none}nav li{break-inside:avoid;padding:.125rem 0}
dl{margin:0;font-size:.9375rem}dl>div{display:grid;grid-template-columns:14rem 1fr;gap:0 1rem;padding:.25rem 0;border-top:1px solid #8882}dd{margin:0}.must::after{content:" *"}
pre{overflow-x:auto;margin:.25rem 0;padding:.75rem;border-radius:.375rem;background:#8881;overflow-wrap:normal}summary{cursor:pointer;padding:.375rem 0} @media(max-width:40rem){body{padding:1rem}dl>div{grid-template-columns:1fr}}`

interface Listed {
  method: string
  path: string
  operation: Operation
}

/** Renders the description as one page without a script. */
export function docsPage({ info, tags = [], paths }: Description): string {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Listed => ({ path, method: method.toUpperCase(), operation })),
  )
  const groups = tags
    .map((tag) => ({ ...tag, operations: all.filter(({ operation }) => operation.tags?.includes(tag.name)) }))
    .filter(({ operations }) => operations.length > 0)
  const contents = groups.map(
    ({ name, operations }) =>
      `<p><a href="#${anchor(name)}"><b>${text(name)}</b></a></p><ul>${operations.map(({ operation }) => `<li><a href="#${text(operation.operationId)}">${text(operation.summary ?? operation.operationId)}</a></li>`).join('')}</ul>`,
  )
  const sections = groups.map(
    ({ name, description = '', operations }) =>
      `<section><h2 id="${anchor(name)}">${text(name)}</h2><p>${prose(description)}</p>${operations.map(article).join('')}</section>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="alternate" type="text/markdown" href="/api/docs.md">
<title>${text(info.title)}: the API</title><style>${STYLE}</style></head><body><main><h1>${text(info.title)}: the API</h1>
<p>${prose(info.description ?? '')}</p><p>For programs: <a href="/api/openapi.json">openapi.json</a> (OpenAPI 3.1), <a href="/api/docs.md">docs.md</a>, <a href="/llms.txt">llms.txt</a>. A star marks required fields.</p>
<nav aria-label="Contents">${contents.join('')}</nav>${sections.join('')}</main></body></html>`
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
  return `<article id="${text(operationId)}"><h3><code><b>${method}</b>${text(path)}</code></h3><p>${prose(sentences(summary, description))}${needed(security)}</p>
${list('Parameters', parameterRows)}${body ? content('Body', bodyType!, body) : ''}
${answers
  .filter(([status]) => /^[23]/.test(status))
  .map(
    ([status, { description: what = '', content: kinds = {} }]) =>
      Object.entries(kinds)
        .map(([type, media]) => content(`Answer ${status}`, type, media))
        .join('') || `<h4>Answer ${status}</h4><p>${prose(what)}</p>`,
  )
  .join('')}
${refused.length > 0 ? `<details><summary>Refused with</summary>${list('', refused)}</details>` : ''}</article>`
}

/** What a request must bring. */
function needed(security: object[] = []): string {
  const ways = (security as Record<string, string[]>[]).map(({ session, apiKey = [] }) =>
    session ? 'a session' : ['a key', ...apiKey.map((scope) => `with <code>${text(scope)}</code>`)].join(' '),
  )
  return ways.length > 0 ? ` Needs ${ways.join(', or ')}.` : ''
}

function content(title: string, type: string, { schema = {}, example: one, examples = {} }: Media): string {
  const example = one ?? Object.values(examples).flatMap((each) => ('value' in each ? [each.value] : []))[0]
  const named = type === 'application/json' ? title : `${title}: ${type}`
  const shown = example === undefined || JSON.stringify(example) === '{}' ? '' : `<details><summary>Example</summary><pre tabindex="0" role="region" aria-label="Example">${text(JSON.stringify(example, null, 2))}</pre></details>` // oxfmt-ignore
  return `<h4>${text(named)}</h4>${list('', rowsOf(schema as JsonSchema).map(row))}${shown}`
}

const list = (title: string, rows: string[]): string =>
  rows.length > 0 ? `${title && `<h4>${title}</h4>`}<dl>${rows.join('')}</dl>` : ''

const prose = (words: string): string => text(words).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
const anchor = (name: string): string => `tag-${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
const row = ({ name, must, words }: Row): string =>
  `<div><dt><code${must ? ' class="must"' : ''}>${text(name)}</code></dt><dd>${prose(words)}</dd></div>`
