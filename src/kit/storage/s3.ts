import { DEADLINES } from '../deadlines.ts'
import { type BucketDeadlines, isMissing, type S3, type S3Settings, connectS3 } from './s3-client.ts'
import { putStream } from './s3-put.ts'
import { readObject } from './s3-read.ts'
import type { Resumable, Storage } from './storage.ts'

/**
 * How long a signed address is valid for starting a download. A running download goes on, and a resumed one gets a new address. So a
 * file that is no longer available cannot be fetched after a minute.
 */
const ADDRESS_SECONDS = 60

/** A bucket. Browsers fetch files by signed addresses, each for one file. Only the service has any other access. */
export function openS3(settings: S3Settings, deadlines: BucketDeadlines = DEADLINES): Storage {
  const { bucket: Bucket } = settings
  const soon = () => ({ abortSignal: AbortSignal.timeout(deadlines.storageQuestionMs) })
  let connecting: Promise<S3> | undefined
  const connected = () => (connecting ??= connectS3(settings))
  let signing: Promise<S3> | undefined
  const signer = () =>
    (signing ??= settings.publicEndpoint ? connectS3({ ...settings, endpoint: settings.publicEndpoint }) : connected())
  let resumable: Promise<Resumable> | undefined

  const storage: Storage = {
    put: async (key, bytes) => putStream(await connected(), { Bucket, Key: key }, bytes),
    async read(key, part) {
      return readObject(await connected(), { Bucket, Key: key }, part)
    },
    async serve(key, { disposition, contentType, method }) {
      // signing needs no request, so without this check a buyer could be sent to a store that is down
      if (!(await storage.stat(key))) return undefined
      const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
      const { sdk, client } = await signer()
      const object = {
        Bucket,
        Key: key,
        ResponseContentDisposition: disposition,
        ResponseContentType: contentType,
        ResponseCacheControl: 'no-store',
      }
      const command = method === 'HEAD' ? new sdk.HeadObjectCommand(object) : new sdk.GetObjectCommand(object)
      return { url: await getSignedUrl(client, command, { expiresIn: ADDRESS_SECONDS }) }
    },
    async stat(key) {
      const { sdk, client } = await connected()
      try {
        const { ContentLength = 0 } = await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key }), soon())
        return { size: ContentLength }
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    async remove(key) {
      const { sdk, client } = await connected()
      const { Uploads = [] } = await client.send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: key }), soon())
      for (const { Key, UploadId } of Uploads.filter((one) => one.Key === key)) {
        const aborted = client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), soon())
        await aborted.catch((error) => {
          if (!isMissing(error)) throw error
        })
      }
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }), soon())
      await storage.tidy(key)
    },
    // the store itself refuses when it is full
    mustHaveRoom: async () => {},
    async tidy(key) {
      const { sdk, client } = await connected()
      for (const ending of ['.info', '.part'])
        await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key + ending }), soon())
    },
    resumable: () =>
      (resumable ??= import('./s3-uploads.ts').then(({ resumableS3 }) => resumableS3(storage, settings, deadlines))),
  }
  return storage
}
