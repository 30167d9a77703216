import type * as Sdk from '@aws-sdk/client-s3'

export interface S3Settings {
  readonly bucket: string
  readonly region: string
  /** Absent: Amazon’s own. */
  readonly endpoint: string | undefined
  /** Where browsers reach the same store, when that is another address. */
  readonly publicEndpoint: string | undefined
  /** Absent: those that Amazon’s machines give to what runs on them. */
  readonly keys: { readonly id: string; readonly secret: string } | undefined
}

/** A store that accepts no connection, or stops in the middle, holds nobody up for longer. */
const CONNECTION_TIMEOUT_MS = 3_000
const SILENCE_MS = 8_000
/** S3's least for a part, and its most parts, make the largest file some 80 GB. */
export const PART_BYTES = 8 * 1024 ** 2

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

export function clientConfig({ region, endpoint, keys }: S3Settings): Sdk.S3ClientConfig {
  return {
    region,
    ...(endpoint && { endpoint }),
    ...(keys && { credentials: { accessKeyId: keys.id, secretAccessKey: keys.secret } }),
    // other stores have no names for buckets, and do not know the newer checksums
    forcePathStyle: endpoint !== undefined,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    // what fails is told by who asked
    logger: SILENT,
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SILENCE_MS },
  }
}

export interface S3 {
  sdk: typeof Sdk
  client: Sdk.S3Client
}

/** Loaded when it is first needed: it is as large as the rest of the service. */
export async function connectS3(settings: S3Settings): Promise<S3> {
  const sdk = await import('@aws-sdk/client-s3')
  return { sdk, client: new sdk.S3Client(clientConfig(settings)) }
}

export const isMissing = (error: unknown): boolean =>
  ['NotFound', 'NoSuchKey', 'NoSuchUpload'].includes((error as Error)?.name)
