import { useRef } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { ApiError } from '../ui/api.ts'
import { fromApi } from '../ui/page-data.ts'
import type { Account } from './account.ts'
import { type Brand, putLogo, removeLogo } from './brand-api.ts'
import { Do, Refused, Saved } from './part.tsx'

/** The limit of the service. The page checks it before it sends ten megabytes in vain. */
const MOST_BYTES = 10_000_000
const KINDS = 'image/jpeg,image/png,image/webp,image/avif,image/gif'

interface LogoProps {
  account: Account
  brand: Brand
  onChanged: (brand: Brand) => void
}

/** The seller's logo. It is saved as soon as it is chosen. */
export function LogoField({ account, brand, onChanged }: LogoProps) {
  const action = useAction()
  const picker = useRef<HTMLInputElement>(null)
  const upload = (file: File) =>
    void action.run(async () => {
      if (file.size > MOST_BYTES) throw new ApiError({ code: 'image_too_large', status: 413 })
      if (!file.type.startsWith('image/')) throw new ApiError({ code: 'image_not_readable', status: 422 })
      onChanged(await account.asSeller(() => putLogo(file)))
      return 'The logo is saved.'
    }, 'put')
  const remove = () =>
    void action.run(async () => {
      await account.asSeller(removeLogo)
      const { logoUrl: _, ...rest } = brand
      onChanged(rest)
      // The button is gone.
      document.getElementById('brand-title')?.focus()
      return 'The logo is removed.'
    }, 'remove')
  return (
    <div class="stack">
      <div class="row">
        {brand.logoUrl && <img class="logo" src={fromApi(brand.logoUrl)} alt="Your logo" />}
        <Do busy={action.doing === 'put'} onClick={() => action.busy || picker.current!.click()}>
          {brand.logoUrl ? 'Choose another logo' : 'Choose a logo'}
        </Do>
        {brand.logoUrl && (
          <button type="button" class="link" aria-disabled={action.busy ? 'true' : undefined} onClick={remove}>
            Remove the logo
          </button>
        )}
        <Saved>{action.said}</Saved>
      </div>
      <Refused action={action} />
      <input
        ref={picker}
        type="file"
        accept={KINDS}
        hidden
        aria-label="Logo to upload"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          event.currentTarget.value = ''
          if (file) upload(file)
        }}
      />
    </div>
  )
}
