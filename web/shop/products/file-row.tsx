import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { fileSize } from '../../ui/file-size.ts'
import { Icon } from '../../ui/icon.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { changeFile, type ProductFile } from '../api.ts'
import { Choices, Dialog } from '../dialog.tsx'
import { Refused } from '../parts.tsx'

interface FileRowProps {
  productId: string
  file: ProductFile
  /** Its place in the list, from 1, and the length of the list. */
  place: number
  count: number
  /** Loads the product again. */
  onChanged: () => Promise<unknown>
  onReplace: () => void
  onRemove: () => void
  /** Announces to screen readers where the file is now. */
  onMoved: (said: string) => void
}

/** One file of a product. Buyers see the name, and the files in this order. */
export function FileRow({ productId, file, place, count, onChanged, onReplace, onRemove, onMoved }: FileRowProps) {
  const [renaming, setRenaming] = useState(false)
  const action = useAction()
  const move = (to: number, id: string) =>
    void action.run(async () => {
      await changeFile(productId, file.id, { position: to })
      await onChanged()
      onMoved(`${file.name} is file ${to} of ${count} now.`)
      // The row has moved, and at the end of the list one of its buttons is gone.
      const buttons = [id, `up-${file.id}`, `down-${file.id}`].map((one) => document.getElementById(one))
      buttons.find((one) => one !== null)?.focus()
      return ''
    })
  const mover = (name: string, id: string, to: number) => (
    <button id={id} type="button" class="link small" onClick={() => move(to, id)}>
      Move {name}
      <span class="unseen"> {file.name}</span>
    </button>
  )
  return (
    <li>
      <Icon name="file" />
      <div>
        <p class="name">{file.name}</p>
        <p class="small soft">{fileSize(file.size)}</p>
        <details class="small">
          <summary>Checksum</summary>
          <p class="soft">
            SHA-256 of what arrived: <code>{file.sha256}</code>
          </p>
        </details>
        <Refused action={action} />
      </div>
      <div class="row">
        {place > 1 && mover('up', `up-${file.id}`, place - 1)}
        {place < count && mover('down', `down-${file.id}`, place + 1)}
        <button type="button" class="link small" onClick={() => setRenaming(true)}>
          Rename<span class="unseen"> {file.name}</span>
        </button>
        <button type="button" class="link small" onClick={onReplace}>
          Replace<span class="unseen"> {file.name}</span>
        </button>
        <button type="button" class="link small" onClick={onRemove}>
          Remove<span class="unseen"> {file.name}</span>
        </button>
      </div>
      {renaming && (
        <Renaming productId={productId} file={file} onChanged={onChanged} onEnd={() => setRenaming(false)} />
      )}
    </li>
  )
}

interface RenamingProps extends Pick<FileRowProps, 'productId' | 'file' | 'onChanged'> {
  onEnd: () => void
}

function Renaming({ productId, file, onChanged, onEnd }: RenamingProps) {
  const [name, setName] = useState(file.name)
  const action = useAction()
  const fault =
    action.tries > 0 && action.refusedFor('validation_failed')
      ? 'Please type one line of up to 255 characters.'
      : undefined
  const rename = () =>
    void action.run(async () => {
      await changeFile(productId, file.id, { name: name.trim() })
      await onChanged()
      onEnd()
      return ''
    })
  return (
    <Dialog title="Rename this file" closable={!action.busy} onClose={onEnd} onSubmit={rename}>
      <TextField
        id="file-name"
        label="Name"
        hint="Buyers see it too, also those who have bought the file already."
        value={name}
        onValue={setName}
        fault={fault}
        tries={action.tries}
        input={{ maxLength: 255, autoComplete: 'off', required: true }}
      />
      {!fault && <Refused action={action} />}
      <Choices busy={action.busy ? 'Rename it' : undefined} action="Rename it" away="Cancel" onClose={onEnd} />
    </Dialog>
  )
}
