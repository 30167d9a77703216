import { Icon } from '../../ui/icon.tsx'
import { apiBase } from '../../ui/page-data.ts'

/** A link and not a request, so that the browser writes the file while it arrives, however long it is. */
export function CsvLink({ path, query, name }: { path: string; query: Record<string, string>; name: string }) {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const text = new URLSearchParams([...given, ['format', 'csv']]).toString()
  return (
    <a class="button" href={`${apiBase}/api/${path}?${text}`} download={name}>
      <Icon name="download" />
      Download as CSV
    </a>
  )
}
