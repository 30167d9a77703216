import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { Icon } from '../../ui/icon.tsx'
import { useRecovery } from '../../ui/recovery.ts'
import { useStore } from '../../ui/store.ts'
import { isRefusal, removeFile, type Product, type ProductFile } from '../api.ts'
import { Ask } from '../dialog.tsx'
import { Failed } from '../parts.tsx'
import { isNameOf } from '../uploads/names.ts'
import {
  forgetDone,
  forgetTooLate,
  giveUp as giveUpUpload,
  tooLate,
  uploads,
  type CancelledLate,
  type Upload,
} from '../uploads/uploads.ts'
import { RecalledFromSale } from '../recalled.tsx'
import { forget, unfinishedOf, type Unfinished } from '../uploads/unfinished.ts'
import { useAdding, usePicker } from './adding-files.tsx'
import { FileRow } from './file-row.tsx'
import { Part } from './part.tsx'
import { UploadRow } from './upload-row.tsx'

interface FilesPartProps {
  product: Pick<Product, 'id' | 'files' | 'status' | 'withdrawnFiles'>
  /** Loads the product again. Returns whether it was read. */
  onChanged: () => Promise<boolean>
  /** Why the product was not read. */
  unread: unknown
  title?: string
}

/** The files of a product: the complete ones, the ones being sent, and the ones that stopped on an earlier visit. */
export function FilesPart({ product, onChanged, unread, title = 'Files' }: FilesPartProps) {
  const { items } = useStore(uploads)
  const own = items.filter(({ productId }) => productId === product.id)
  const late = useStore(tooLate).items.filter(({ productId }) => productId === product.id)
  const refresh = useRefresh(product.id, own, late.length, onChanged)
  useRecovery(unread, refresh)
  const { unfinished, giveUp } = useUnfinished(product, own)
  const { add, question } = useAdding(product, unfinished)
  const { picker, pick } = usePicker(add)
  const [removing, setRemoving] = useState<ProductFile>()
  const [moved, setMoved] = useState('')
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
              onReplace={() => pick(file.id)}
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
      {unfinished.map((one) => (
        <UnfinishedUpload key={one.place} name={one.name} onGiveUp={() => giveUp(one)} />
      ))}
      {late.map((one) => (
        <TooLate key={one.id} upload={one} onRead={() => forgetTooLate(one.id)} />
      ))}
      {unread ? <Failed trouble={unread} again={refresh} /> : null}
      <DropArea
        label={product.files.length > 0 ? 'Add files' : 'Choose files'}
        onPress={() => pick()}
        onFiles={(files) => add(files)}
      />
      {picker}
      {question}
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

/** Loads the product again after each upload that is complete, and whenever the returned function is called. */
function useRefresh(productId: string, own: Upload[], late: number, onChanged: () => Promise<boolean>): () => void {
  const refresh = () => void onChanged().then((isRead) => isRead && forgetDone(productId))
  const done = own.filter(({ stage }) => stage === 'done').length
  useEffect(() => {
    if (done + late > 0) refresh()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- each finished file is a reason to load again
  }, [done, late])
  return refresh
}

/**
 * The uploads that stopped on an earlier visit. A file that is being sent again is no longer one of them, nor is one of the product's
 * files: all its bytes had arrived, and only the answer was lost.
 */
function useUnfinished({ id: productId, files }: Pick<Product, 'id' | 'files'>, own: Upload[]) {
  const [givenUp, setGivenUp] = useState<string[]>([])
  const isComplete = ({ id }: Unfinished) => files.some((file) => file.id === id)
  const unfinished = unfinishedOf(productId).filter(
    (one) =>
      !own.some(({ file }) => file.size === one.size && isNameOf(one.name, file.name)) &&
      !givenUp.includes(one.place) &&
      !isComplete(one),
  )
  useEffect(() => {
    for (const one of unfinishedOf(productId)) if (isComplete(one)) forget(one.place)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a newer list can have more of them
  }, [files])
  const giveUp = (one: Unfinished) => {
    setGivenUp([...givenUp, one.place])
    void giveUpUpload(one)
  }
  return { unfinished, giveUp }
}

const UnfinishedUpload = ({ name, onGiveUp }: { name: string; onGiveUp: () => void }) => (
  <div class="notice trial">
    <Icon name="clock" />
    <div>
      <b class="cut">{name} is not complete.</b>
      <p>Choose the same file again, and it goes on where it stopped.</p>
      <button type="button" class="link" onClick={onGiveUp}>
        Give it up
      </button>
    </div>
  </div>
)

const TooLate = ({ upload: { name, replaces }, onRead }: { upload: CancelledLate; onRead: () => void }) => (
  <div class="notice trial" role="alert">
    <Icon name="alert" />
    <div>
      <b class="cut">{name} was complete before you cancelled it.</b>
      <p>
        {replaces ? 'It has taken the place of the earlier file.' : 'It is one of the files now.'} If new buyers should
        not get it, remove it or replace it.
      </p>
      <button type="button" class="link" onClick={onRead}>
        OK
      </button>
    </div>
  </div>
)

interface DropAreaProps {
  label: string
  onPress: () => void
  onFiles: (files: Iterable<File>) => void
}

function DropArea({ label, onPress, onFiles }: DropAreaProps) {
  const [over, setOver] = useState(false)
  return (
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
        onFiles(event.dataTransfer?.files ?? [])
      }}
    >
      <button type="button" class="button" onClick={onPress}>
        <Icon name="file" /> {label}
      </button>
      <p class="small soft">or drop them here. Several at once, of any kind.</p>
    </div>
  )
}

interface RemovingProps extends Pick<FilesPartProps, 'product' | 'onChanged'> {
  file: ProductFile
  onEnd: () => void
}

function Removing({ product, file, onChanged, onEnd }: RemovingProps) {
  const action = useAction()
  const remove = async () => {
    await removeFile(product.id, file.id).catch((trouble: unknown) => {
      // When the file is already gone, the seller has nothing more to do.
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
      <p>
        New buyers will not get it. Everybody who has bought this product so far keeps it, also those who bought before
        you added it. Only the operator of this service can recall a file.
      </p>
      {product.status === 'active' && product.files.length === 1 && (
        <p>It is the last file: without it the product goes off sale and becomes a draft.</p>
      )}
    </Ask>
  )
}
