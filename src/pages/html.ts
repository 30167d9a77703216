import { createHash } from 'node:crypto'
import type { Locale } from '../kit/locales.ts'
import { catalogueOf } from '../words/catalogues.ts'
import { escapeHtml, inLanguage, jsonForHtml } from '../words/in-html.ts'

/** A built page, read once. Each request puts its data between parts that never change. */
export interface Page {
  /** Differs from page to page. */
  id: string
  render(fill: Fill): string
  /** Its Content-Security-Policy. It allows the page's inline script and style by hash, our files, and the API. */
  policy: string
  /** The policy for a page with a processor's payment form, which the `ancestors` may show in a frame. */
  policyWith(more: Sources, ancestors?: readonly string[]): string
  /** The page in another language. Its policy is the same, because the texts stand outside the scripts. */
  in(locale: Locale): Promise<Page>
}

/** The data of a page, and the texts for its places. */
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

  const others = new Map<Locale, Promise<Page>>()
  const translate = async (locale: Locale): Promise<Page> => ({
    ...page,
    ...bodyOf(inLanguage(html, locale, await catalogueOf(locale))),
  })
  const page: Page = {
    ...bodyOf(html),
    policy: policyWith({}),
    policyWith,
    async in(locale) {
      if (locale === 'en') return page
      const other = others.get(locale) ?? translate(locale)
      others.set(locale, other)
      return other
    },
  }
  return page
}

function bodyOf(html: string): Pick<Page, 'id' | 'render'> {
  return {
    id: createHash('sha256').update(html).digest('base64'),
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
