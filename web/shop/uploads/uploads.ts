import type { Upload as Transfer } from 'tus-js-client'
import { isRefusal } from '../api.ts'
import { askWhile } from '../leaving.ts'
import { newStore } from '../../ui/store.ts'
import { fingerprintOf } from './fingerprint.ts'
import { end, send } from './send.ts'
import { forget, unfinishedOf, type Unfinished } from './unfinished.ts'

/** The number of files sent at a time: more would only slow each of them down. */
const AT_ONCE = 2

export interface Upload {
  key: number
  productId: string
  file: File
  /** The name that buyers see. */
  name: string
  /** The file that it replaces. */
  replaces: string | undefined
  /**
   * `lost`: the service cannot be reached, and the upload tries again. `stopped`: the seller must decide how to go on.
   */
  stage: 'waiting' | 'sending' | 'lost' | 'paused' | 'stopped' | 'done'
  /** The done part of this stage, 0 to 1. */
  share: number
  trouble?: unknown
}

interface Run {
  abort: AbortController
  transfer?: Transfer
  fingerprint?: string
}

/** The uploads of this page. They go on while another view is open. */
export const uploads = newStore<{ items: Upload[] }>({ items: [] })
/** An upload that was complete before it was cancelled: the answer to its last bytes was lost. */
export type CancelledLate = Pick<Unfinished, 'id' | 'productId' | 'name' | 'replaces'>
export const tooLate = newStore<{ items: CancelledLate[] }>({ items: [] })
const runs = new Map<number, Run>()
let lastKey = 0

const isUnderWay = ({ stage }: Upload): boolean => stage === 'sending' || stage === 'lost'
const find = (key: number): Upload | undefined => uploads.get().items.find((one) => one.key === key)
const change = (key: number, to: Partial<Upload>): void =>
  uploads.set({ items: uploads.get().items.map((one) => (one.key === key ? { ...one, ...to } : one)) })

export function addFile(productId: string, file: File, name: string, replaces?: string): void {
  lastKey += 1
  const added: Upload = { key: lastKey, productId, file, name, replaces, stage: 'waiting', share: 0 }
  uploads.set({ items: [...uploads.get().items, added] })
  startNext()
}

export function pause(key: number): void {
  void stop(key)
  change(key, { stage: 'paused', trouble: undefined })
  startNext()
}

export function goOn(key: number): void {
  change(key, { stage: 'waiting', share: 0, trouble: undefined })
  startNext()
}

/** Cancels an upload and deletes its bytes at the service, unless it is complete there. */
export function cancel(key: number): void {
  const upload = find(key)
  void stop(key)
  const fingerprint = runs.get(key)?.fingerprint
  runs.delete(key)
  uploads.set({ items: uploads.get().items.filter((one) => one.key !== key) })
  if (upload && fingerprint)
    for (const one of unfinishedOf(upload.productId)) if (one.place.endsWith(fingerprint)) void giveUp(one)
  startNext()
}

/** Gives up an upload, also one of an earlier visit. */
export async function giveUp(unfinished: Unfinished): Promise<void> {
  forget(unfinished.place)
  if (!(await end(unfinished.url))) tooLate.set({ items: [...tooLate.get().items, unfinished] })
}

/** The seller has read that it was too late. */
export const forgetTooLate = (id: string): void =>
  tooLate.set({ items: tooLate.get().items.filter((one) => one.id !== id) })

/** By now the product's list contains the finished files. */
export const forgetDone = (productId: string): void =>
  uploads.set({ items: uploads.get().items.filter((one) => one.productId !== productId || one.stage !== 'done') })

async function stop(key: number): Promise<void> {
  const run = runs.get(key)
  run?.abort.abort()
  await run?.transfer?.abort()
}

function startNext(): void {
  const { items } = uploads.get()
  const free = AT_ONCE - items.filter(isUnderWay).length
  for (const { key } of items.filter(({ stage }) => stage === 'waiting').slice(0, Math.max(0, free))) void run(key)
}

async function run(key: number): Promise<void> {
  const { file, name, productId, replaces } = find(key)!
  const abort = new AbortController()
  const present: Run = { abort }
  runs.set(key, present)
  /** Whether this is still the present run for the file: the seller may have paused it and started it again. */
  const isCurrent = () => !abort.signal.aborted && runs.get(key) === present
  const tell = (to: Partial<Upload>) => isCurrent() && change(key, to)
  try {
    change(key, { stage: 'sending', share: 0, trouble: undefined })
    const fingerprint = await fingerprintOf(file)
    present.fingerprint = fingerprint
    if (!isCurrent()) return
    const { upload, done } = await send({
      file,
      name,
      productId,
      replaces,
      fingerprint,
      onShare: (share) => tell({ stage: 'sending', share }),
      onLost: () => tell({ stage: 'lost' }),
    })
    present.transfer = upload
    if (!isCurrent()) return void upload.abort()
    await done
    tell({ stage: 'done', share: 1 })
  } catch (trouble) {
    tell({ stage: 'stopped', trouble })
  }
  startNext()
}

askWhile(() => uploads.get().items.some((one) => isUnderWay(one) || one.stage === 'waiting'), 'Your uploads will stop.')
// Uploads that stopped because the service could not be reached go on as soon as the browser is online.
addEventListener('online', () => {
  for (const { key, stage, trouble } of uploads.get().items)
    if (stage === 'stopped' && isRefusal(trouble, 'unreachable')) goOn(key)
})
