import { isRefusal } from '../api.ts'
import type { Said } from '../../ui/auth-words.ts'
import { fileSize } from '../../ui/file-size.ts'
import { Icon } from '../../ui/icon.tsx'
import { Unreadable } from '../uploads/fingerprint.ts'
import { cancel, goOn, pause, type Upload } from '../uploads/uploads.ts'
import { explain } from '../words.ts'

/** The progress of one file, and its buttons. */
export function UploadRow({ upload }: { upload: Upload }) {
  const { key, file, name, stage, share, trouble } = upload
  const percent = Math.floor(share * 100)
  const isMoving = stage === 'sending'
  // For a file that is too large or unreadable, going on is pointless.
  const isOver = trouble instanceof Unreadable || isRefusal(trouble, 'file_too_large')
  const canGoOn = stage === 'paused' || (stage === 'stopped' && !isOver)
  const said = stage === 'stopped' ? whyStopped(trouble) : undefined
  return (
    <li>
      <Icon name={stage === 'done' ? 'check' : said ? 'alert' : 'file'} />
      <div>
        <p class="name">{name}</p>
        <p class="small soft">
          {WORDS[stage]}
          {isMoving && ` ${percent}%`}
          {isMoving && ` of ${fileSize(file.size)}`}
        </p>
        {isMoving && <progress max={100} value={percent} aria-label={`${WORDS[stage]} ${name}`} />}
        {said && (
          <p class="small refused" role="alert">
            <b>{said.title}</b> {said.text}
          </p>
        )}
      </div>
      <div class="row">
        {(isMoving || stage === 'lost') && (
          <button type="button" class="link small" onClick={() => pause(key)}>
            Pause<span class="unseen"> {name}</span>
          </button>
        )}
        {canGoOn && (
          <button type="button" class="link small" onClick={() => goOn(key)}>
            Continue<span class="unseen"> {name}</span>
          </button>
        )}
        {stage !== 'done' && (
          <button type="button" class="link small" onClick={() => cancel(key)}>
            Cancel<span class="unseen"> {name}</span>
          </button>
        )}
      </div>
    </li>
  )
}

const WORDS: Record<Upload['stage'], string> = {
  waiting: 'Waiting',
  sending: 'Uploading…',
  lost: 'The connection was lost. Trying again…',
  paused: 'Paused',
  stopped: 'Stopped',
  done: 'Done',
}

function whyStopped(trouble: unknown): Said {
  if (trouble instanceof Unreadable)
    return { title: 'The file cannot be read.', text: 'It was moved or changed since. Please choose it again.' }
  return explain(trouble)
}
