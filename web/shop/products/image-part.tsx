import { useRef, useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { ApiError } from '../../ui/api.ts'
import { fromApi } from '../../ui/page-data.ts'
import { putImage, removeImage, type Product } from '../api.ts'
import { focusSection } from '../developers/section.tsx'
import { Refused } from '../parts.tsx'
import { Part } from './part.tsx'

/** The limits of the service. The page checks them before it sends ten megabytes in vain. */
const MOST_BYTES = 10_000_000
const KINDS = 'image/jpeg,image/png,image/webp,image/avif,image/gif'

/** The image on the payment page, in link previews and in mails. */
export function ImagePart({ product, onChanged }: { product: Product; onChanged: () => Promise<unknown> }) {
  const action = useAction()
  const picker = useRef<HTMLInputElement>(null)
  const [chosen, setChosen] = useState<string>()
  const shown = chosen ?? (product.imageUrl && fromApi(product.imageUrl))
  const upload = (file: File) =>
    void action
      .run(async () => {
        if (file.size > MOST_BYTES) throw new ApiError({ code: 'image_too_large', status: 413 })
        if (!file.type.startsWith('image/')) throw new ApiError({ code: 'image_not_readable', status: 422 })
        setChosen(await dataUrl(file))
        await putImage(product.id, file)
        await onChanged()
        return 'The picture is saved.'
      }, 'put')
      .finally(() => setChosen(undefined))
  const remove = () =>
    void action.run(async () => {
      await removeImage(product.id)
      await onChanged()
      focusSection('picture')
      return 'The picture is removed.'
    }, 'remove')
  return (
    <Part id="picture" title="Picture">
      <p class="soft">
        It appears above the name, and wherever the link is shared. The best size is {'1200\u00a0×\u00a0630'}. It is
        saved as soon as you choose it.
      </p>
      {shown && (
        <img class={`picture ${action.busy ? 'busy' : ''}`} src={shown} alt="The product’s" width="1200" height="630" />
      )}
      <div class="row">
        <button
          type="button"
          class="button"
          aria-disabled={action.busy ? 'true' : undefined}
          onClick={() => action.busy || picker.current!.click()}
        >
          {action.doing === 'put' && <span class="spinner" aria-hidden="true" />}
          {product.imageUrl ? 'Choose another picture' : 'Choose a picture'}
        </button>
        {product.imageUrl && (
          <button type="button" class="link" aria-disabled={action.busy ? 'true' : undefined} onClick={remove}>
            Remove the picture
          </button>
        )}
        <output class="small saved">{action.said}</output>
      </div>
      <Refused action={action} />
      <input
        ref={picker}
        type="file"
        accept={KINDS}
        hidden
        aria-label="Picture to upload"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          event.currentTarget.value = ''
          if (file) upload(file)
        }}
      />
    </Part>
  )
}

/** The page's security policy allows images from this origin and from data: addresses, and no blob: addresses. */
const dataUrl = (file: File): Promise<string | undefined> =>
  new Promise((resolve) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => resolve(undefined))
    reader.readAsDataURL(file)
  })
