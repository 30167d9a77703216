import { Server as Tus } from '@tus/server'
import type { FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { holdsCardNumber } from '../../kit/card-numbers.ts'
import { type ProblemCode, Refusal } from '../../kit/errors.ts'
import { isId } from '../../kit/ids.ts'
import type { Resumable } from '../../kit/storage/storage.ts'
import { refuseOtherProduct } from '../../sellers/keys/narrow.ts'
import { uploadLocker } from './locks.ts'
import { finishedFile, publish } from './publish.ts'
import {
  type FileRow,
  type NewUpload,
  type Upload,
  type UploadOwner,
  type Uploads,
  beginUpload,
  findUpload,
  giveUp,
  isFileName,
} from './uploads.ts'

const PATH = '/api/uploads'
const TUS_VERSION = '1.0.0'
/** A request that must give up its lock has this time to write its bytes. */
const LET_GO_MS = 100
/** The library reports these refusals only by a status. */
const MEANINGS = new Map<number, ProblemCode>([
  [404, 'upload_not_found'],
  [409, 'upload_offset_differs'],
  [410, 'upload_expired'],
  [412, 'tus_version_unsupported'],
  [413, 'file_too_large'],
  [500, 'storage_unavailable'],
])
const LET_GO = 'Request aborted due to lock acquired'

/** Answers one request of the tus protocol through its library: https://tus.io/protocols/resumable-upload */
export type AnswerTus = (request: FastifyRequest, owner: UploadOwner, body: Readable | undefined) => Promise<TusAnswer>

export interface TusAnswer {
  status: number
  headers: Record<string, string>
}

interface RequestState {
  owner: UploadOwner
  upload: Upload | undefined
  failure?: unknown
}

export function tusOf(uploads: Uploads, resumable: Resumable): AnswerTus {
  const { db, storage, limits } = uploads
  const stateOf = new WeakMap<Request, RequestState>()
  const locker = uploadLocker(db, resumable)
  const stateFor = (request: unknown): RequestState => stateOf.get(request as Request)!

  const tus = new Tus({
    path: PATH,
    datastore: resumable.store,
    locker,
    lockDrainTimeout: LET_GO_MS,
    maxSize: limits.maxBytes,
    generateUrl: (_request, { id }) => `${PATH}/${resumable.keyOf(id)}`,
    // the router has found the upload already; the library could read another id out of the same address
    getFileIdFromRequest(request) {
      const { upload } = stateFor(request)
      return upload && resumable.nameOf(upload.id)
    },
    async namingFunction(request, metadata) {
      const state = stateFor(request)
      state.upload = await beginUpload(uploads, describedBy(request.headers, metadata ?? {}, state.owner))
      return resumable.nameOf(state.upload.id)
    },
    async onUploadFinish(request) {
      const file = await finish(stateFor(request).upload!)
      return { headers: { 'Till-File': file.id } }
    },
    onResponseError: (request, error) => void (stateFor(request).failure = error),
  })

  /** Publishes the file once, even if several requests have each seen the last piece. */
  async function finish(upload: Upload): Promise<FileRow> {
    const lock = locker.newLock(resumable.nameOf(upload.id))
    try {
      await lock.lock(new AbortController().signal, () => {})
    } catch (error) {
      if (error instanceof Refusal && error.code === 'upload_expired') return finishedFile(db, upload.id)
      throw error
    }
    try {
      const file = await publish(db, storage, upload, await resumable.finish(upload.id, upload.sizeBytes))
      // if this fails, the sweep removes the rest within a day
      await resumable.forget(upload.id).catch(() => {})
      return file
    } finally {
      await lock.unlock()
    }
  }

  async function callTus(request: FastifyRequest, state: RequestState, body: Readable | undefined): Promise<Response> {
    const headers = new Headers()
    for (const [name, value] of Object.entries(request.headers)) if (value) headers.set(name, String(value))
    const web = new Request(new URL(request.url, 'http://localhost'), {
      method: request.method,
      headers,
      ...(body && { body: Readable.toWeb(body) as ReadableStream, duplex: 'half' }),
    })
    stateOf.set(web, state)
    const response = await tus.handleWeb(web)
    // the library answers its own refusals, and throws no error for them
    if (!response.ok) throw state.failure instanceof Error ? state.failure : refusalOf(response, await response.text())
    return response
  }

  return async (request, owner, body) => {
    try {
      return await answer(request, owner, body)
    } catch (error) {
      // another request has finished the upload meanwhile
      const isOver = error instanceof Refusal && error.code === 'upload_expired'
      const { id } = request.params as { id: string }
      const upload = isOver ? await findUpload(db, id, owner) : undefined
      if (upload?.state === 'finished') return answerFinished(request, upload)
      // the storage has lost a part of it: its room becomes free, and if the bytes cannot be removed now, the sweep does
      if (upload?.state === 'open') await giveUp(db, storage, upload.id).catch(() => {})
      throw error
    }
  }

  async function answer(request: FastifyRequest, owner: UploadOwner, body: Readable | undefined): Promise<TusAnswer> {
    const { id } = request.params as { id?: string }
    const state: RequestState = { owner, upload: id === undefined ? undefined : await findUpload(db, id, owner) }
    const { upload } = state
    if (upload?.state === 'given_up') throw new Refusal('upload_expired', 'This upload is over: please begin it again.')
    if (upload?.state === 'finished') return answerFinished(request, upload)
    const response = await callTus(request, state, body).catch(async (error: unknown) => {
      // an upload that could not begin must not count against the quota
      if (!upload && state.upload) await giveUp(db, storage, state.upload.id)
      throw error
    })
    const { sizeBytes } = state.upload!
    if (request.method === 'DELETE') await giveUp(db, storage, state.upload!.id)
    const answered = { status: response.status, headers: forwarded(response.headers) }
    const isWhole = answered.headers['upload-offset'] === String(sizeBytes)
    // all bytes are here, but the process that should have finished the upload has died
    if (request.method === 'HEAD' && isWhole) answered.headers['till-file'] = (await finish(state.upload!)).id
    if (answered.headers['till-file'] || request.method === 'DELETE') return answered
    // the request has moved it forward
    const { expiresAt } = await findUpload(db, state.upload!.id, owner)
    return { ...answered, headers: { ...answered.headers, 'upload-expires': expiresAt.toUTCString() } }
  }
}

/** Answers requests for a finished upload, so that a client that missed our last answer learns the file's id. */
function answerFinished({ method, headers }: FastifyRequest, { id, sizeBytes }: Upload): TusAnswer {
  const size = String(sizeBytes)
  const isLate = method === 'PATCH' && headers['upload-offset'] === size
  if (method !== 'HEAD' && !isLate) throw new Refusal('upload_finished', 'The file is one of the product’s already.')
  const found = { 'tus-resumable': TUS_VERSION, 'upload-offset': size, 'upload-length': size, 'till-file': id }
  return { status: method === 'HEAD' ? 200 : 204, headers: found }
}

const FORWARDED = ['location', 'tus-resumable', 'upload-offset', 'upload-length', 'till-file']

const forwarded = (headers: Headers): Record<string, string> =>
  Object.fromEntries(FORWARDED.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)!]] : [])))

function describedBy(headers: Headers, metadata: Record<string, string | null>, owner: UploadOwner): NewUpload {
  const length = headers.get('upload-length') ?? ''
  if (!/^\d{1,15}$/.test(length)) throw new Refusal('length_required', 'Upload-Length says how many bytes will come.')
  const { productId, filename: name, sha256, replaces } = metadata
  const wrong = [
    ...(productId && isId('prod', productId) ? [] : ['productId']),
    ...(name && isFileName(name) ? [] : ['filename']),
    ...(sha256 == null || /^[0-9a-f]{64}$/i.test(sha256) ? [] : ['sha256']),
    ...(replaces == null || isId('file', replaces) ? [] : ['replaces']),
  ]
  if (wrong.length > 0)
    throw new Refusal('validation_failed', 'The Upload-Metadata is not valid.', {
      fields: wrong.map((path) => ({ path, message: metadata[path] ? 'is not valid' : 'is required' })),
    })
  if (holdsCardNumber(name!))
    throw new Refusal('card_number_refused', 'Nothing was stored: please give the file another name.')
  refuseOtherProduct(owner.productIds, productId!)
  return {
    sellerId: owner.sellerId,
    productId: productId!,
    name: name!,
    sizeBytes: Number(length),
    sha256: sha256?.toLowerCase(),
    replaces: replaces ?? undefined,
  }
}

function refusalOf({ status }: Response, says: string): Refusal {
  if (says.includes(LET_GO))
    return new Refusal('upload_in_progress', 'Another request took this upload over.', { retryAfterSeconds: 1 })
  return new Refusal(MEANINGS.get(status) ?? 'bad_request', says.trim() || 'The request is not valid.')
}
