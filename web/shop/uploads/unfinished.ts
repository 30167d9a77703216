import type { PreviousUpload, UrlStorage } from 'tus-js-client'
import { names, read, write } from '../../ui/storage.ts'

const PLACE = 'till:upload:'
/** The service drops an upload a day after its last request. */
const LIFE_MS = 24 * 60 * 60_000

/** An upload that this browser has begun and not ended. */
export interface Unfinished {
  /** The name under which it is kept. */
  place: string
  url: string
  /** The id of the upload, which becomes the id of the file. */
  id: string
  productId: string
  name: string
  size: number
  /** The file that it was to replace. */
  replaces: string | undefined
}

/** The entries that tus-js-client keeps, by product and file, so that the same file goes on where it stopped. */
export const uploadPlaces: UrlStorage = {
  findAllUploads: () => Promise.resolve(kept(PLACE)),
  findUploadsByFingerprint: (fingerprint) => Promise.resolve(kept(`${PLACE}${fingerprint}`)),
  removeUpload: (place) => Promise.resolve(write(place, undefined)),
  addUpload: (fingerprint, upload) => {
    write(`${PLACE}${fingerprint}`, upload)
    return Promise.resolve(`${PLACE}${fingerprint}`)
  },
}

export const unfinishedOf = (productId: string): Unfinished[] =>
  kept(`${PLACE}${productId}:`).flatMap(({ urlStorageKey, uploadUrl, metadata, size }) =>
    uploadUrl
      ? [
          {
            place: urlStorageKey,
            url: uploadUrl,
            id: uploadUrl.slice(uploadUrl.lastIndexOf('/') + 1),
            productId,
            name: metadata.filename ?? '',
            size: size ?? 0,
            replaces: metadata.replaces,
          },
        ]
      : [],
  )

/** The service has answered a request of the upload, and so keeps it for another day. The library writes the time only once. */
export function renew(fingerprint: string): void {
  const upload = read<PreviousUpload>(PLACE + fingerprint)
  if (upload) write(PLACE + fingerprint, { ...upload, creationTime: new Date().toString() })
}

export const forget = (place: string): void => write(place, undefined)

function kept(start: string): PreviousUpload[] {
  return names(start).flatMap((place) => {
    const upload = read<PreviousUpload>(place)
    if (upload && Date.now() - Date.parse(upload.creationTime) < LIFE_MS) return [{ ...upload, urlStorageKey: place }]
    write(place, undefined)
    return []
  })
}
