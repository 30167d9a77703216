import path from 'node:path'
import type { S3Settings } from '../kit/storage/s3-client.ts'
import { whole } from './parsers.ts'
import type { Reader } from './reader.ts'

export interface StorageConfig {
  /** The folder of the files, if they are not in a bucket. */
  readonly storageDir: string
  /** The bytes of its disk that stay free. */
  readonly storageReserveBytes: number
  readonly s3: S3Settings | undefined
}

export const PLACE_EXPECTED =
  'file:/a/folder, or s3://bucket?region=…&endpoint=https://… (the endpoint only where it is not Amazon’s)'
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const REGION = /^[a-z0-9][a-z0-9-]{0,62}$/

/** Reads STORAGE_URL, and the keys of a bucket. */
export function readStorage({ text, checked, problems }: Reader, dataDir: string): StorageConfig {
  const keyId = text('S3_ACCESS_KEY_ID')
  const secret = text('S3_SECRET_ACCESS_KEY')
  const storageDir = path.join(dataDir, 'files')
  const storageReserveBytes = checked(
    'STORAGE_RESERVE_BYTES',
    1024 ** 3,
    (value) => whole(value, 0, 1e15),
    'bytes, or 0',
  )
  const place = checked('STORAGE_URL', { storageDir }, placeOf, PLACE_EXPECTED)
  if (!('bucket' in place)) return { storageDir: place.storageDir, storageReserveBytes, s3: undefined }
  for (const [name, value] of [
    ['S3_ACCESS_KEY_ID', keyId],
    ['S3_SECRET_ACCESS_KEY', secret],
  ] as const)
    // Amazon gives keys to its own machines, so only there they can be absent
    if (!value && (place.endpoint || keyId || secret)) problems.push(`${name}: required for this STORAGE_URL`)
  return {
    storageDir,
    storageReserveBytes,
    s3: { ...place, keys: keyId && secret ? { id: keyId, secret } : undefined },
  }
}

/** A folder or a bucket. */
export function placeOf(value: string): { storageDir: string } | Omit<S3Settings, 'keys'> | undefined {
  // behind two slashes stands a host, so the folder begins with the next slash
  const folder = /^file:(?:\/\/(?:localhost)?(?=\/)|(?!\/\/))(.+)/.exec(value)?.[1]
  if (folder) return { storageDir: folder }
  if (!value.startsWith('s3://') || !URL.canParse(value)) return undefined
  const { hostname: bucket, pathname, searchParams, username, hash, port } = new URL(value)
  const {
    endpoint,
    public: publicEndpoint,
    region = endpoint && 'us-east-1',
    ...more
  } = Object.fromEntries(searchParams)
  if (username || hash || port || !/^\/?$/.test(pathname) || Object.keys(more).length > 0) return undefined
  if (!BUCKET.test(bucket) || !region || !REGION.test(region)) return undefined
  if (![endpoint, publicEndpoint].every((one) => one === undefined || isEndpoint(one))) return undefined
  if (publicEndpoint && !endpoint) return undefined
  return { bucket, region, endpoint, publicEndpoint }
}

function isEndpoint(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username
}
