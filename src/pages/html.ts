import { createHash } from 'node:crypto'

/** A built page, read once. Each request puts its data between parts that never change. */
export interface Page {
  /** Differs from page to page. */
  id: string
  render(fill: Fill): string
  /** Its Content-Security-Policy. It allows the page's inline script and style by hash, our files, and the API. */
  policy: string
  /** The policy for a page with a processor's payment form, which the `ancestors` may show in a frame. */
  policyWith(more: Sources, ancestors?: readonly string[]): string
}

/** The data of a page, and what stands in its places. */
export interface Fill {
  data: object
  title?: string
  head?: string
  body?: string
}

/** Directives of a policy, with the sources that they allow in addition to the page's own. */
export type Sources = Readonly<Record<string, string>>

const DATA = '<script type="application/json" id="till-data"></script>'
const TITLE = /<!--till:title-->(.*?)<!--\/till:title-->/s
const HEAD = '<!--till:head-->'
const BODY = /<!--till:body-->(.*?)<!--\/till:body-->/s

/** `connect`: the origins that the page may call. `images`: the origins of its pictures. `more`: further directives. */
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
  const policyWith = (others: Sources, ancestors: readonly string[] = []) => {
    const all: Record<string, string> = {
      ...needed,
      ...(ancestors.length > 0 && { 'frame-ancestors': ancestors.join(' ') }),
    }
    for (const [name, sources] of Object.entries(others)) all[name] = all[name] ? `${all[name]} ${sources}` : sources
    return `${Object.entries(all)
      .map(([name, sources]) => `${name} ${sources}`)
      .join('; ')}${more}`
  }

  return {
    id: createHash('sha256').update(html).digest('base64'),
    policy: policyWith({}),
    policyWith,
    // functions, because in a string a "$&" of a product's name would be a pattern
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

/** JSON that cannot end its script element early, whatever text a seller has typed. */
export const jsonForHtml = (data: object): string =>
  JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
