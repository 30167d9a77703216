import { openDisk } from './disk.ts'
import type { BucketDeadlines, S3Settings } from './s3-client.ts'
import type { Storage } from './storage.ts'

export async function openStorage({
  storageDir,
  storageReserveBytes = 0,
  s3,
  deadlines,
}: {
  storageDir: string
  storageReserveBytes?: number
  s3?: S3Settings | undefined
  deadlines?: BucketDeadlines
}): Promise<Storage> {
  return s3 ? (await import('./s3.ts')).openS3(s3, deadlines) : openDisk(storageDir, storageReserveBytes)
}
