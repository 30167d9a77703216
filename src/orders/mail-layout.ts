/** What a mail says, before it has a shape. */
export interface Lines {
  subject: string
  title: string
  text: string
  button: string
  facts: [label: string, value: string][]
}

/** One mail as plain text and as HTML that reads well in every client: one column, no picture, nothing fetched. */
export function renderMail({ title, text, button, facts }: Lines, url: string): { text: string; html: string } {
  const width = Math.max(...facts.map(([label]) => label.length))
  const plain = [
    title,
    '',
    text,
    '',
    `${button}:`,
    url,
    '',
    ...facts.map(([label, value]) => `${label.padEnd(width)}  ${value}`),
    '',
  ]
  const rows = facts.map(
    ([label, value]) =>
      `<tr><td style="padding:4px 16px 4px 0;color:#6b6f76">${escapeHtml(label)}</td><td style="padding:4px 0">${escapeHtml(value)}</td></tr>`,
  )
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;color:#1b1d21;background:#ffffff">
<div style="max-width:560px;margin:0 auto">
<h1 style="font-size:22px;line-height:1.3;margin:0 0 16px">${escapeHtml(title)}</h1>
<p style="margin:0 0 24px">${escapeHtml(text)}</p>
<p style="margin:0 0 24px"><a href="${escapeHtml(url)}" style="display:inline-block;padding:12px 20px;border-radius:10px;background:#1f5f4a;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(button)}</a></p>
<table role="presentation" style="border-collapse:collapse;font-size:14px">${rows.join('')}</table>
<p style="margin:24px 0 0;font-size:13px;color:#6b6f76">The button not working? Open ${escapeHtml(url)}</p>
</div></body></html>`
  return { text: plain.join('\n'), html }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c]!)
