import { useEffect, useRef, useState } from 'preact/hooks'
import { useDeed } from '../../account/deed.ts'
import { fileSize } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { useStore } from '../../ui/store.ts'
import { isRefusal, removeFile, type Product, type ProductFile } from '../api.ts'
import { Ask } from '../dialog.tsx'
import { Failed } from '../parts.tsx'
import { addFiles, forgetDone, giveUp, uploads } from '../uploads/uploads.ts'
import { WithdrawnFromSale } from '../withdrawn.tsx'
import { unfinishedOf } from '../uploads/unfinished.ts'
import { Part } from './part.tsx'
import { UploadRow } from './upload-row.tsx'

interface FilesPartProps {
  product: Pick<Product, 'id' | 'files' | 'withdrawnFiles'>
  /** Asks for the product once more. */
  onChanged: () => Promise<void>
  title?: string
}

/** The files of a product: those it has, those on their way, and those that stopped on the way at an earlier visit. */
export function FilesPart({ product, onChanged, title = 'Files' }: FilesPartProps) {
  const { items } = useStore(uploads)
  const own = items.filter(({ productId }) => productId === product.id)
  const [givenUp, setGivenUp] = useState<string[]>([])
  const [over, setOver] = useState(false)
  const [removing, setRemoving] = useState<ProductFile>()
  const [trouble, setTrouble] = useState<unknown>()
  const picker = useRef<HTMLInputElement>(null)
  const replaced = useRef<string | undefined>(undefined)
  const done = own.filter(({ stage }) => stage === 'done').length
  const refresh = () =>
    onChanged().then(
      () => {
        setTrouble(undefined)
        forgetDone(product.id)
      },
      (failed: unknown) => setTrouble(failed),
    )
  useEffect(() => {
    if (done > 0) void refresh()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- each file that is done is one reason to look again
  }, [done])
  const choose = (replaces?: string) => {
    replaced.current = replaces
    picker.current!.multiple = replaces === undefined
    picker.current!.click()
  }
  // what is being sent again is no longer left over
  const names = new Set(own.map(({ file }) => `${file.name} ${file.size}`))
  const leftOver = unfinishedOf(product.id).filter(
    ({ name, size, place }) => !names.has(`${name} ${size}`) && !givenUp.includes(place),
  )
  const add = (files: FileList | null | undefined, replaces?: string) => {
    for (const file of files ?? []) {
      // what goes on goes to the place that it was meant for
      const before = leftOver.find(({ name, size }) => name === file.name && size === file.size)
      addFiles(product.id, [file], replaces ?? before?.replaces)
    }
  }
  return (
    <Part id="files" title={title}>
      <WithdrawnFromSale files={product.withdrawnFiles} />
      {product.files.length > 0 && (
        <ul class="rows files" aria-label="Files">
          {product.files.map((file) => (
            <li key={file.id}>
              <Icon name="file" />
              <div>
                <p class="name">{file.name}</p>
                <p class="small soft">{fileSize(file.size)}</p>
              </div>
              <div class="row">
                <button type="button" class="link small" onClick={() => choose(file.id)}>
                  Replace<span class="unseen"> {file.name}</span>
                </button>
                <button type="button" class="link small" onClick={() => setRemoving(file)}>
                  Remove<span class="unseen"> {file.name}</span>
                </button>
              </div>
            </li>
          ))}
        </ul>
      )}
      {own.length > 0 && (
        <ul class="rows files" aria-label="Uploads">
          {own.map((upload) => (
            <UploadRow key={upload.key} upload={upload} />
          ))}
        </ul>
      )}
      {leftOver.map((one) => (
        <div key={one.place} class="notice trial">
          <Icon name="clock" />
          <div>
            <b class="cut">{one.name} is not complete.</b>
            <p>Choose the same file again, and it goes on where it stopped.</p>
            <button
              type="button"
              class="link"
              onClick={() => {
                setGivenUp([...givenUp, one.place])
                void giveUp(one)
              }}
            >
              Give it up
            </button>
          </div>
        </div>
      ))}
      {trouble ? <Failed trouble={trouble} again={() => void refresh()} /> : null}
      <div
        class={`drop ${over ? 'over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          add(event.dataTransfer?.files)
        }}
      >
        <button type="button" class="button" onClick={() => choose()}>
          <Icon name="file" /> {product.files.length > 0 ? 'Add files' : 'Choose files'}
        </button>
        <p class="small soft">or drop them here. Several at once, of any kind.</p>
      </div>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          const { files } = event.currentTarget
          add(files, replaced.current)
          // the same file may be chosen once more
          event.currentTarget.value = ''
        }}
      />
      {removing && (
        <Removing
          product={product}
          file={removing}
          onChanged={onChanged}
          onEnd={() => {
            setRemoving(undefined)
            document.getElementById('files-title')?.focus()
          }}
        />
      )}
    </Part>
  )
}

interface RemovingProps extends Omit<FilesPartProps, 'title'> {
  file: ProductFile
  onEnd: () => void
}

function Removing({ product, file, onChanged, onEnd }: RemovingProps) {
  const deed = useDeed()
  const remove = async () => {
    await removeFile(product.id, file.id).catch((trouble: unknown) => {
      // what somebody wanted gone is gone, whoever did it
      if (!isRefusal(trouble, 'file_not_found')) throw trouble
    })
    await onChanged()
    onEnd()
    return ''
  }
  return (
    <Ask
      title="Remove this file?"
      action="Remove it"
      grave
      busy={deed.busy}
      trouble={deed.trouble}
      onNo={onEnd}
      onYes={() => void deed.run(remove)}
    >
      <p class="cut">
        <b>{file.name}</b>
      </p>
      <p>New buyers will not get it. Who has bought it keeps it.</p>
    </Ask>
  )
}
