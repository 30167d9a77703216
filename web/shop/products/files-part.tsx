import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { Icon } from '../../ui/icon.tsx'
import { useStore } from '../../ui/store.ts'
import { isRefusal, removeFile, type Product, type ProductFile } from '../api.ts'
import { Ask } from '../dialog.tsx'
import { Failed } from '../parts.tsx'
import { freeName, isNameOf } from '../uploads/names.ts'
import { addFile, forgetDone, giveUp, uploads } from '../uploads/uploads.ts'
import { RecalledFromSale } from '../recalled.tsx'
import { unfinishedOf } from '../uploads/unfinished.ts'
import { FileRow } from './file-row.tsx'
import { Part } from './part.tsx'
import { SameName } from './same-name.tsx'
import { UploadRow } from './upload-row.tsx'

interface FilesPartProps {
  product: Pick<Product, 'id' | 'files' | 'status' | 'withdrawnFiles'>
  /** Loads the product again. */
  onChanged: () => Promise<void>
  title?: string
}

/** The files of a product: the complete ones, the ones being sent, and the ones that stopped on an earlier visit. */
export function FilesPart({ product, onChanged, title = 'Files' }: FilesPartProps) {
  const { items } = useStore(uploads)
  const own = items.filter(({ productId }) => productId === product.id)
  const [givenUp, setGivenUp] = useState<string[]>([])
  const [over, setOver] = useState(false)
  const [removing, setRemoving] = useState<ProductFile>()
  const [moved, setMoved] = useState('')
  /** Files whose names the product already has. The page asks about one after the other. */
  const [doubtful, setDoubtful] = useState<File[]>([])
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
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- each finished file is a reason to load again
  }, [done])
  const choose = (replaces?: string) => {
    replaced.current = replaces
    picker.current!.multiple = replaces === undefined
    picker.current!.click()
  }
  // A file that is being sent again is no longer unfinished.
  const leftOver = unfinishedOf(product.id).filter(
    ({ name, size, place }) =>
      !own.some((one) => one.file.size === size && isNameOf(name, one.file.name)) && !givenUp.includes(place),
  )
  const namesTaken = () => [
    ...product.files.map(({ name }) => name),
    ...uploads.get().items.flatMap((one) => (one.productId === product.id && one.stage !== 'done' ? [one.name] : [])),
  ]
  const sameNamed = ({ name }: File) => product.files.find((file) => file.name.toLowerCase() === name.toLowerCase())
  const add = (files: Iterable<File>, replaces?: string) => {
    const asked: File[] = []
    for (const file of files) {
      const before = leftOver.find(({ name, size }) => size === file.size && isNameOf(name, file.name))
      if (replaces) addFile(product.id, file, file.name, replaces)
      // The upload goes on with its name, and replaces the file that it was meant to replace.
      else if (before) addFile(product.id, file, before.name, before.replaces)
      else if (sameNamed(file)) asked.push(file)
      else addFile(product.id, file, freeName(file.name, namesTaken()))
    }
    setDoubtful((waiting) => [...waiting, ...asked])
  }
  const [doubt] = doubtful
  const decided = () => setDoubtful((waiting) => waiting.slice(1))
  return (
    <Part id="files" title={title}>
      <RecalledFromSale files={product.withdrawnFiles} />
      {product.files.length > 0 && (
        <ul class="rows files" aria-label="Files">
          {product.files.map((file, at) => (
            <FileRow
              key={file.id}
              productId={product.id}
              file={file}
              place={at + 1}
              count={product.files.length}
              onChanged={onChanged}
              onReplace={() => choose(file.id)}
              onRemove={() => setRemoving(file)}
              onMoved={setMoved}
            />
          ))}
        </ul>
      )}
      <output class="unseen">{moved}</output>
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
          add(event.dataTransfer?.files ?? [])
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
          add(files ?? [], replaced.current)
          // Lets the seller choose the same file once more.
          event.currentTarget.value = ''
        }}
      />
      {doubt && (
        <SameName
          key={`${doubt.name} ${doubtful.length}`}
          name={doubt.name}
          other={freeName(doubt.name, namesTaken())}
          onReplace={() => {
            addFile(product.id, doubt, doubt.name, sameNamed(doubt)?.id)
            decided()
          }}
          onKeepBoth={() => {
            addFile(product.id, doubt, freeName(doubt.name, namesTaken()))
            decided()
          }}
          onClose={decided}
        />
      )}
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
  const action = useAction()
  const remove = async () => {
    await removeFile(product.id, file.id).catch((trouble: unknown) => {
      // When the file is already gone, the seller has what they wanted.
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
      busy={action.busy}
      trouble={action.trouble}
      onNo={onEnd}
      onYes={() => void action.run(remove)}
    >
      <p class="cut">
        <b>{file.name}</b>
      </p>
      <p>New buyers will not get it. Everybody who has bought it keeps it.</p>
      {product.status === 'active' && product.files.length === 1 && (
        <p>It is the last file: without it the product goes off sale and becomes a draft.</p>
      )}
    </Ask>
  )
}
