import type * as Sdk from '@aws-sdk/client-s3'
import type { Deadlines } from '../deadlines.ts'

export interface S3Settings {
  readonly bucket: string
  readonly region: string
  /** Absent: Amazon S3. */
  readonly endpoint: string | undefined
  /** The store's address for browsers, when it is another one. */
  readonly publicEndpoint: string | undefined
  /** Absent: the credentials that a machine at Amazon gives to its programs. */
  readonly keys: { readonly id: string; readonly secret: string } | undefined
}

export type BucketDeadlines = Pick<Deadlines, 'storageQuestionMs' | 'partTurnMs' | 'partFillMs'>

/** The longest waits for a store that accepts no connection, or that stops answering. */
const CONNECTION_TIMEOUT_MS = 3_000
const SILENCE_MS = 8_000
/** With S3's limit of 10,000 parts, this makes the largest file about 80 GB. */
export const PART_BYTES = 8 * 1024 ** 2

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

export function clientConfig({ region, endpoint, keys }: S3Settings): Sdk.S3ClientConfig {
  return {
    region,
    ...(endpoint && { endpoint }),
    ...(keys && { credentials: { accessKeyId: keys.id, secretAccessKey: keys.secret } }),
    // other stores have no host names for buckets and do not know the newer checksums
    forcePathStyle: endpoint !== undefined,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    // the callers log errors themselves
    logger: SILENT,
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SILENCE_MS },
  }
}

export interface S3 {
  sdk: typeof Sdk
  client: Sdk.S3Client
}

/** Loads the SDK when it is first needed, because it is as large as the rest of the service. */
export async function connectS3(settings: S3Settings): Promise<S3> {
  const sdk = await import('@aws-sdk/client-s3')
  return { sdk, client: new sdk.S3Client(clientConfig(settings)) }
}

export const isMissing = (error: unknown): boolean =>
  ['NotFound', 'NoSuchKey', 'NoSuchUpload'].includes((error as Error)?.name)

const FORBIDDEN = 403

/** Whether the store refuses this request to our keys. */
export const isDenied = (error: unknown): boolean =>
  isOfStore(error) && (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === FORBIDDEN

/** Whether the store has refused a request, or cannot be reached. */
export const isOfStore = (error: unknown): error is Error => error instanceof Error && '$metadata' in error
