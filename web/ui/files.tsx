import type { Download } from './api.ts'
import { fileSize } from './file-size.ts'
import { Icon } from './icon.tsx'
import { fromApi } from './page-data.ts'
import { wordsOf } from './language.ts'

const words = wordsOf('ui')

/** A link that expires sooner than this is renewed before the browser follows it. */
const SPARE_MS = 60_000

interface FilesProps {
  downloads: Download[]
  /** Asks for the status again and returns fresh links. */
  renew: () => Promise<Download[]>
}

export const Files = ({ downloads, renew }: FilesProps) => (
  <ul class="files" aria-label={words.yourFiles}>
    {downloads.map((file) => (
      <li key={file.fileId}>
        <Icon name="file" />
        <div>
          <p class="name">
            <bdi>{file.name}</bdi>
          </p>
          <p class="soft small">{fileSize(file.size)}</p>
        </div>
        <a
          class="button"
          href={fromApi(file.url)}
          download={file.name}
          onClick={(event) => void follow(event, file, renew)}
        >
          <Icon name="download" />
          {words.download}
          <span class="unseen"> {file.name}</span>
        </a>
        <details class="small">
          <summary>{words.checksum}</summary>
          <p class="soft">
            SHA-256 <code>{file.sha256}</code>
          </p>
        </details>
      </li>
    ))}
  </ul>
)

async function follow(event: Event, file: Download, renew: FilesProps['renew']) {
  if (Date.parse(file.expiresAt) - Date.now() > SPARE_MS) return
  event.preventDefault()
  const fresh = (await renew().catch(() => [])).find((one) => one.fileId === file.fileId)
  // An expired link explains itself better than a press without effect.
  location.assign(fromApi((fresh ?? file).url))
}
