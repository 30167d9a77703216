import { type Locale, isRightToLeft } from './locales.ts'

/** The content of a mail, before its layout. */
export interface Lines {
  subject: string
  title: string
  text: string
  /** A code to be typed, shown large. */
  code?: string
  button?: { label: string; url: string }
  /** The sender's logo at the top, at most 400 by 160, shown at half its size. */
  logo?: { url: string; alt: string }
  /** The colours of the button. */
  colours?: { ground: string; text: string }
  /** Shown at the top, 1200 by 630. `alt` describes it for readers who do not see pictures. */
  picture?: { url: string; alt: string }
  facts: [label: string, value: string][]
  /** The small print at the end. */
  note?: string
  /** Documents that belong to the mail, such as an invoice. */
  documents?: { label: string; url: string }[]
  /** A link in the small print. */
  link?: { label: string; url: string }
  /** By default English. `buttonFails` is the sentence for mail programs that do not show the button, with `{url}` in it. */
  language?: { locale: Locale; buttonFails: string }
}

const ENGLISH: NonNullable<Lines['language']> = { locale: 'en', buttonFails: 'Is the button not working? Open {url}' }

/** A long address or order number breaks anywhere, so that no mail is wider than a phone. Older clients know the second name only. */
const ANY_BREAK = 'overflow-wrap:anywhere;word-break:break-word'
/** Wide enough for the longest word of a label. In Japanese and Chinese every character could begin a line. */
const LABEL = 'color:#6b6f76;vertical-align:top;min-width:84px;word-break:keep-all'
const VALUE = `padding:4px 0;vertical-align:top;${ANY_BREAK}`

const OWN_COLOURS = { ground: '#1f5f4a', text: '#ffffff' }

/** A mail as plain text and as HTML for every client: one column, and nothing to fetch but the logo and the picture. */
export function renderMail(lines: Lines): { text: string; html: string } {
  const { title, text, code, button, logo, colours = OWN_COLOURS, picture, facts, documents = [], note, link } = lines
  const { locale, buttonFails } = lines.language ?? ENGLISH
  const direction = isRightToLeft(locale) ? 'rtl' : 'ltr'
  const gap = direction === 'rtl' ? '4px 0 4px 16px' : '4px 16px 4px 0'
  const width = Math.max(...facts.map(([label]) => label.length))
  const plain = [
    [title, '', text],
    code && [`    ${code}`],
    button && [`${button.label}:`, button.url],
    facts.length > 0 && facts.map(([label, value]) => `${label.padEnd(width)}  ${value}`),
    documents.length > 0 && documents.map(({ label, url }) => `${label}: ${url}`),
    note && [note],
    link && [`${link.label}: ${link.url}`],
  ]
  const rows = facts.map(
    ([label, value]) =>
      `<tr><td style="${LABEL};padding:${gap}">${escapeHtml(label)}</td><td style="${VALUE}">${escapeHtml(value)}</td></tr>`,
  )
  const parts = [
    logo &&
      `<img src="${escapeHtml(logo.url)}" alt="${escapeHtml(logo.alt)}" style="display:block;max-width:200px;max-height:80px;width:auto;height:auto;margin:0 0 24px">`,
    picture &&
      `<img src="${escapeHtml(picture.url)}" alt="${escapeHtml(picture.alt)}" width="280" height="147" style="display:block;width:280px;max-width:100%;height:auto;margin:0 0 24px;border-radius:10px;background:#f2f1ec">`,
    `<h1 style="font-size:22px;line-height:1.3;margin:0 0 16px">${escapeHtml(title)}</h1>`,
    `<p style="margin:0 0 24px">${escapeHtml(text)}</p>`,
    code &&
      `<p style="margin:0 0 24px;padding:16px 20px;border-radius:10px;background:#f2f1ec;font:600 30px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:6px;text-align:center">${escapeHtml(code)}</p>`,
    button &&
      `<p style="margin:0 0 24px"><a href="${escapeHtml(button.url)}" style="display:inline-block;padding:12px 20px;border-radius:10px;background:${colours.ground};color:${colours.text};text-decoration:none;font-weight:600">${escapeHtml(button.label)}</a></p>`,
    rows.length > 0 &&
      `<table role="presentation" style="border-collapse:collapse;font-size:14px">${rows.join('')}</table>`,
    ...documents.map(
      ({ label, url }) =>
        `<p style="margin:16px 0 0"><a href="${escapeHtml(url)}" style="color:inherit">${escapeHtml(label)}</a></p>`,
    ),
    note && `<p style="margin:24px 0 0;font-size:13px;color:#6b6f76">${escapeHtml(note)}</p>`,
    link &&
      `<p style="margin:24px 0 0;font-size:13px"><a href="${escapeHtml(link.url)}" style="color:#6b6f76">${escapeHtml(link.label)}</a></p>`,
    button &&
      `<p style="margin:24px 0 0;font-size:13px;color:#6b6f76;${ANY_BREAK}">${escapeHtml(buttonFails.replace('{url}', () => button.url))}</p>`,
  ]
  const html = `<!doctype html>
<html lang="${locale}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;color:#1b1d21;background:#ffffff">
<div dir="${direction}" style="max-width:560px;margin:0 auto">
${parts.filter(Boolean).join('\n')}
</div></body></html>`
  return { text: `${plain.flatMap((part) => (part ? [part.join('\n')] : [])).join('\n\n')}\n`, html }
}

/** A mail quotes at most this many characters of an untrusted seller: enough for a name, too few for a message. */
const MOST_QUOTED_CHARACTERS = 60

/** Cuts an untrusted seller's text, and changes it so that no mail client turns it into a link. */
export function unlinked(text: string): string {
  const characters = Array.from(inOneLine(text))
  const tooLong = characters.length > MOST_QUOTED_CHARACTERS
  return withDeadLinks(tooLong ? `${characters.slice(0, MOST_QUOTED_CHARACTERS - 1).join('')}…` : characters.join(''))
}

/**
 * Changes a stranger's text so that no mail client turns it into a link: a thin space (U+200A) follows each point, colon and at sign
 * of an address. Every client ends a link at a space, while some ignore a zero-width character. The text keeps its length otherwise.
 */
export const withDeadLinks = (text: string): string =>
  inOneLine(text).replaceAll(/[.:@\u3002\uff0e\uff1a\uff20\uff61](?=\S)/gu, '$&\u200a')

const inOneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim()

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c]!)
