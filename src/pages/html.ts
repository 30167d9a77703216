import { createHash } from 'node:crypto'

/** A built page, read once: what is put into it at each request goes between pieces that never change. */
export interface Page {
  render(fill: { data: object; title?: string; head?: string; body?: string }): string
  /** Its Content-Security-Policy: its own inline script and style by hash, files from here, and the API. */
  policy: string
  /** The same, for a page on which a payment processor's form stands. */
  policyWith(more: Sources): string
}

/** Directives of a policy, and what they allow beside what the page itself needs. */
export type Sources = Readonly<Record<string, string>>

const DATA = '<script type="application/json" id="till-data"></script>'
const TITLE = /<!--till:title-->(.*?)<!--\/till:title-->/s
const HEAD = '<!--till:head-->'
const BODY = /<!--till:body-->(.*?)<!--\/till:body-->/s

/** `connect` names the origins the page may ask, `images` those whose pictures it may show; `more` adds directives. */
export function readPage(
  html: string,
  { connect, images = '', more = '' }: { connect: string; images?: string; more?: string },
): Page {
  const hashes = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}(\\s[^>]*)?>([\\s\\S]*?)</${tag}>`, 'g'))]
      .filter(([, attributes, body]) => body !== '' && !attributes?.includes('application/json'))
      .map(([, , body]) => ` 'sha256-${createHash('sha256').update(body!).digest('base64')}'`)
      .join('')
  const needed: Sources = {
    'default-src': "'none'",
    'script-src': `'self'${hashes('script')}`,
    'style-src': `'self'${hashes('style')}`,
    'img-src': `'self' https: data: ${images}`.trim(),
    'connect-src': `'self' ${connect}`.trim(),
    'base-uri': "'none'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
  }
  const policyWith = (others: Sources) => {
    const all: Record<string, string> = { ...needed }
    for (const [name, sources] of Object.entries(others)) all[name] = all[name] ? `${all[name]} ${sources}` : sources
    return `${Object.entries(all)
      .map(([name, sources]) => `${name} ${sources}`)
      .join('; ')}${more}`
  }

  return {
    policy: policyWith({}),
    policyWith,
    // functions, not strings: a "$&" in a product's name would be read as a pattern
    render: ({ data, title, head = '', body }) =>
      html
        .replace(BODY, (_, standing: string) => body ?? standing)
        .replace(TITLE, (_, standing: string) =>
          title === undefined ? standing : `<title>${escapeHtml(title)}</title>`,
        )
        .replace(HEAD, () => head)
        .replace(DATA, () => `${DATA.slice(0, -'</script>'.length)}${jsonForHtml(data)}</script>`),
  }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c]!)

/** JSON that no HTML parser can end early, whatever a seller has typed. */
const jsonForHtml = (data: object): string =>
  JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
